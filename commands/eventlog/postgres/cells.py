"""A store on several servers: each session is in one cell, and so are all of its forks.

The *home* cell, at the store's address, keeps the directory: which other cells there are, and what
is in them. What has no route there is at home, as are all streams that are no sessions. A root
session's cell is chosen when it begins and never changes; a fork is where its parent is, so that
no history is on two servers. Positions are those of a cell, and there is no order between cells.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TypeVar

from eventsourcing.persistence import StoredEvent

from commands.eventlog.place import Address
from commands.eventlog.postgres.cursors import Cursors
from commands.eventlog.postgres.directory import HOME, Cell, cells_of
from commands.eventlog.postgres.recorder import PostgresRecorder
from commands.eventlog.postgres.routes import Routes
from commands.eventlog.recorder import Birth, Cursor, Mark, Part, Recorder, Tally, Told
from commands.eventlog.wire import Row
from domain.ids import SessionId
from domain.log import Log
from domain.reach import Away
from domain.recorded import Look, Recorded
from domain.server_errors import BadPlace, StoreIsUnreachable

Q = TypeVar("Q")
A = TypeVar("A")

_SHARED = frozenset({None, "session"})
"""The families of which there are streams in all cells."""


def opened(address: Address) -> Recorder:
    """The rows of a store, or of the one cell that the address names.

    Raises:
        NoSuchCell: it names none.
        BadPlace: it is the address of another store's cell.
        NoStore, StoreOfAnotherLayout, StoreIsUnreachable, …: as :class:`PostgresRecorder`.
    """
    home = PostgresRecorder(address)
    try:
        _is_whole(home)
        is_alone = not home.facts.has_cells and address.cell in {None, HOME}
        cells = [Cell(HOME, home.address)] if is_alone else cells_of(home)
        return Cells(home, cells, only=address.cell)
    except BaseException:
        home.close()
        raise


def _is_whole(home: PostgresRecorder) -> None:
    if home.facts.cell is not None:
        why = f"it is the cell {home.facts.cell!r} of another store: open that one"
        raise BadPlace(home.where, why)


class Cells(Routes):
    """A :class:`commands.eventlog.recorder.Recorder` over one server or several.

    Questions about a stream go to its cell. Those about the order of the whole store are answered
    for one cell alone, which the address has to name where there are several.
    """

    # contexts

    @contextmanager
    def reading(self) -> Iterator[Cursors]:
        """Cursors of whichever cells are asked."""
        with ExitStack() as stack:
            yield Cursors(self, stack, {}, None)

    @contextmanager
    def unmoving(self, stream: str) -> Iterator[Cursors]:
        """As :meth:`reading`, and all of a stream's family is as of one moment."""
        cell = self._route(stream)
        with ExitStack() as stack:
            cursor = stack.enter_context(self.cell(cell).unmoving())
            yield Cursors(self, stack, {cell: cursor}, None)

    @contextmanager
    def writing(self, stream: str, beside: str | None = None) -> Iterator[Cursors]:
        """Hold the right to write in the cell of a stream; others are read meanwhile."""
        cell = self._writes_in(stream, beside)
        with self.cell(cell).writing() as cursor, ExitStack() as stack:
            yield Cursors(self, stack, {cell: cursor}, cell)

    def _writes_in(self, stream: str, beside: str | None) -> str:
        if self.is_alone:  # where a name was taken meanwhile, home's guards say so
            return HOME
        with self.reading() as cursor:
            if self.birth(cursor, stream) is not None:
                return self._route(stream)
            if beside is not None:
                return self._route(beside)
        reserved = self._route(stream)  # by somebody who did not come to begin it
        return reserved if reserved != HOME else self._chosen(stream)

    # writing

    def insert_events(
        self,
        stored_events: Sequence[StoredEvent],
        behind: bytes | None = None,
        mark: bytes | None = None,
    ) -> Sequence[int]:
        """Write rows of one stream durably, all or none; their positions."""
        stream = str(stored_events[0].originator_id)
        return self.cell(self._route(stream)).insert_events(stored_events, behind, mark)

    def insert_beginning(
        self, stored_events: Sequence[StoredEvent], beside: str | None = None
    ) -> None:
        """Write the first rows of a stream durably, all or none."""
        if self.is_alone:  # as in _writes_in
            self._home.insert_events(stored_events)
            return
        with self.writing(str(stored_events[0].originator_id), beside) as cursor:
            self.insert_within(cursor, stored_events)

    def insert_within(self, cursor: Cursors, stored_events: Sequence[StoredEvent]) -> Sequence[int]:
        """The same inside of :meth:`writing`."""
        cell = cursor.writes()
        for row in stored_events:
            if row.originator_version == 1 or row.topic == "session.forked":
                self._reserved(str(row.originator_id), cell)
        return self.cell(cell).insert_within(cursor.of(cell), stored_events)

    def insert_at(self, cursor: Cursors, rows: Sequence[Row]) -> None:
        """Write rows at the positions that they bring along, above all that are there."""
        cell = cursor.writes()
        for row in rows:
            if row[1] == 1 or row[3] == "session.forked":
                self._reserved(row[0], cell)
        self.cell(cell).insert_at(cursor.of(cell), rows)

    def insert_aliases(
        self, cursor: Cursors, aliases: Iterable[tuple[str, str, str | None]]
    ) -> None:
        """Note streams whose name here, or whose parent's, is another than they were born with."""
        cell = cursor.writes()
        self.cell(cell).insert_aliases(cursor.of(cell), aliases)

    def replace_within(self, cursor: Cursors, rows: Sequence[tuple[int, bytes]]) -> None:
        """Give rows, by position, another state inside of :meth:`writing`: for redactions alone."""
        cell = cursor.writes()
        self.cell(cell).replace_within(cursor.of(cell), rows)

    def forget(self, *, rewrite: bool) -> bool:
        """Let the servers reuse the room of what rows once held."""
        gone = [self._forget(name, rewrite=rewrite) for name in self._looked_at()]
        return all(gone)

    def _forget(self, name: str, *, rewrite: bool) -> bool:
        try:
            return self.cell(name).forget(rewrite=rewrite)
        except StoreIsUnreachable:  # what was to go from the others is gone
            return False

    # of one stream

    def _of(self, cursor: Cursors, stream: str) -> tuple[PostgresRecorder, Cursor]:
        cell = self._route(stream)
        return self.cell(cell), cursor.of(cell)

    def rows(
        self,
        cursor: Cursors,
        stream: str,
        after: int,
        upto: int,
        limit: int,
        *,
        newest_first: bool = False,
        kinds: Sequence[str] = (),
    ) -> list[Row]:
        """At most ``limit`` rows of one stream with ``after < version <= upto``."""
        recorder, at = self._of(cursor, stream)
        return recorder.rows(at, stream, after, upto, limit, newest_first=newest_first, kinds=kinds)

    def rows_at(self, cursor: Cursors, stream: str, versions: Sequence[int]) -> list[Row]:
        """The rows of one stream at just these versions."""
        recorder, at = self._of(cursor, stream)
        return recorder.rows_at(at, stream, versions)

    def birth(self, cursor: Cursors, stream: str) -> Birth | None:
        """How a stream began; None where it did not."""
        recorder, at = self._of(cursor, stream)
        found = recorder.birth(at, stream)
        if found is None and self._has_company():
            return self.birth(cursor, stream)
        return found

    def births(self, cursor: Cursors, streams: Sequence[str]) -> list[Birth]:
        """How these streams began, without those that did not."""
        return [
            birth
            for cell, some in self._by_cell(streams).items()
            for birth in self.cell(cell).births(cursor.of(cell), [streams[n] for n in some])
        ]

    def newest_of(self, cursor: Cursors, looks: Sequence[Look]) -> list[Row | None]:
        """What each look finds, if anything."""
        streams = [look.segment.stream for look in looks]
        return self._each(cursor, streams, looks, PostgresRecorder.newest_of)

    def rows_of(self, cursor: Cursors, parts: Sequence[Part], limit: int) -> list[list[Row]]:
        """At most ``limit`` rows of each part."""
        ask = partial(PostgresRecorder.rows_of, limit=limit)
        return self._each(cursor, [part[0] for part in parts], parts, ask)

    def tallies(self, cursor: Cursors, streams: Sequence[str]) -> list[Tally]:
        """How many rows there are of each of these streams."""
        return self._each(cursor, streams, streams, PostgresRecorder.tallies)

    def _each(
        self,
        cursor: Cursors,
        streams: Sequence[str],
        asked: Sequence[Q],
        ask: Callable[[PostgresRecorder, Cursor, Sequence[Q]], Sequence[A]],
    ) -> list[A]:
        """What the cells of these streams answer, in the order of the questions."""
        found: dict[int, A] = {}
        for cell, some in self._by_cell(streams).items():
            answers = ask(self.cell(cell), cursor.of(cell), [asked[n] for n in some])
            found.update(zip(some, answers, strict=True))
        return [found[n] for n in range(len(asked))]

    def _by_cell(self, streams: Sequence[str]) -> dict[str, list[int]]:
        """Which of these are in which cell."""
        found, routes = dict[str, list[int]](), self._routes_of(streams)
        for number, stream in enumerate(streams):
            found.setdefault(routes[stream], []).append(number)
        return found

    def newest_version(self, cursor: Cursors, stream: str) -> int:
        """The highest version of a stream; 0 if it has none."""
        recorder, at = self._of(cursor, stream)
        return recorder.newest_version(at, stream)

    # of all cells that are looked at

    def streams(self, cursor: Cursors, family: str | None = None) -> list[str]:
        """All streams, or those of a family, in order of their beginnings, cell after cell."""
        found, silent = self._listed(cursor, family)
        for error in silent.values():
            raise error
        return found

    def reached(self, cursor: Cursors, family: str | None = None) -> tuple[list[str], list[Away]]:
        """The same of the cells that answer, and what the directory knows of the others."""
        found, silent = self._listed(cursor, family)
        query = f"SELECT stream FROM {self._home.address.schema}.routes WHERE cell=%s ORDER BY 1"  # noqa: S608
        away = []
        for name, error in silent.items():
            rows = cursor.of(HOME).fetch(query, (name,))
            names = tuple(SessionId(row[0]) for row in rows)
            away.append(Away(name, self._cells[name].shown, names, error.sentence))
        return found, away

    def _listed(
        self, cursor: Cursors, family: str | None
    ) -> tuple[list[str], dict[str, StoreIsUnreachable]]:
        """The streams of all cells that answer, and what the others met with."""
        found: list[str] = []
        if family not in _SHARED or self._only in {None, HOME}:
            found += self._home.streams(cursor.of(HOME), family)
        if family not in _SHARED:
            return found, {}
        if not self.is_alone or self._home.has_cells:
            self._looked_at(anew=True)
        names = [name for name in self._looked_at() if name != HOME]
        answers, silent = cursor.each(names, lambda cell, its: cell.streams(its, family))
        if self._only is not None:
            for error in silent.values():
                raise error
        return found + [stream for some in answers for stream in some], silent

    def relatives(self, cursor: Cursors, stream: str) -> list[str]:
        """The sessions of a stream's cell."""
        recorder, at = self._of(cursor, stream)
        return recorder.streams(at, "session")

    def cell_of(self, stream: str) -> str | None:
        """The cell that a stream is in, where that is not the one whose order is read here."""
        cell = self._route(stream)
        return None if cell == self._ordered else cell

    def cells(self) -> list[str]:
        """Those that are looked at, where the address names none."""
        return [] if self.is_alone or self._only is not None else self._looked_at(anew=True)

    def born_as(self, cursor: Cursors, name: str) -> list[str]:
        """The streams that were born with a name, the one that still has it first."""
        found = [
            stream
            for cell in self._looked_at()
            for stream in self.cell(cell).born_as(cursor.of(cell), name)
        ]
        return sorted(found, key=lambda stream: stream != name)

    def aliases(self, cursor: Cursors) -> list[tuple[str, str, str | None]]:
        """All streams whose name, or whose parent's, is another here."""
        cells = self._looked_at()
        return [alias for name in cells for alias in self.cell(name).aliases(cursor.of(name))]

    def redactions(self, cursor: Cursors) -> int:
        """How many events were redacted."""
        return sum(self.cell(name).redactions(cursor.of(name)) for name in self._looked_at())

    def marks(self, cursor: Cursors, stream: str | None = None) -> list[Mark]:
        """The marks of all cells that answer, or just of the one that a stream is in."""
        if stream is not None:
            return [self._mark(cursor, self._route(stream))]
        found = []
        for name in self._looked_at(anew=True):
            with suppress(StoreIsUnreachable):
                found.append(self._mark(cursor, name))
        return found

    def _mark(self, cursor: Cursors, cell: str) -> Mark:
        return Mark(cell, self.cell(cell).mark(cursor.of(cell)))

    def orders(self) -> list[PostgresRecorder]:
        """The cells that are looked at."""
        return [self.cell(name) for name in self._looked_at(anew=True)]

    def apart(self, streams: Iterable[str]) -> list[list[str]]:
        """Streams by their cells."""
        found: dict[str, list[str]] = {}
        for stream in streams:
            found.setdefault(self._route(stream), []).append(stream)
        return list(found.values())

    # of one cell

    def rows_by_position(self, cursor: Cursors, after: int, limit: int) -> list[Row]:
        """At most ``limit`` rows of the cell behind a position."""
        name = self._one()
        return self.cell(name).rows_by_position(cursor.of(name), after, limit)

    def last(self, cursor: Cursors) -> Row | None:
        """The newest row of the cell: nothing will ever appear below it."""
        name = self._one()
        return self.cell(name).last(cursor.of(name))

    def mark(self, cursor: Cursors) -> bytes:
        """What no other history of redactions has, of the cell."""
        name = self._one()
        return self.cell(name).mark(cursor.of(name))

    def follow(self, log: Log, after: int, stop: threading.Event, told: Told) -> Iterator[Recorded]:
        """Events of the cell behind a position, then each new one soon after its commit."""
        return self.cell(self._one()).follow(log, after, stop, told)
