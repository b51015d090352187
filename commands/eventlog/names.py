"""Which streams there are in a log, and in which part of the store each is."""

from commands.eventlog.lineage import Lineage
from commands.eventlog.place import Place
from commands.eventlog.recorder import Recorder
from domain.ids import SessionId
from domain.reach import Reached
from domain.streams import Family


class Names:
    """What can be asked of a log about names alone."""

    place: Place
    _recorder: Recorder
    _lineage: Lineage

    def exists(self, session: SessionId) -> bool:
        """Whether a session of this name has begun."""
        return self._lineage.exists(session)

    def sessions(self) -> list[SessionId]:
        """All sessions, in order of their beginnings."""
        return self.streams("session")

    def streams(self, family: Family | None = None) -> list[SessionId]:
        """All streams, or those of a family, in order of their beginnings."""
        with self._recorder.reading() as cursor:
            return [SessionId(stream) for stream in self._recorder.streams(cursor, family)]

    def born_as(self, name: str) -> list[SessionId]:
        """The sessions that began under a name, whatever they are called here."""
        with self._recorder.reading() as cursor:
            return [SessionId(stream) for stream in self._recorder.born_as(cursor, name)]

    def reached(self, family: Family | None = None) -> Reached:
        """As :meth:`streams`, of what answers; and which cells do not: see there."""
        with self._recorder.reading() as cursor:
            found, away = self._recorder.reached(cursor, family)
        return Reached([SessionId(stream) for stream in found], away)

    def relatives(self, session: SessionId) -> list[SessionId]:
        """Sessions among which are all that share history with this one, parents first.

        Those of its cell, where the store has several: no other one is asked.
        """
        with self._recorder.reading() as cursor:
            return [SessionId(name) for name in self._recorder.relatives(cursor, session)]

    def place_of(self, session: SessionId) -> Place:
        """Where a stream is in one order with all that shares history with it.

        The store itself, or the one of its cells that the stream is in.
        """
        cell = self._recorder.cell_of(session)
        return self.place if cell is None else self.place.with_options(cell=cell)

    def places(self) -> list[Place]:
        """The places of its parts that have an order of their own each; itself for most stores."""
        names = self._recorder.cells()
        return [self.place.with_options(cell=name) for name in names] or [self.place]
