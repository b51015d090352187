"""The real log against a naive one, which copies the whole past whenever a session is forked.

Hypothesis makes sessions in two stores, forks of forks at any version, iterations, acceptances and
all else that users do, through two processes' worth of logs; redacts, carries sessions from store
to store, closes and opens them, and deletes their snapshots. Nothing may ever differ, and every
proof holds, until something is changed behind the log's back: then the proof names it.
"""

import random
import sys
from collections import Counter
from itertools import pairwise
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, event, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from commands.command import Command
from commands.eventlog import EventLog
from commands.eventlog.snapshots import EVERY
from commands.forks import fork_session
from commands.handle import handle
from commands.redaction import has_content, redact_events
from commands.sessions import ArchiveSession, RenameSession, RestoreSession, start_session
from domain.config import Config
from domain.errors import NothingChanges, Refused
from domain.events import Caused, MessageSent, SessionForked, SessionStarted
from domain.ids import SessionId, exchange_id
from domain.protocol.prompts import PROTOCOL
from domain.titles import title_of
from tests.commands.naive import Clock, the_same
from tests.commands.places import Place, Spot, foreseen
from tests.commands.tampering import DAMAGES, Choice, check_found, check_missed
from tests.strategies import Wish, as_it_is, iterated, plain, turns

MOST_SESSIONS = 16
"""In one store, after which no more begin."""
DEEP = 6
share = st.floats(min_value=0, max_value=1)
choices = st.builds(Choice, share, share, share)
titles: st.SearchStrategy[Wish] = st.one_of(
    st.builds(lambda title: RenameSession(title=title), plain),
    st.builds(lambda reason: ArchiveSession(reason=reason), st.none() | plain),
    st.just(RestoreSession()),
).map(as_it_is)


