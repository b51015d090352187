"""Where imported events are written: in batches behind what is there, if that is the same.

An import writes the same events whenever it reads the same source. So what is there already is
compared and not written again: an import that broke off goes on where it was, and a source that
grew adds what is new. What parted from its source stays as it is, and the source's course becomes a
branch.
"""

from collections.abc import Callable, Iterator

from domain.actors import Actor
from domain.events import (
    Caused,
    DraftAccepted,
    DraftEmitted,
    Event,
    MessageSent,
    ThoughtAdded,
    ToolUsed,
)
from domain.ids import CommandId, SessionId
from domain.log import Log
from domain.recorded import Draw, Head, Recorded

BATCH = 256
"""Events that are recorded together."""
BATCH_SIZE = 1 << 20
"""Characters after which they are recorded earlier."""

WRITTEN: tuple[type[Event], ...] = (
    MessageSent,
    ToolUsed,
    DraftEmitted,
    DraftAccepted,
    ThoughtAdded,
)
"""What is compared; notes and whatever else people added do not matter."""
KINDS = tuple(str(one.model_fields["kind"].default) for one in WRITTEN)


class Parted(Exception):
    """What is here is another conversation."""


class FreshPage:
    """A session that is being written; nothing of it is there yet, or only what was before."""

    def __init__(
        self,
        log: Log | None,
        session: SessionId,
        onto: Head,
        clock: int,
        draw: tuple[int, Actor, CommandId],
        *,
        begun: bool,
    ) -> None:
        """Begin to write.

        Args:
            log: where to; None to write nothing at all.
            session: which session.
            onto: what is before: of the session, or of the one that it branches off.
            clock: when that was, µs since 1970.
            draw: now, who imports, and the wish that this is.
            begun: whether the session is there.
        """
        self._log, self.session, self._begun = log, session, begun
        self._onto, self._draw = onto, draw
        self.clock, self.version = clock, onto.version
        self._waiting: list[Caused] = []
        self._size = 0
        self.counts: dict[type[Event], int] = {}

    @property
    def events(self) -> int:
        """How many were written."""
        return sum(self.counts.values())

    def holder(self, _: int) -> SessionId:
        """The session that is written, whatever the version."""
        return self.session

    def put(self, caused: Caused) -> int:
        """Record an event, with the next batch."""
        self.clock = max(self.clock, caused.at or 0)
        self._waiting.append(caused._replace(at=self.clock))
        self._size += sum(len(v) for v in caused.event.__dict__.values() if isinstance(v, str))
        self.version += 1
        class_ = type(caused.event)
        self.counts[class_] = self.counts.get(class_, 0) + 1
        if len(self._waiting) >= BATCH or self._size >= BATCH_SIZE:
            self.flush()
        return self.version

    def flush(self) -> None:
        """Make durable what waits.

        Raises:
            SessionExists, LostRace: somebody else wrote here meanwhile.
        """
        if not self._waiting:
            return
        now, actor, command = self._draw
        draw = Draw(tuple(self._waiting), now, actor, command)
        if self._log is not None:
            if self._begun:
                after = self.version - len(self._waiting)
                self._log.append(self.session, after, draw)
            else:
                self._log.begin(self.session, self._onto, draw)
        self._begun, self._waiting, self._size = True, [], 0


class KnownPage:
    """A session that is there: what comes is compared, and what is new is written.

    Where all that is there was the same, the rest goes behind it. Where the source says otherwise,
    its course is written into a branch that parts from there.
    """

    def __init__(
        self,
        session: SessionId,
        there: Iterator[Recorded],
        clock: int,
        version: int,
        go_on: Callable[[], FreshPage],
        part: Callable[[SessionId, int], "FreshPage | KnownPage"],
        *,
        surely: bool = True,
    ) -> None:
        """Begin to compare.

        Args:
            session: which session.
            there: its events of :data:`WRITTEN`.
            clock: when the event before them was.
            version: of the event before them.
            go_on: makes the page behind the newest event.
            part: makes the page of the branch behind a version.
            surely: whether it is the same conversation even if all of it is different.
        """
        self.session = session
        self._there, self._go_on, self._part, self._surely = there, go_on, part, surely
        self._clock, self._version = clock, version
        self.behind: FreshPage | KnownPage | None = None
        """Where the rest is written."""
        self.compared = 0
        """How many events were the same."""

    @property
    def clock(self) -> int:
        """When the newest event was."""
        return self.behind.clock if self.behind is not None else self._clock

    @property
    def version(self) -> int:
        """The version of the newest event that was compared or written."""
        return self.behind.version if self.behind is not None else self._version

    def holder(self, version: int) -> SessionId:
        """The session of this page and its branches that has the version as the source has it."""
        if self.behind is None or version <= self._version:
            return self.session
        return self.behind.holder(version)

    def put(self, caused: Caused) -> int:
        """Compare an event with the next one, or record it.

        Raises:
            Parted: another one is there right at the beginning: it is another conversation.
        """
        if self.behind is not None:
            return self.behind.put(caused)
        if not isinstance(caused.event, WRITTEN):
            return self._version
        one = next(self._there, None)
        if one is None:
            self.behind = self._go_on()
            return self.behind.put(caused)
        if not _same(one, caused.event):
            if not self.compared and not self._surely:
                raise Parted
            self.behind = self._part(self.session, self._version)
            return self.behind.put(caused)
        self.compared += 1
        self._clock, self._version = one.at, one.version
        return one.version

    def flush(self) -> None:
        """Make durable what waits."""
        if self.behind is not None:
            self.behind.flush()


def _same(recorded: Recorded, event: Event) -> bool:
    """Whether an event is what the source says now, as far as it was known then."""
    there = recorded.event
    if there.kind != event.kind:
        return False
    if recorded.redacted:
        return True
    if isinstance(there, ToolUsed) and isinstance(event, ToolUsed) and there.result is None:
        return there == event.model_copy(update={"result": None, "failed": there.failed})
    return _blank(there) == _blank(event)


def _blank(event: Event) -> Event:
    """The event without what is added to it later, or not always."""
    if isinstance(event, ThoughtAdded):
        vector = ("embedding", "embedding_of", "embedding_model", "dimension")
        return event.model_copy(update=dict.fromkeys(vector))
    return event
