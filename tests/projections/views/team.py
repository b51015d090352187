"""A team at work: sessions, branches and agents, with what models took; and what it comes to."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from commands.eventlog import EventLog
from commands.eventlog.place import Place, place_of
from commands.eventlog.postgres.connections import connect
from commands.eventlog.postgres.faults import translated
from domain.actors import Actor
from domain.events import (
    AgentDrafted,
    Caused,
    DetectorInvoked,
    DraftAccepted,
    DraftEmitted,
    Event,
    MessageSent,
    MindInvoked,
    PromptSubmitted,
    ThoughtAdded,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
)
from domain.ids import CommandId, SessionId
from domain.recorded import BEGINNING, Draw
from projections.views.ours import VIEWS
from projections.views.postgres import PostgresViews
from projections.views.postgres_tables import Server, make_tables
from projections.views.sqlite import SqliteViews
from projections.views.store import ViewStore
from projections.views.view import View
from projections.views.worker import Worker
from tests.commands.eventlog.stores import NOON, branch
from tests.domain.happened import accepted, asked, drafted, invoked, started, thought

PEOPLE = (Actor("user", "ann"), Actor("user", "ben"), Actor("mind", "script"))
HOUR = 3_600_000_000

Recount = dict[str, list[tuple[Any, ...]]]


class Team:
    """Whoever writes to a log: by chance, the same for the same seed."""

    def __init__(self, log: EventLog, seed: int = 1, name: str = "") -> None:
        self.log = log
        self.chance = random.Random(seed)  # noqa: S311 — repeatable
        self.name = name
        self.sessions: list[str] = []
        self.agents: list[str] = []
        self.wishes = seed << 40
        self.events = 0
        """That it has recorded."""

    def works(self, rounds: int) -> None:
        """Do so many things."""
        for _ in range(rounds):
            self.does()

    def does(self) -> None:
        """Do one thing, in one append."""
        chance = self.chance.random()
        if not self.sessions or chance < 0.08:
            self._begins(self._named("s", self.sessions), started())
        elif chance < 0.16:
            parent = self.chance.choice(self.sessions)
            version = self.chance.randint(1, self.log.head(SessionId(parent)).version)
            branch(self.log, parent, version, self._named("f", self.sessions))
            self.events += 1
        elif chance < 0.2:
            self._begins(self._named("agent:a", self.agents), self._agent())
        elif chance < 0.35 and self.agents:
            agent = self.chance.choice(self.agents)
            self._appends(agent, *self._turn(self.log.head(SessionId(agent)).version + 1))
        else:
            self._appends(self.chance.choice(self.sessions), *self._exchange())

    def _named(self, kind: str, names: list[str]) -> str:
        names.append(f"{kind}{self.name}{len(names)}")
        return names[-1]

    def _begins(self, stream: str, first: Event) -> None:
        self.log.begin(SessionId(stream), BEGINNING, self._draw(first))

    def _appends(self, stream: str, *events: Event) -> None:
        after = self.log.head(SessionId(stream)).version
        self.log.append(SessionId(stream), after, self._draw(*events))

    def _draw(self, *events: Event) -> Draw:
        self.wishes += 1
        self.events += len(events)
        at = NOON + self.wishes % 97 * HOUR
        caused = [Caused(event, by=self.chance.choice(PEOPLE)) for event in events]
        return Draw(caused, at, PEOPLE[0], CommandId(self.wishes.to_bytes(16, "big")))

    def _cost(self) -> dict[str, Any]:
        tokens = {
            "tokens_in": self.chance.randint(1, 999),
            "tokens_out": self.chance.randint(1, 99),
        }
        return tokens | (
            {"cost_usd": self.chance.random() / 7} if self.chance.random() < 0.8 else {}
        )

    def _exchange(self) -> list[Event]:
        number = self.wishes
        exchange = f"exc_{number}_000"
        detected: list[Event] = []
        if self.chance.random() < 0.3:
            found: dict[str, Any] = {"looked_at": 2, "exchange": exchange, "turn": 1}
            model = self.chance.choice(({"model": "detector"} | self._cost(), {}))
            finder = "model" if model else "rules"
            detected = [DetectorInvoked(**found, **model, found_by=finder)]
        return [
            asked(f"question {number}", exchange, 1),
            invoked(1, **self._cost(), embedding_cost_usd=0.001),
            thought("a thought"),
            drafted(1, f"this is the answer number {number}", 1, exchange=exchange),
            drafted(2, "+1", 1, exchange=exchange),
            accepted(1, exchange),
            *detected,
        ]

    def _agent(self) -> AgentDrafted:
        return AgentDrafted(
            role="r", instructions="i", model="m", client="c", project="p", task="t"
        )

    def _turn(self, prompt: int) -> list[Event]:
        turn = prompt // 3 + 1
        ended: Event = TurnCompleted(
            turn=turn,
            prompt=prompt,
            text="t",
            model="big",
            calls=2,
            unknown_costs=1,
            **self._cost(),
        )
        if self.chance.random() < 0.3:
            ended = TurnFailed(turn=turn, prompt=prompt, reason="failed", detail="d", calls=1)
        begun = TurnStarted(turn=turn, prompt=prompt, holder="h:1:1")
        return [PromptSubmitted(text="go"), begun, ended]


def recounted(log: EventLog) -> Recount:
    """What the built-in views should say, counted event by event in another way."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    seen: dict[str, list[Any]] = defaultdict(list)
    spent: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for recorded in log.feed():
        event, count = recorded.event, counts[recorded.session]
        seen[recorded.session].append((recorded.at, str(recorded.actor)))
        count["events"] += 1
        count["messages"] += isinstance(event, MessageSent | PromptSubmitted)
        count["iterations"] += isinstance(event, MindInvoked | TurnStarted)
        count["drafts"] += isinstance(event, DraftEmitted) and not event.signal
        count["signals"] += isinstance(event, DraftEmitted) and event.signal
        count["accepted"] += isinstance(event, DraftAccepted)
        count["thoughts"] += isinstance(event, ThoughtAdded)
        if isinstance(event, MindInvoked | DetectorInvoked | TurnCompleted | TurnFailed):
            nano = round((event.cost_usd or 0) * 10**9)
            if isinstance(event, MindInvoked):
                nano = round(((event.cost_usd or 0) + (event.embedding_cost_usd or 0)) * 10**9)
            model = "unknown" if isinstance(event, TurnFailed) else event.model
            calls, unknown = 1, int(event.cost_usd is None)
            if isinstance(event, TurnCompleted | TurnFailed):
                calls, unknown = event.calls, event.unknown_costs
            taken = {"in": event.tokens_in or 0, "out": event.tokens_out or 0, "nano": nano}
            count.update(taken)
            if model is not None:
                day = datetime.fromtimestamp(recorded.at / 1e6, UTC).date().isoformat()
                spent[day, model].update({"calls": calls, "unknown": unknown, **taken})
    activity = [
        (
            *(stream, count["events"], count["messages"], count["iterations"], count["drafts"]),
            *(count["signals"], count["accepted"], count["thoughts"], count["in"], count["out"]),
            *(count["nano"] / 10**9, min(seen[stream])[0], max(a for a, _ in seen[stream])),
            seen[stream][-1][1],
        )
        for stream, count in sorted(counts.items())
    ]
    spending = [
        (day, model, c["calls"], c["unknown"], c["in"], c["out"], c["nano"] / 10**9)
        for (day, model), c in sorted(spent.items())
    ]
    return {"activity": activity, "spending": spending}


