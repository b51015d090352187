"""Where a thought came from: what its mind was shown when it had it, nearest first."""

from typing import NamedTuple

from domain.clustering.fold import partition_at
from domain.clustering.partition import Partition
from domain.errors import NotAThought
from domain.events import MessageSent, MindInvoked, ThoughtAdded
from domain.log import Log
from domain.recorded import Recorded
from domain.session import Session


class Ancestor(NamedTuple):
    """A thought that stood before another one."""

    version: int
    iteration: int
    text: str
    similarity: float | None
    """Cosine to the thought that is explained; None where one of them has no vector."""
    recalled: bool
    """It was called back from beyond the pool."""


class Origin(NamedTuple):
    """What is known of how a thought came to be."""

    version: int
    iteration: int
    text: str
    origin: str
    by: str
    """Its mind, or who put it there."""
    cluster: int | None
    invoked: int | None
    """The version of the invocation; None where it did not come from one."""
    message: str | None
    """What the mind was answering."""
    ancestors: tuple[Ancestor, ...]
    """All that the mind was shown, the nearest first."""


class Lineage:
    """The origins of the thoughts of a session."""

    def __init__(self, log: Log, session: Session) -> None:
        self._log, self._session = log, session
        self._partition: Partition = partition_at(log, session.id, session.version)

    def origin(self, version: int) -> Origin:
        """How a thought came to be.

        Raises:
            NotAThought: that event is none.
        """
        recorded = next(iter(self._log.pick(self._session.id, [version])), None)
        if recorded is None or not isinstance(recorded.event, ThoughtAdded):
            kind = recorded.event.kind if recorded is not None else None
            raise NotAThought(version, kind)
        event = recorded.event
        invoked = self._invoked(recorded)
        return Origin(
            version,
            event.iteration,
            event.text,
            event.origin,
            event.mind,
            self._partition.label(version),
            invoked.version if invoked else None,
            self._message(invoked) if invoked else None,
            self._ancestors(version, invoked),
        )

    def line(self, version: int, length: int) -> list[Origin]:
        """A thought, the nearest of those that stood before it, and so on back.

        It ends where a thought did not come from others, or has no vector.
        """
        found = [self.origin(version)]
        while len(found) < length and found[-1].ancestors:
            nearest = found[-1].ancestors[0]
            if nearest.similarity is None:
                break
            found.append(self.origin(nearest.version))
        return found

    def _invoked(self, recorded: Recorded) -> Recorded | None:
        if recorded.cause is None:
            return None
        cause = next(iter(self._log.pick(self._session.id, [recorded.cause])), None)
        return cause if cause is not None and isinstance(cause.event, MindInvoked) else None

    def _message(self, invoked: Recorded) -> str | None:
        message = self._log.newest(self._session.id, ["message.sent"], upto=invoked.version)
        if message is None or not isinstance(message.event, MessageSent):
            return None
        return message.event.text

    def _ancestors(self, version: int, invoked: Recorded | None) -> tuple[Ancestor, ...]:
        if invoked is None or not isinstance(invoked.event, MindInvoked):
            return ()
        shown, recalled = invoked.event.sampled, {r[0] for r in invoked.event.recalled}
        found = [
            Ancestor(
                r.version,
                r.event.iteration,
                r.event.text,
                self._similarity(version, r.version),
                r.version in recalled,
            )
            for r in self._log.pick(self._session.id, shown)
            if isinstance(r.event, ThoughtAdded)
        ]
        found.sort(key=lambda a: (-(a.similarity if a.similarity is not None else -2), a.version))
        return tuple(found)

    def _similarity(self, one: int, other: int) -> float | None:
        if not (self._partition.has(one) and self._partition.has(other)):
            return None
        first, second = self._partition.vectors([one, other])
        return round(float(first @ second), 4)
