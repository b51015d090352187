"""subscribe: every event from any position on, each once, in order, whoever appends it."""

import asyncio
import sys
import textwrap
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.rpc import subscriptions
from cli.rpc.guard import Limits
from cli.rpc.server import House
from cli.rpc.service import Service
from cli.rpc.subscriptions import MOST, PAGE, methods
from commands.eventlog import EventLog
from commands.eventlog.recorder import Told, unheard
from commands.forks import fork_session
from commands.handle import handle
from commands.notes import AddNote
from commands.projects import close_project, create_project
from commands.redaction import redact_events
from commands.world import RealWorld
from domain.events import Caused, NoteAdded, ThoughtAdded
from domain.ids import SessionId
from domain.recorded import Draw, Recorded
from domain.server_errors import StoreIsUnreachable
from tests.cli.rpc.serving import Served, Talk, served, talking
from tests.stories.cast import Stage, SteadyWorld

TIDES = SessionId("tides")


@asynccontextmanager
async def subscribing(
    directory: Path, opened: type[EventLog] = EventLog, **options: Any
) -> AsyncIterator[Served]:
    """A server whose clients can subscribe to a store."""
    with opened(directory) as log:
        service = Service(directory, log, RealWorld.of_this_user())
        table = {method.name: method for method in methods(service)}
        try:
            async with served(House(table, service.attach, service.detach), **options) as at:
                yield at
        finally:
            await service.close()


async def events(client: Talk, count: int) -> list[dict[str, Any]]:
    """The next so many events."""
    found = [one["params"] for one in client.told if one["method"] == "event"]
    client.told.clear()
    while len(found) < count:
        message = await client.hear()
        assert message["method"] == "event", message
        found.append(message["params"])
    return found


def positions(told: Iterable[dict[str, Any]]) -> list[int]:
    """Where they are in the store."""
    return [one["position"] for one in told]


def note(log: EventLog, count: int, session: SessionId = TIDES) -> None:
    """Append so many events."""
    world = SteadyWorld("bob")
    for number in range(count):
        world.wishes = log.position() << 8
        handle(log, session, AddNote(text=f"note {number}"), world)


