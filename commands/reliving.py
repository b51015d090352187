"""How far a branch has come in living its source's past again, read from its own events."""

from hashlib import sha256

from commands.relived import Act, Ask, Step, all_there, steps
from domain.errors import Refused
from domain.events import (
    ConfigChanged,
    DraftAccepted,
    DraftSeen,
    ExchangesPruned,
    MessageSent,
    MindInvoked,
    ReplayBegun,
)
from domain.ids import CommandId, SessionId
from domain.log import Log
from domain.recorded import Recorded

_SHOWN = (
    *("message.sent", "exchanges.pruned", "mind.invoked", "draft.seen", "draft.accepted"),
    *("thought.added", "signal.changed"),
)
"""What a mind is shown: none of it comes from elsewhere while a replay goes on."""

_HELPFUL = ("mind.invoked", "draft.seen", "draft.accepted", "thought.added", "signal.changed")
"""But for what may be done by hand to get a draft that can be accepted."""


class NoReplay(Refused):
    """The session lives nobody's past again, or that past is not here."""


class Strayed(Refused):
    """The branch has gone its own way."""


class Replay:
    """A replay, as far as its branch has come."""

    def __init__(self, log: Log, branch: SessionId) -> None:
        """Find the newest replay in the history of a session.

        Raises:
            NoSuchSession: there is no such session.
            NoReplay: it has none, or its source is not here.
            Gone: what is still to be lived was redacted.
            Strayed: something was done in the branch that is no part of it.
        """
        begun = log.newest(branch, ["replay.begun"]) if log.head(branch) else None
        if begun is None or not isinstance(begun.event, ReplayBegun):
            raise NoReplay(
                f"No replay was begun in session {branch!r}: mind replay NAME begins one."
            )
        event, self.source = begun.event, SessionId(begun.event.source)
        if not _is_origin(log, self.source, branch, event.after):
            raise NoReplay(
                f"The past that session {branch!r} lives again is not in this store (it was called"
                f" {self.source!r}): go on by hand."
            )
        self.after, self.upto = event.after, event.upto
        self.steps = steps(log, self.source, self.after, self.upto)
        self.exchanges: dict[str, str] = {}
        """What exchanges of the source are called in the branch."""
        self.chosen: set[str] = set()
        """Settings that the source's changes no longer touch."""
        self.lived = 0
        """So many steps are behind us."""
        self.iterations = 0
        """So often the mind was asked by now."""
        self._log, self._branch, self._begun = log, branch, begun
        self._places = {self._id(place, 0): place for place in range(len(self.steps))}
        self._failures = 0
        """How often the step at hand was asked for in vain."""
        self._version = begun.version
        self._strayed: Strayed | None = None
        self.at_hand()
        all_there(self.source, self.steps[self.lived :])

    def at_hand(self) -> Step | None:
        """The next step, after all that has happened by now; None behind the last one.

        Raises:
            Strayed: something was done in the branch that is no part of it.
        """
        self.catch_up()
        if self._strayed is not None:
            raise self._strayed
        return self.steps[self.lived] if self.lived < len(self.steps) else None

    def catch_up(self) -> None:
        """Take in what has happened in the branch by now."""
        for recorded in self._log.read(self._branch, after=self._version):
            self._fold(recorded)
            self._version = recorded.version

    @property
    def command_id(self) -> CommandId:
        """Under which the step at hand is wished for: the same, whoever tries it."""
        return self._id(self.lived, self._failures)

    @property
    def cause(self) -> int:
        """The version of the event that leads to all steps."""
        return self._begun.version

    @property
    def asks_ahead(self) -> int:
        """How many iterations come before the exchange is closed."""
        count = 0
        for step in self.steps[self.lived :]:
            if isinstance(step.what, Ask):
                count += 1
            elif isinstance(step.what.event, DraftAccepted | MessageSent):
                break
        return count

    def pass_by(self) -> None:
        """The step at hand comes to nothing in the branch."""
        self._done(self.lived)

    def _id(self, place: int, attempt: int) -> CommandId:
        step, begun = self.steps[place].version, self._begun.command
        told = begun + step.to_bytes(8, "big") + attempt.to_bytes(4, "big")
        return CommandId(sha256(told).digest()[:16])

    def _done(self, place: int) -> None:
        self.lived, self._failures = place + 1, 0

    def _fold(self, recorded: Recorded) -> None:
        event, place = recorded.event, self._places.get(recorded.command)
        if isinstance(event, MindInvoked):
            self.iterations += 1
        if place is not None:
            self._stepped(recorded, place)
        elif isinstance(event, ConfigChanged):
            self.chosen.add(event.key)
        elif event.kind in _SHOWN and recorded.command != self._begun.command:
            self._by_hand(recorded)

    def _stepped(self, recorded: Recorded, place: int) -> None:
        event, what = recorded.event, self.steps[place].what
        was = what.event if isinstance(what, Act) else None
        if isinstance(was, MessageSent) and isinstance(event, MessageSent):
            self.exchanges[was.exchange] = event.exchange
        if place < self.lived or (isinstance(what, Ask) and not isinstance(event, MindInvoked)):
            return
        if isinstance(event, MindInvoked) and event.outcome == "failed":
            # nobody answered: it is asked for again, as another wish
            self._failures = self._failures + 1 if place == self.lived else 1
            self.lived = place
            self._places[self._id(place, self._failures)] = place
        else:
            self._done(place)

    def _by_hand(self, recorded: Recorded) -> None:
        """Getting a draft and accepting it is welcome where the replay waits for just that."""
        place = self._acceptance()
        if place is None or recorded.event.kind not in _HELPFUL:
            self._strayed = self._strayed or Strayed(
                f"Event {recorded.version} of session {self._branch!r} ({recorded.event.kind}, by"
                f" {recorded.actor}) is no part of the replay: go on by hand, or begin another one"
                " (mind replay NAME)."
            )
        elif isinstance(recorded.event, DraftAccepted):
            self._done(place)

    def _acceptance(self) -> int | None:
        """The acceptance that comes next, with nothing before it but what may come to nothing."""
        for place, step in enumerate(self.steps[self.lived :], self.lived):
            event = step.what.event if isinstance(step.what, Act) else None
            if isinstance(event, DraftAccepted):
                return place
            if not isinstance(event, DraftSeen | ConfigChanged | ExchangesPruned):
                return None
        return None


def _is_origin(log: Log, source: SessionId, branch: SessionId, after: int) -> bool:
    """Whether a session of that name is there and shares that moment with the branch."""
    if not log.exists(source) or log.head(source).version < after:
        return False
    return log.head(source, after) == log.head(branch, after)