def server_at(place: Place) -> Server:
    """The server of a store, as views see it."""
    address = place.address
    return Server(lambda: connect(address), translated, address.schema, address.shown)


def views_at(place: Place, views: tuple[View, ...] = VIEWS) -> ViewStore:
    """The views of a store, open; on a server with tables as ``mind store migrate`` makes them."""
    if place.url is None:
        return SqliteViews(place.home, views)
    make_tables(server_at(place), views)
    return PostgresViews(server_at(place), views)


def shown(store: ViewStore) -> Recount:
    """What the views say."""
    return {view.name: list(store.rows(view)) for view in VIEWS}


class House:
    """A store and its views, and workers to be hired."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.log = EventLog.create(place)
        self._opened: list[Callable[[], None]] = [self.log.close]

    def views(self, views: tuple[View, ...] = VIEWS) -> ViewStore:
        """The views, open once more."""
        store = views_at(self.place, views)
        self._opened.append(store.close)
        return store

    def worker(
        self,
        store: ViewStore | None = None,
        *,
        views: tuple[View, ...] = VIEWS,
        shards: int | None = None,
        only: int | None = None,
        batch: int = 1000,
        told: Callable[[str], object] = lambda _: None,
    ) -> Worker:
        """A worker that has taken all shards, or one of them."""
        store = store or self.views(views)
        for view in views:
            store.prepare(view, shards)
        worker = Worker(
            self.log, store, views, f"here:{len(self._opened)}:1", told=told, batch=batch
        )
        tracked = store.tracked()
        worker.take([t for t in tracked if only is None or t.shard == only], tracked)
        return worker

    def close(self) -> None:
        """Let go of everything."""
        for close in reversed(self._opened):
            close()


@contextmanager
def house_at(name: str) -> Iterator[House]:
    """A new store at a place."""
    house = House(place_of(name))
    try:
        yield house
    finally:
        house.close()