def append(stage: Stage, *events: Caused) -> None:
    """Append these, all at once."""
    draw = Draw(events, stage.world.now(), stage.world.actor, stage.world.command_id())
    stage.log.append(stage.session, stage.log.head(stage.session).version, draw)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A store with a session."""
    return Stage(tmp_path / "store").begins(embedding_model="off")


def test_an_event_is_told_with_all_that_it_says(stage: Stage) -> None:
    """Its envelope, its line, and its fields as JSON has them."""
    log, session = stage.log, stage.session

    async def talk() -> list[dict[str, Any]]:
        async with subscribing(stage.directory) as at, talking(at.url) as client:
            answer = await client.ask("subscribe", fromPosition=1)
            assert answer["result"] == {"subscription": 1, "position": 1}
            return await events(client, 1)

    (told,) = asyncio.run(talk())
    (sent,) = [one for one in log.read(session) if one.version == 2]
    assert told["at"].startswith("2026-05-02T10:30:00")
    assert told == {
        "subscription": 1,
        "session": "tides",
        "version": 2,
        "position": 2,
        "at": told["at"],
        "actor": "user:ann",
        "command": sent.command.hex(),
        "cause": None,
        "kind": "message.sent",
        "redacted": False,
        "summary": "exc_1_000: why two tides?",
        "data": sent.event.model_dump(exclude={"kind"}),
    }


def test_without_a_position_only_what_is_new_is_told(stage: Stage) -> None:
    """By whichever process; here by another log of the same store."""

    async def talk() -> list[int]:
        async with subscribing(stage.directory) as at, talking(at.url) as client:
            answer = await client.ask("subscribe")
            assert answer["result"]["position"] == stage.log.position()
            await asyncio.to_thread(note, stage.log, 3)
            return positions(await events(client, 3))

    before = stage.log.position()
    assert asyncio.run(talk()) == [before + 1, before + 2, before + 3]


class Aside(EventLog):
    """A log that is never looked up by the thread that answers all clients."""

    def position(self) -> int:
        """As ever, in a thread of its own: a server that is away is waited for."""
        assert threading.current_thread() is not threading.main_thread()
        return super().position()

    def exists(self, session: SessionId) -> bool:
        """As above."""
        assert threading.current_thread() is not threading.main_thread()
        return super().exists(session)


def test_nobody_waits_while_the_store_is_looked_up(stage: Stage) -> None:
    """Neither for who begins nor for who catches up."""

    async def talk() -> list[int]:
        async with subscribing(stage.directory, Aside) as at, talking(at.url) as client:
            answer = await client.ask("subscribe", fromPosition=1, session="tides")
            assert answer["result"]["position"] == 1
            await asyncio.to_thread(note, stage.log, 1)
            return positions(await events(client, whole - 1))

    whole = stage.log.position() + 1
    assert asyncio.run(talk()) == list(range(2, whole + 1))


def test_a_long_history_is_told_whole_and_flows_into_what_is_new(stage: Stage) -> None:
    """In pages, as fast as the client reads: whoever catches up is not cut off for it."""
    noted = [Caused(NoteAdded(text=f"note {n}", about=(), iteration=0)) for n in range(PAGE + 20)]
    append(stage, *noted)
    whole = stage.log.position() + 40

    async def talk() -> list[int]:
        limits = Limits(queued_messages=60, queued_bytes=100_000)
        async with (
            subscribing(stage.directory, limits=limits, narrow=True) as at,
            talking(at.url) as client,
        ):
            await client.ask("subscribe", fromPosition=0)
            writing = asyncio.create_task(asyncio.to_thread(note, stage.log, 40))
            told = await events(client, whole)
            await writing
            return positions(told)

    assert asyncio.run(talk()) == list(range(1, whole + 1))


def test_who_comes_back_with_the_last_position_misses_nothing_and_hears_nothing_twice(
    stage: Stage,
) -> None:
    """Again and again, while another process appends."""
    count = 120
    program = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from commands.eventlog import EventLog
        from commands.handle import handle
        from commands.notes import AddNote
        from commands.world import RealWorld
        from domain.ids import SessionId

        with EventLog(Path(sys.argv[1])) as log:
            for number in range(int(sys.argv[2])):
                wish = AddNote(text=f"note {number}")
                handle(log, SessionId("tides"), wish, RealWorld.of_this_user())
        """
    )
    whole = stage.log.position() + count
    heard: list[int] = []

    async def talk() -> None:
        async with subscribing(stage.directory) as at:
            other = await asyncio.create_subprocess_exec(
                sys.executable, "-c", program, str(stage.directory), str(count)
            )
            while len(heard) < whole:
                async with talking(at.url) as client:
                    await client.ask("subscribe", fromPosition=heard[-1] if heard else 0)
                    told = await events(client, min(7, whole - len(heard)))
                    heard.extend(positions(told))
            assert await other.wait() == 0

    asyncio.run(talk())
    assert heard == list(range(1, whole + 1))


def test_a_session_can_be_listened_to_alone(stage: Stage) -> None:
    """What is appended to it, from any position; what a fork inherits is told of its parent."""
    note(stage.log, 3)
    what_if = SessionId("what-if")
    fork_session(stage.log, stage.session, 4, what_if, stage.world)
    note(stage.log, 2, what_if)
    note(stage.log, 2)
    expected = [r.position for r in stage.log.feed() if r.session == what_if]

    async def talk() -> tuple[list[int], list[int]]:
        async with subscribing(stage.directory) as at, talking(at.url) as client:
            await client.ask("subscribe", fromPosition=0, session="what-if")
            old = positions(await events(client, 3))
            await client.ask("unsubscribe", subscription=1)
            await client.ask("subscribe", fromPosition=expected[1], session="what-if")
            later = positions(await events(client, 1))
            await asyncio.to_thread(note, stage.log, 2)
            await asyncio.to_thread(note, stage.log, 1, what_if)
            return old, later + positions(await events(client, 1))

    old, later = asyncio.run(talk())
    assert old == expected
    assert later == [expected[2], stage.log.position()]