class LogMachine(RuleBasedStateMachine):
    """What may happen to two stores."""

    sessions: Bundle[Spot] = Bundle("sessions")
    thorough = False
    depths: ClassVar[list[int]] = []
    happened: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.here, self.there = Place("here"), Place("there")
        self.clock, self.luck = Clock(), random.Random(0)  # noqa: S311 — repeatable

    @initialize(
        target=sessions,
        message=plain.filter(str.strip),
        steps=turns,
        luck=st.integers(0, 2**32),
    )
    def begin(self, message: str, steps: list[Wish], luck: int) -> MultipleResults[Spot]:
        """There is always one session, and something has happened in it.

        Mostly there is a long chain of forks, and a session of the same name in the other store.
        """
        self.luck = random.Random(luck)  # noqa: S311 — repeatable
        spot = self._begin(self.here, message)
        self._do(spot, *steps)
        parts = [self.luck.random() for _ in range(0 if luck % 4 == 3 else DEEP + luck % 3)]
        others = [] if luck % 5 == 4 else [self._begin(self.there, None)]
        return multiple(spot, *self._chain(parts, steps), *others)

    @precondition(lambda self: len(self.there.naive.events) < 2)
    @rule(target=sessions, away=st.booleans())
    def begin_another(self, away: bool) -> Spot:
        """Another session begins, idle; in the other store its name is one that is known here."""
        return self._begin(self.there if away else self.here, None)

    def _begin(self, place: Place, message: str | None) -> Spot:
        name = place.free()
        self.clock.tick(1)
        start_session(place.log, name, self.clock, message=message)
        config = Config().model_dump()
        title = title_of(message or "") or name
        events = [Caused(SessionStarted(title=title, config=config, protocol=PROTOCOL, seed=7))]
        if message is not None:
            text = message.strip()
            asked = MessageSent(exchange=exchange_id(1, 0), text=text, iteration=1)
            events.append(Caused(asked))
        place.naive.append(name, events, self.clock)
        return Spot(place, name)

    @precondition(lambda self: len(self.here.naive.events) < MOST_SESSIONS)
    @rule(target=sessions, parent=sessions, part=share | st.integers(-2, -1), steps=turns)
    def fork(self, parent: Spot, part: float, steps: list[Wish]) -> Spot:
        """A session branches off another one, at any version of its past, and goes its own way.

        Often just where what it inherits ends and its own begins.
        """
        edge, inner = parent.own + int(part) + 1, 1 + round(part * (len(parent.past) - 1))
        child = self._fork(parent, max(1, edge if part < 0 else inner))
        self._do(child, *steps)
        return child

    @precondition(lambda self: len(self.here.naive.events) < MOST_SESSIONS)
    @rule(target=sessions, parts=st.lists(share, min_size=1, max_size=4), steps=turns)
    def fork_the_deepest(self, parts: list[float], steps: list[Wish]) -> MultipleResults[Spot]:
        """Forks of forks of forks, each on what its parent has of its own."""
        return multiple(*self._chain(parts, steps))

    def _chain(self, parts: list[float], steps: list[Wish]) -> list[Spot]:
        made, naive = [], self.here.naive
        for part in parts:
            deepest = Spot(self.here, max(naive.events, key=naive.depth))
            own = deepest.own
            made.append(self._fork(deepest, own + round(part * (len(deepest.past) - own))))
            self._do(made[-1], *steps[:3])
        return made

    def _fork(self, parent: Spot, version: int) -> Spot:
        place, child = parent.place, parent.place.free()
        self.clock.tick(1)
        onto = place.log.head(parent.session, version)
        fork_session(place.log, parent.session, version, child, self.clock)
        place.naive.fork(parent.session, version, child)
        forked = SessionForked(parent=parent.session, at_version=version, parent_hash=onto.hash)
        place.naive.append(child, [Caused(forked, version)], self.clock)
        return Spot(place, child)

    @rule(spot=sessions, steps=turns, elsewhere=st.booleans(), later=st.integers(-5, 10**6))
    def act(self, spot: Spot, steps: list[Wish], elsewhere: bool, later: int) -> None:
        """Anything, here or in another process, whatever the clock does."""
        self._do(spot, *steps, elsewhere=elsewhere, later=later)

    @rule(spot=sessions, steps=st.lists(titles, min_size=1, max_size=4), elsewhere=st.booleans())
    def name_and_put_away(self, spot: Spot, steps: list[Wish], elsewhere: bool) -> None:
        """Other titles; into the archive, and back."""
        self._do(spot, *steps, elsewhere=elsewhere)

    @rule(spot=sessions, count=st.integers(EVERY // 4, EVERY // 2), text=plain)
    def think_a_lot(self, spot: Spot, count: int, text: str) -> None:
        """One iteration with many thoughts: soon there are snapshots."""
        thoughts = [f"{text} {n}" for n in range(count)]
        self._do(spot, iterated(thoughts, None, "ok", None, False, False, False))

    def _do(self, spot: Spot, *wishes: Wish, elsewhere: bool = False, later: int = 1) -> None:
        log = spot.place.other if elsewhere else spot.place.log
        for wish in wishes:
            self.clock.tick(later)
            command, expected = foreseen(spot.states[-1], wish)
            if isinstance(expected, Refused):
                with pytest.raises(type(expected)) as refused:
                    handle(log, spot.session, command, self.clock)
                assert refused.value.sentence == expected.sentence
            else:
                self._granted(log, spot, command, expected)

    def _granted(self, log: EventLog, spot: Spot, command: Command, expected: list[Caused]) -> None:
        done = handle(log, spot.session, command, self.clock)
        the_same(list(done.events), [caused.event for caused in expected])
        if expected:
            spot.place.naive.append(spot.session, expected, self.clock)
        the_same(done.state, spot.states[-1])
        again = handle(log, spot.session, command, self.clock, command_id=self.clock.wish)
        if expected:
            assert again.events == ()

    @rule(
        spot=sessions,
        parts=st.lists(share, min_size=1, max_size=4),
        sensible=st.sampled_from((True, True, True, False)),
        elsewhere=st.booleans(),
    )
    def redact(self, spot: Spot, parts: list[float], sensible: bool, elsewhere: bool) -> None:
        """Events are emptied for good, inherited ones and some in several streams included."""
        past = [r for r in spot.past if has_content(r)] if sensible else spot.past
        picked = dict.fromkeys(round(part * (len(past) - 1)) for part in parts if past)
        chosen = [past[number] for number in picked]
        log = spot.place.other if elsewhere else spot.place.log
        self.clock.tick(1)
        if not all(map(has_content, chosen)):
            with pytest.raises(NothingChanges):
                redact_events(log, chosen, "It was said in confidence.", self.clock)
            return
        spot.place.redact(log, chosen, self.clock)
        self._did("redacted")

    @precondition(lambda self: len(self.there.naive.events) < 2 * MOST_SESSIONS)
    @rule(target=sessions, spot=sessions, elsewhere=st.booleans())
    def carry(self, spot: Spot, elsewhere: bool) -> MultipleResults[Spot]:
        """A session travels to the other store, with its branches and all before them."""
        return multiple(*self._carry(spot, elsewhere=elsewhere))

    def _carry(self, spot: Spot, *, elsewhere: bool = False) -> list[Spot]:
        to = self.there if spot.place is self.here else self.here
        taken = spot.place.send(spot.session, to, elsewhere=elsewhere)
        self._did(*(one.what for one in taken), *("renamed" for t in taken if t.name != t.session))
        self._did(*("redacted by an import" for one in taken if one.redacted))
        return [Spot(to, one.name) for one in taken if one.what == "new"]

    @precondition(lambda self: len(self.there.naive.events) < 2 * MOST_SESSIONS)
    @rule(target=sessions, spot=sessions, part=share, steps=turns, again=st.booleans())
    def say_in_confidence(
        self, spot: Spot, part: float, steps: list[Wish], again: bool
    ) -> MultipleResults[Spot]:
        """What a session inherits is redacted while another process works in it.

        It has travelled before, and does so again; perhaps even the word of it is redacted.
        """
        self._do(spot, *steps[:3], elsewhere=True)
        news, place = self._carry(spot), spot.place
        past = [r for r in spot.past if has_content(r)]
        inherited = [r for r in past if r.session != spot.session] or past
        self.clock.tick(1)
        if inherited:
            secret = inherited[round(part * (len(inherited) - 1))]
            place.redact(place.log, [secret], self.clock)
            if again:
                self.clock.tick(1)
                place.redact(place.log, [place.naive.events[secret.session][-1]], self.clock)
        self._do(spot, *steps[3:], elsewhere=True)
        return multiple(*news, *self._carry(spot))

    @rule(spot=sessions, part=share, elsewhere=st.booleans())
    def look_back(self, spot: Spot, part: float, elsewhere: bool) -> None:
        """Any moment can be visited again."""
        log = spot.place.other if elsewhere else spot.place.log
        version = 1 + round(part * (len(spot.states) - 1))
        the_same(log.state(spot.session, version), spot.states[version - 1])
        assert log.head(spot.session, version).version == version

    @rule(spot=sessions, low=share, high=share, page=st.integers(1, 40), kind=st.booleans())
    def read_a_part(self, spot: Spot, low: float, high: float, page: int, kind: bool) -> None:
        """Between any two versions, in pages of any size, forwards and backwards, by kind."""
        past, log = spot.past, spot.place.log
        after, upto = round(low * len(past)), round(high * len(past))
        kinds = {"thought.added", "draft.emitted"} if kind else {r.event.kind for r in past}
        wanted = [r for r in past[after:upto] if r.event.kind in kinds]
        more: dict[str, Any] = {"after": after, "upto": upto, "kinds": kinds, "page": page}
        the_same(list(log.read(spot.session, **more)), wanted)
        the_same(list(log.read(spot.session, **more, newest_first=True)), wanted[::-1])
        versions = [r.version for r in wanted[::7]]
        the_same(log.pick(spot.session, [0, *versions, len(past) + 1]), wanted[::7])

    @rule(spot=sessions, forget=st.booleans())
    def open_anew(self, spot: Spot, forget: bool) -> None:
        """The processes end; perhaps their cache is deleted too."""
        spot.place.anew(forget=forget)

    @rule(spot=sessions)
    def lose_snapshots(self, spot: Spot) -> None:
        """The cache is deleted under processes that use it."""
        spot.place.lose_snapshots()

    @rule(spot=sessions, how=st.sampled_from(sorted(DAMAGES)), choice=choices)
    def tamper(self, spot: Spot, how: str, choice: Choice) -> None:
        """What is changed behind the log's back is found and named; here in a copy."""
        self._tamper(spot.place, how, choice)

    def _tamper(self, place: Place, how: str, choice: Choice) -> None:
        touched = check_found(place.directory, how, choice, family=place.naive.family)
        self._did(how if touched else "nothing to tamper with")

    @rule(spot=sessions, choice=choices)
    def cut(self, spot: Spot, choice: Choice) -> None:
        """A history without its end still hangs together: whoever kept its head misses it."""
        check_missed(spot.place.directory, choice)

    @invariant()
    def every_head_is_right(self) -> None:
        """Versions have no gaps, and the present state is the fold of the whole past."""
        for place in (self.here, self.there):
            assert place.log.sessions() == list(place.naive.events)
            for session, states in place.naive.states.items():
                assert place.log.head(session).version == len(states)
                the_same(place.log.state(session), states[-1])

    @invariant()
    def all_that_is_new_is_proved(self) -> None:
        """The proof of what has come since the last one holds, too."""
        for place in (self.here, self.there):
            assert [f for verdict in place.other.verify(new=True) for f in verdict.findings] == []

    def teardown(self) -> None:
        """Everything at once, from the other process and from one that knows nothing."""
        try:
            if sys.exc_info()[0] is None:  # what went wrong before is to be seen first
                self._look_at_everything()
        finally:
            for place in (self.here, self.there):
                place.demolish()

    def _look_at_everything(self) -> None:
        for place in (self.here, self.there):
            self._compare(place, place.other)
            place.anew(forget=True)
            self._compare(place, place.log)
            place.anew(forget=False)
            self._compare(place, place.other)
        for how in DAMAGES:
            place = self.luck.choice([p for p in (self.here, self.there) if p.naive.rows])
            self._tamper(place, how, Choice(*(self.luck.random() for _ in Choice._fields)))
        naive = self.here.naive
        self.depths.append(max(map(naive.depth, naive.events)))
        event(f"forks {self.depths[-1]} deep")

    def _did(self, *what: str) -> None:
        self.happened.update(what)
        for one in what:
            event(one)

    def _compare(self, place: Place, log: EventLog) -> None:
        naive = place.naive
        the_same(list(log.feed()), naive.feed)
        for session, past in naive.events.items():
            the_same(list(log.read(session)), past)
            assert len(log.path(session)) == 1 + naive.depth(session)
            assert all(b.version == a.version + 1 for a, b in pairwise(past))
            assert all(b.at >= a.at for a, b in pairwise(past))
            for version in self._versions(log, session, len(past)):
                the_same(log.state(session, version), naive.states[session][version - 1])
        verdicts = list(log.verify())
        assert [f for verdict in verdicts for f in verdict.findings] == []
        assert sum(verdict.events for verdict in verdicts) == len(naive.feed)

    def _versions(self, log: EventLog, session: SessionId, head: int) -> list[int]:
        """All moments of a short history; of a long one those where things go wrong."""
        if self.thorough:
            return list(range(1, head + 1))
        forks = [segment.after for segment in log.path(session)]
        edges = {n + d for n in (*forks, *range(0, head, EVERY), head) for d in (-1, 0, 1, 2)}
        return sorted({v for v in edges | set(range(1, head, 1 + head // 9)) if 1 <= v <= head})


class ThoroughMachine(LogMachine):
    """The same, at every version."""

    thorough = True
    depths: ClassVar[list[int]] = []
    happened: ClassVar[Counter[str]] = Counter()


WANTED = {*DAMAGES, "longer", "new", "renamed", "redacted", "redacted by an import"}
QUICK = settings(
    max_examples=6,
    stateful_step_count=20,
    database=None,
    phases=[Phase.generate],  # minutes of shrinking are for the slow one
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


class TestLog(seed(416)(LogMachine).TestCase):  # type: ignore[misc]
    """Some machines, in seconds."""

    settings = QUICK

    def runTest(self) -> None:  # noqa: N802 — unittest's name
        """Most of them fork deep, and all that can be done to a store is done to some."""
        super().runTest()
        deep = [depth for depth in LogMachine.depths if depth >= DEEP]
        assert len(deep) * 2 >= len(LogMachine.depths) >= QUICK.max_examples, LogMachine.depths
        assert LogMachine.happened.keys() >= WANTED, LogMachine.happened


@pytest.mark.slow
class TestLogThoroughly(ThoroughMachine.TestCase):  # type: ignore[misc]
    """More and longer ones, at every version."""

    settings = settings(
        QUICK,
        max_examples=100,
        stateful_step_count=40,
        phases=[Phase.generate, Phase.shrink],
    )
