"""Which servers a store has, which stream is on which, and how to get there."""

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256

from commands.eventlog.postgres.directory import HOME, Cell, Silence, Watched, cells_of
from commands.eventlog.postgres.recorder import PostgresRecorder
from commands.eventlog.postgres.rows import Cursor
from domain.errors import LostRace
from domain.server_errors import BadPlace, ManyCells, NoSuchCell, StoreIsUnreachable
from domain.streams import family_of


class Routes:
    """The cells of a store, each reached when it is first asked.

    While there is but one, nothing is looked up. That it got company is noticed when streams are
    listed, or one is not found: the answers of the home cell say so, without a question more. The
    order that was read until then goes on.
    """

    def __init__(self, home: PostgresRecorder, cells: Sequence[Cell], only: str | None) -> None:
        """Look at a store's cells; each is reached when it is first asked.

        Args:
            home: the one that keeps the directory.
            cells: all of them.
            only: which of them is looked at alone; None for all.

        Raises:
            NoSuchCell: there is none of that name.
        """
        self.where = home.where
        self._home, self._only = home, only
        self._cells = {cell.name: cell.address for cell in cells}
        if only is not None and only not in self._cells:
            raise NoSuchCell(only, list(self._cells))
        self._ordered = HOME if self.is_alone else only
        self._silence = Silence()
        self._open: dict[str, PostgresRecorder] = {HOME: home}
        self._routes: dict[str, str] = {}
        self._opening: dict[str, threading.Lock] = {}

    @property
    def is_alone(self) -> bool:
        """Whether there is but one, as far as is known."""
        return len(self._cells) == 1

    def cell(self, name: str) -> PostgresRecorder:
        """One cell's rows.

        Raises:
            StoreIsUnreachable: it does not answer, or did not a moment ago.
            BadPlace: another store is there.
        """
        known = self._open.get(name)
        if known is not None:
            return known
        if name not in self._cells:  # it came since we looked
            self._look()
        with self._opening.setdefault(name, threading.Lock()):  # one silent cell holds up no other
            if name not in self._open:
                home, address = self._home.address, self._cells[name]
                address = address._replace(
                    synchronous=home.synchronous or address.synchronous, read_only=home.read_only
                )
                with self._silence.asking(name, address.shown):
                    found = PostgresRecorder(address)
                if (found.facts.cell, found.facts.cell_of) != (name, self._home.facts.id):
                    found.close()
                    raise BadPlace(address.shown, f"it is not the cell {name!r} of {self.where!r}")
                self._open[name] = found
            return self._open[name]

    @contextmanager
    def asked(self, name: str) -> Iterator[Cursor]:
        """A cursor of one cell, which reads."""
        recorder = self.cell(name)
        with recorder.reading() as cursor:
            is_home = name == HOME
            yield cursor if is_home else Watched(cursor, self._silence, name, recorder.where)

    def _has_company(self) -> bool:
        """Whether another cell came since there was but one."""
        if not (self.is_alone and self._only is None and self._home.has_cells):
            return False
        self._look()
        return len(self._cells) > 1

    def _look(self) -> None:
        self._cells = {cell.name: cell.address for cell in cells_of(self._home)}

    def parts(self, without: Collection[str] = ()) -> dict[str, PostgresRecorder]:
        """The cells that are looked at, each by itself."""
        return {name: self.cell(name) for name in self._looked_at() if name not in without}

    def close(self) -> None:
        """Let go of all servers."""
        for recorder in list(self._open.values()):
            recorder.close()

    # where things are

    def _route(self, stream: str) -> str:
        """The cell of a stream; home where it has no other."""
        if self.is_alone or family_of(stream) != "session":
            return HOME
        known = self._routes.get(stream)
        if known is None:
            query = f"SELECT cell FROM {self._home.address.schema}.routes WHERE stream=%s"  # noqa: S608
            with self._home.reading() as cursor:
                rows = cursor.fetch(query, (stream,))
                if not rows and self._home.birth(cursor, stream) is None:
                    return HOME  # it may begin anywhere yet
            known = self._routes[stream] = rows[0][0] if rows else HOME
        return known

    def _routes_of(self, streams: Collection[str]) -> dict[str, str]:
        """As :meth:`_route`, of many, in one question at most."""
        if self.is_alone:
            return dict.fromkeys(streams, HOME)
        new = {one for one in streams if family_of(one) == "session" and one not in self._routes}
        if new:
            query = f"SELECT stream, cell FROM {self._home.address.schema}.routes"  # noqa: S608
            with self._home.reading() as cursor:
                self._routes.update(cursor.fetch(f"{query} WHERE stream = ANY(%s)", (list(new),)))
        return {one: self._routes.get(one, HOME) for one in streams}

    def _chosen(self, stream: str) -> str:
        """The cell for a new root: what its name says, or the next one that answers.

        Two who begin it mostly agree; where they don't, the directory lets but one of them.
        """
        if family_of(stream) != "session":
            return HOME
        if self._only is not None:
            return self._only
        names = sorted(self._cells)
        first = int.from_bytes(sha256(stream.encode()).digest()[:8], "big") % len(names)
        return next(filter(self._answers, (*names[first:], *names[:first])))  # home always does

    def _answers(self, name: str) -> bool:
        try:
            self.cell(name)
        except StoreIsUnreachable:
            return False
        return True

    def _reserved(self, stream: str, cell: str) -> None:
        """Let the directory know of a stream that begins in a cell.

        Raises:
            LostRace: there is one of that name.
        """
        if cell == HOME:
            return
        with self._home.reading() as cursor:
            query = f"SELECT {self._home.address.schema}.reserve(%s, %s)"
            taken = cursor.fetch(query, (stream, cell))[0][0]
        if taken != cell:
            raise LostRace(f"session {stream!r} is in the cell {taken!r} already")
        self._routes[stream] = cell

    def _looked_at(self, *, anew: bool = False) -> list[str]:
        if self._only is not None:
            return [self._only]
        if anew:
            self._look()
        return list(self._cells)

    def _one(self) -> str:
        """The cell that a question about positions is about.

        Raises:
            ManyCells: the address names none.
        """
        if self._ordered is None:
            raise ManyCells(self.where, list(self._cells))
        return self._ordered