def test_what_is_no_session_can_be_listened_to_as_well(stage: Stage) -> None:
    """A project, say: it has a stream of its own."""
    create_project(stage.log, stage.world, "payments")
    note(stage.log, 1)
    close_project(stage.log, stage.world, "payments")

    async def talk() -> list[str]:
        async with subscribing(stage.directory) as at, talking(at.url) as client:
            await client.ask("subscribe", fromPosition=0, session="project:payments")
            return [one["kind"] for one in await events(client, 2)]

    assert asyncio.run(talk()) == ["project.created", "project.closed"]


def test_several_subscriptions_of_one_client_are_told_apart(stage: Stage) -> None:
    """By their numbers; and one that ended is told no more."""

    async def talk() -> list[tuple[int, int]]:
        async with subscribing(stage.directory) as at, talking(at.url) as client:
            for _ in range(2):
                await client.ask("subscribe")
            await asyncio.to_thread(note, stage.log, 1)
            both = await events(client, 2)
            ended = await client.ask("unsubscribe", subscription=1)
            assert ended["result"] == {"subscription": 1, "position": stage.log.position()}
            await asyncio.to_thread(note, stage.log, 1)
            told = [*both, *await events(client, 1)]
            again = await client.ask("unsubscribe", subscription=1)
            assert again["error"]["code"] == -32602
            return [(one["subscription"], one["position"]) for one in told]

    at = stage.log.position() + 1
    assert sorted(asyncio.run(talk())) == [(1, at), (2, at), (2, at + 1)]


def test_a_subscription_of_somebody_else_can_not_be_ended(stage: Stage) -> None:
    """Numbers are easily guessed."""

    async def talk() -> Any:
        async with subscribing(stage.directory) as at, talking(at.url) as one:
            await one.ask("subscribe")
            async with talking(at.url) as other:
                return await other.ask("unsubscribe", subscription=1)

    assert asyncio.run(talk())["error"]["message"] == "There is no subscription 1 here."


@pytest.mark.parametrize(
    ("params", "code", "sentence"),
    [
        ({"fromPosition": 99}, -32602, "The store ends at position 2"),
        ({"fromPosition": -1}, -32602, "Parameter 'fromPosition'"),
        ({"session": "nowhere"}, -32010, "There is no session 'nowhere'; there is tides."),
    ],
)
def test_what_is_not_there_is_not_subscribed_to(
    stage: Stage, params: dict[str, Any], code: int, sentence: str
) -> None:
    """A store that was restored from a backup is noticed, say."""

    async def talk() -> Any:
        async with subscribing(stage.directory) as at, talking(at.url) as client:
            return (await client.ask("subscribe", **params))["error"]

    error = asyncio.run(talk())
    assert error["code"] == code
    assert error["message"].startswith(sentence)


class Faraway(EventLog):
    """A log on a server that was away for a while, as whoever follows it is told."""

    asked = 0

    def position(self) -> int:
        """As ever, but for the first two times that somebody who has begun asks."""
        self.asked += 1
        if self.asked in {2, 3}:
            raise StoreIsUnreachable("the server", "gone")
        return super().position()

    def follow(self, after: int, stop: threading.Event, told: Told = unheard) -> Iterator[Recorded]:
        """Say so first."""
        told("The server is gone: going on when it is back.")
        told(None)
        return super().follow(after, stop, told)


