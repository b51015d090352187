"""A store that two processes have open, with the naive one beside it."""

import shutil
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from commands.command import Command
from commands.eventlog import EventLog, Taken
from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.log import SNAPSHOT_FILE
from commands.redaction import redact_events
from domain.errors import Refused
from domain.events import Caused, EventRedacted
from domain.ids import SessionId
from domain.recorded import Recorded
from domain.session import Session
from tests.commands.naive import Clock, Naive
from tests.strategies import Wish


class Place:
    """A store, open in two processes, and the naive one beside it."""

    def __init__(self, name: str) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix=name))
        self.log = EventLog.create(self.directory)
        self.other = EventLog(self.directory)
        self.naive = Naive(name)

    def free(self) -> SessionId:
        """A name that nobody has here; somebody may have it elsewhere."""
        numbers = range(len(self.naive.events) + 1)
        return next(SessionId(f"s{n}") for n in numbers if f"s{n}" not in self.naive.events)

    def anew(self, *, forget: bool) -> None:
        """Both processes end, and others begin; without the snapshots, perhaps."""
        self.close()
        if forget:
            self.lose_snapshots()
        self.log, self.other = EventLog(self.directory), EventLog(self.directory)

    def lose_snapshots(self) -> None:
        """The cache is gone."""
        for file in self.directory.glob(f"{SNAPSHOT_FILE}*"):
            file.unlink()

    def process(self, *, elsewhere: bool) -> EventLog:
        """One of the two."""
        return self.other if elsewhere else self.log

    def redact(self, log: EventLog, chosen: Sequence[Recorded], clock: Clock) -> None:
        """Take the content of events away, and check what is said of it."""
        before = {recorded.position: _payload(log, recorded) for recorded in chosen}
        redact_events(log, chosen, "In confidence.", clock)
        targets: dict[SessionId, list[int]] = {}
        for recorded in chosen:
            targets.setdefault(recorded.session, []).append(recorded.version)

        def word(recorded: Recorded) -> EventRedacted:
            return EventRedacted(
                version=recorded.version,
                what=recorded.event.kind,
                digest=sha256(before[recorded.position]).digest(),
                stub=sha256(_payload(log, recorded)).digest(),
                reason="In confidence.",
            )

        self.naive.redact(targets, word, clock)

    def send(self, session: SessionId, to: "Place", *, elsewhere: bool) -> list[Taken]:
        """Carry a session to another store, with its branches and all before them, twice."""
        file = self.directory / "carried.mind"
        sessions, count = self.process(elsewhere=elsewhere).export(session, file)
        bundle = self.naive.bundle(session)
        assert sorted(sessions) == sorted(bundle)
        assert count == sum(map(len, bundle.values()))
        log = to.process(elsewhere=elsewhere)
        taken = log.take_over(file)
        to.naive.take_over(self.naive, session, taken)
        assert {one.what for one in log.take_over(file)} == {"known"}
        file.unlink()
        return taken

    def close(self) -> None:
        """Let go of all files."""
        self.log.close()
        self.other.close()

    def demolish(self) -> None:
        """Nothing is left of it."""
        self.close()
        shutil.rmtree(self.directory)


class Spot(NamedTuple):
    """A session of one of the stores."""

    place: Place
    session: SessionId

    @property
    def past(self) -> list[Recorded]:
        """Its events, as the naive store has them."""
        return self.place.naive.events[self.session]

    @property
    def states(self) -> list[Session]:
        """Its states, one behind each event."""
        return self.place.naive.states[self.session]

    @property
    def own(self) -> int:
        """The version of its own first event."""
        return len(self.past) - len(self.place.naive.own(self.session)) + 1


def foreseen(state: Session, wish: Wish) -> tuple[Command, list[Caused] | Refused]:
    """What the wish should become, or why it should be refused."""
    command = wish(state)
    try:
        events = list(command.decide(state))
    except Refused as refusal:
        return command, refusal
    return command, [e if isinstance(e, Caused) else Caused(e) for e in events]


def _payload(log: EventLog, recorded: Recorded) -> bytes:
    version = recorded.version
    (row,) = log.rows(recorded.session, after=version - 1, upto=version)
    return row[4][HASH_LENGTH:]
