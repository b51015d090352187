"""The real log against a naive one, which copies the whole past whenever a session is forked.

Hypothesis makes sessions, forks of forks at any version, iterations, acceptances and all else that
users do, through two processes' worth of logs, closes and opens the store, and deletes its
snapshots. Nothing may ever differ.
"""

import shutil
import tempfile
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from commands.command import Command
from commands.eventlog import EventLog
from commands.eventlog.log import SNAPSHOT_FILE
from commands.eventlog.snapshots import EVERY
from commands.forks import fork_session
from commands.handle import handle
from commands.sessions import start_session
from domain.config import Config
from domain.errors import Refused
from domain.events import Caused, MessageSent, SessionForked, SessionStarted
from domain.ids import CommandId, SessionId, exchange_id
from domain.protocol.prompts import PROTOCOL
from domain.recorded import Recorded
from domain.session import Session, evolve
from tests.strategies import (
    USER,
    Wish,
    iterated,
    plain,
    sealed,
    turns,
)

MOST_SESSIONS = 7
share = st.floats(min_value=0, max_value=1)


class Clock:
    """A world whose time moves only when it is told to."""

    actor = USER

    def __init__(self) -> None:
        self.time = 1_777_717_800_000_000
        self.wish = CommandId(bytes(16))

    def now(self) -> int:
        """What the clock shows."""
        return self.time

    def local_time(self) -> datetime:
        """The same."""
        return datetime.fromtimestamp(self.time / 1e6, UTC)

    def command_id(self) -> CommandId:
        """The wish that is being carried out."""
        return self.wish

    def seed(self) -> int:
        """Always seven."""
        return 7

    def tick(self, microseconds: int) -> None:
        """Time goes on, or back, and another wish is made."""
        self.time += microseconds
        self.wish = CommandId((int.from_bytes(self.wish, "big") + 1).to_bytes(16, "big"))


class Naive:
    """A log in two dictionaries: every session has all its events, and every state it ever had."""

    def __init__(self) -> None:
        self.events: dict[SessionId, list[Recorded]] = {}
        self.states: dict[SessionId, list[Session]] = {}
        self.feed: list[Recorded] = []

    def append(self, session: SessionId, events: list[Caused], clock: Clock) -> None:
        """More has happened."""
        states = self.states.setdefault(session, [])
        past = self.events.setdefault(session, [])
        at = max(clock.now(), states[-1].at if states else 0)
        for recorded in sealed(session, len(past), at, events, clock.wish):
            whole = recorded._replace(position=len(self.feed) + 1)
            self.feed.append(whole)
            past.append(whole)
            states.append(evolve(states[-1] if states else None, whole))

    def fork(self, parent: SessionId, version: int, child: SessionId) -> None:
        """Copy everything, and fold it all again."""
        self.events[child] = self.events[parent][:version]
        self.states[child] = []
        state: Session | None = None
        for recorded in self.events[child]:
            state = evolve(state, recorded)
            self.states[child].append(state)


def _foreseen(state: Session, wish: Wish) -> tuple[Command, list[Caused] | Refused]:
    """What the wish should become, or why it should be refused."""
    command = wish(state)
    try:
        events = list(command.decide(state))
    except Refused as refusal:
        return command, refusal
    return command, [e if isinstance(e, Caused) else Caused(e) for e in events]