def test_a_store_that_is_away_is_waited_for(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each peer is told once that it is, and once that it is back; no subscription ends."""
    monkeypatch.setattr(subscriptions, "AGAIN", 0)
    note(stage.log, 2)
    whole = stage.log.position() + 1

    async def talk() -> list[dict[str, Any]]:
        async with subscribing(stage.directory, Faraway) as at, talking(at.url) as client:
            await client.ask("subscribe", fromPosition=0)
            await asyncio.to_thread(note, stage.log, 1)
            told: list[dict[str, Any]] = list(client.told)
            while len(told) < whole + 2:
                told.append(await client.hear())
            return told

    told = asyncio.run(talk())
    away = {"away": True, "reason": "The server is gone: going on when it is back."}
    standing = [one["params"] for one in told if one["method"] == "store_status"]
    assert standing == [away, {"away": False, "reason": None}]
    heard = [one["params"] for one in told if one["method"] == "event"]
    assert positions(heard) == list(range(1, whole + 1))


def test_what_was_redacted_is_told_as_redacted(stage: Stage) -> None:
    """Nothing of it is left to be told."""
    redact_events(stage.log, stage.log.pick(stage.session, [2]), "private", stage.world)

    async def talk() -> dict[str, Any]:
        async with subscribing(stage.directory) as at, talking(at.url) as client:
            await client.ask("subscribe", fromPosition=1)
            return (await events(client, 1))[0]

    told = asyncio.run(talk())
    assert told["redacted"]
    assert told["data"]["text"] == "[redacted]"
    assert "tides?" not in str(told)


def test_vectors_are_left_out(stage: Stage) -> None:
    """Nobody reads them, and they are most of the bytes."""
    vector = {"embedding": b"\x00\x3c\x00\x3c", "dimension": 2, "embedding_model": "tiny"}
    thought = ThoughtAdded(text="the far bulge", iteration=0, mind="tiny", **vector)
    append(stage, Caused(thought))

    async def talk() -> dict[str, Any]:
        async with subscribing(stage.directory) as at, talking(at.url) as client:
            await client.ask("subscribe", fromPosition=stage.log.position() - 1)
            return (await events(client, 1))[0]

    told = asyncio.run(talk())
    assert told["kind"] == "thought.added"
    assert told["data"]["text"] == "the far bulge"
    assert "embedding" not in told["data"]


def test_nobody_subscribes_for_ever(stage: Stage) -> None:
    """Each event is sent for each subscription: there is a most, and one that ends makes room."""

    async def talk() -> list[dict[str, Any]]:
        async with subscribing(stage.directory) as at, talking(at.url) as client:
            for _ in range(MOST):
                assert "result" in await client.ask("subscribe")
            refused = await client.ask("subscribe")
            await client.ask("unsubscribe", subscription=1)
            return [refused, await client.ask("subscribe")]

    refused, taken = asyncio.run(talk())
    assert refused["error"]["code"] == -32010
    assert "unsubscribe from one first" in refused["error"]["message"]
    assert "result" in taken


def test_a_log_that_can_not_be_read_on_is_said_to_be_so(stage: Stage) -> None:
    """By a newer version's events, say: silence would look like peace."""
    note(stage.log, 1)

    async def talk() -> dict[str, Any]:
        async with subscribing(stage.directory) as at, talking(at.url) as client:
            await client.ask("subscribe", fromPosition=0)
            while (message := await client.hear())["method"] == "event":
                pass
            found: dict[str, Any] = message
            return found

    stage.log.close()
    _from_the_future(stage.directory / "log.db")
    cut = asyncio.run(talk())
    assert cut["method"] == "cut_off"
    assert cut["params"]["subscription"] == 1
    assert "a newer Logosphere wrote it" in cut["params"]["reason"]


def _from_the_future(file: Path) -> None:
    """Make the newest event one of a kind that nobody knows."""
    import sqlite3  # noqa: PLC0415 — behind the back of the log

    with sqlite3.connect(file) as raw:
        for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type='trigger'"):
            raw.execute(f'DROP TRIGGER "{name}"')
        raw.execute(
            "UPDATE stored_events SET topic='dream.dreamt'"
            " WHERE rowid=(SELECT max(rowid) FROM stored_events)"
        )
    raw.close()