class LogMachine(RuleBasedStateMachine):
    """What may happen to a store."""

    sessions: Bundle[SessionId] = Bundle("sessions")
    thorough = False

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.log = EventLog.create(self.directory)
        self.other = EventLog(self.directory)
        self.clock, self.naive = Clock(), Naive()

    @initialize(target=sessions, message=plain.filter(str.strip), steps=turns)
    def begin(self, message: str, steps: list[Wish]) -> SessionId:
        """There is always one session, and something has happened in it."""
        session = self._begin(message)
        self._do(session, *steps)
        return session

    @precondition(lambda self: len(self.naive.events) < 2)
    @rule(target=sessions)
    def begin_another(self) -> SessionId:
        """Another session begins, idle."""
        return self._begin(None)

    def _begin(self, message: str | None) -> SessionId:
        name = SessionId(f"s{len(self.naive.events)}")
        self.clock.tick(1)
        start_session(self.log, name, self.clock, message=message)
        config = Config().model_dump()
        events = [Caused(SessionStarted(title=name, config=config, protocol=PROTOCOL, seed=7))]
        if message is not None:
            text = message.strip()
            asked = MessageSent(exchange=exchange_id(1, 0), text=text, iteration=1)
            events.append(Caused(asked))
        self.naive.append(name, events, self.clock)
        return name

    @precondition(lambda self: len(self.naive.events) < MOST_SESSIONS)
    @rule(target=sessions, parent=sessions, part=share, steps=turns)
    def fork(self, parent: SessionId, part: float, steps: list[Wish]) -> SessionId:
        """A session branches off another one, at any version of its past, and goes its own way."""
        version = 1 + round(part * (len(self.naive.events[parent]) - 1))
        child = SessionId(f"s{len(self.naive.events)}")
        self.clock.tick(1)
        onto = self.log.head(parent, version)
        fork_session(self.log, parent, version, child, self.clock)
        self.naive.fork(parent, version, child)
        event = SessionForked(parent=parent, at_version=version, parent_hash=onto.hash)
        self.naive.append(child, [Caused(event, version)], self.clock)
        self._do(child, *steps)
        return child

    @rule(session=sessions, steps=turns, elsewhere=st.booleans(), later=st.integers(-5, 10**6))
    def act(self, session: SessionId, steps: list[Wish], elsewhere: bool, later: int) -> None:
        """Anything, here or in another process, whatever the clock does."""
        self._do(session, *steps, elsewhere=elsewhere, later=later)

    @rule(session=sessions, count=st.integers(EVERY // 4, EVERY // 2), text=plain)
    def think_a_lot(self, session: SessionId, count: int, text: str) -> None:
        """One iteration with many thoughts: soon there are snapshots."""
        thoughts = [f"{text} {n}" for n in range(count)]
        self._do(session, iterated(thoughts, None, "ok", None, False, False, False))

    def _do(
        self, session: SessionId, *wishes: Wish, elsewhere: bool = False, later: int = 1
    ) -> None:
        log = self.other if elsewhere else self.log
        for wish in wishes:
            self.clock.tick(later)
            command, expected = _foreseen(self.naive.states[session][-1], wish)
            if isinstance(expected, Refused):
                with pytest.raises(type(expected)) as refused:
                    handle(log, session, command, self.clock)
                assert refused.value.sentence == expected.sentence
            else:
                self._granted(log, session, command, expected)

    def _granted(
        self, log: EventLog, session: SessionId, command: Command, expected: list[Caused]
    ) -> None:
        done = handle(log, session, command, self.clock)
        assert list(done.events) == [caused.event for caused in expected]
        if expected:
            self.naive.append(session, expected, self.clock)
        assert done.state == self.naive.states[session][-1]
        again = handle(log, session, command, self.clock, command_id=self.clock.wish)
        if expected:
            assert again.events == ()

    @rule(session=sessions, part=share, elsewhere=st.booleans())
    def look_back(self, session: SessionId, part: float, elsewhere: bool) -> None:
        """Any moment can be visited again."""
        log = self.other if elsewhere else self.log
        states = self.naive.states[session]
        version = 1 + round(part * (len(states) - 1))
        assert log.state(session, version) == states[version - 1]
        assert log.head(session, version).version == version

    @rule(session=sessions, low=share, high=share, page=st.integers(1, 40), kind=st.booleans())
    def read_a_part(
        self, session: SessionId, low: float, high: float, page: int, kind: bool
    ) -> None:
        """Between any two versions, in pages of any size, forwards and backwards, by kind."""
        past = self.naive.events[session]
        after, upto = round(low * len(past)), round(high * len(past))
        kinds = {"thought.added", "draft.emitted"} if kind else {r.event.kind for r in past}
        wanted = [r for r in past[after:upto] if r.event.kind in kinds]
        more: dict[str, Any] = {"after": after, "upto": upto, "kinds": kinds, "page": page}
        assert list(self.log.read(session, **more)) == wanted
        assert list(self.log.read(session, **more, newest_first=True)) == wanted[::-1]
        versions = [r.version for r in wanted[::7]]
        assert self.log.pick(session, [0, *versions, len(past) + 1]) == wanted[::7]

    @rule(forget=st.booleans())
    def open_anew(self, forget: bool) -> None:
        """The process ends; perhaps its cache is deleted too."""
        self.log.close()
        self.other.close()
        if forget:
            for file in self.directory.glob(f"{SNAPSHOT_FILE}*"):
                file.unlink()
        self.log, self.other = EventLog(self.directory), EventLog(self.directory)

    @invariant()
    def every_head_is_right(self) -> None:
        """Versions have no gaps, and the present state is the fold of the whole past."""
        assert self.log.sessions() == list(self.naive.events)
        for session, states in self.naive.states.items():
            assert self.log.head(session).version == len(states)
            assert self.log.state(session) == states[-1]

    def teardown(self) -> None:
        """Everything at once, from the other process and from one that knows nothing."""
        try:
            self._compare(self.other)
            self.open_anew(forget=True)
            self._compare(self.log)
            self.open_anew(forget=False)
            self._compare(self.other)
        finally:
            self.log.close()
            self.other.close()
            shutil.rmtree(self.directory)

    def _compare(self, log: EventLog) -> None:
        assert list(log.feed()) == self.naive.feed
        for session, past in self.naive.events.items():
            assert list(log.read(session)) == past
            assert all(b.version == a.version + 1 for a, b in pairwise(past))
            assert all(b.at >= a.at for a, b in pairwise(past))
            for version in self._versions(session):
                assert log.state(session, version) == self.naive.states[session][version - 1]
        verdicts = list(log.verify())
        assert [f for verdict in verdicts for f in verdict.findings] == []
        assert sum(verdict.events for verdict in verdicts) == len(self.naive.feed)

    def _versions(self, session: SessionId) -> list[int]:
        """All moments of a short history; of a long one those where things go wrong."""
        head = len(self.naive.states[session])
        if self.thorough:
            return list(range(1, head + 1))
        forks = [segment.after for segment in self.log.path(session)]
        edges = {n + d for n in (*forks, *range(0, head, EVERY), head) for d in (-1, 0, 1, 2)}
        return sorted({v for v in edges | set(range(1, head, 1 + head // 9)) if 1 <= v <= head})


class ThoroughMachine(LogMachine):
    """The same, at every version."""

    thorough = True


TestLog = seed(412)(LogMachine).TestCase
TestLog.settings = settings(
    max_examples=25,
    stateful_step_count=20,
    database=None,
    phases=[Phase.generate],  # minutes of shrinking are for the slow one
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestLogThoroughly = pytest.mark.slow(seed(24)(ThoroughMachine).TestCase)
TestLogThoroughly.settings = settings(
    TestLog.settings,
    max_examples=60,
    stateful_step_count=40,
    phases=[Phase.generate, Phase.shrink],
)
