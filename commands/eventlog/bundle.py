"""Sessions in one file, and back: a bundle is a log like any other, cut to what it is about.

Its rows are those of the log, byte for byte, so their hashes are the same in every store, and
whoever gets it proves it as any history is proved, before a single row is taken over.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from eventsourcing.persistence import StoredEvent

from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.lineage import Birth, Lineage
from commands.eventlog.recorder import Cursor, Recorder
from commands.eventlog.sqlite.faults import translated
from commands.eventlog.sqlite.layout import SCHEMA, checked, database_uri, lay_out, put_in_place
from commands.eventlog.sqlite.recorder import SqliteRecorder
from commands.eventlog.verify import verify_streams
from commands.eventlog.wire import EventMapper, Row
from domain.errors import BadBundle, LogosphereError
from domain.events import EventRedacted
from domain.ids import SessionId, session_id
from domain.recorded import Recorded
from domain.session import Session, evolve

PAGE = 512
REASON = 300
_NEWEST = 2**62
_LATEST = 250_000_000_000_000_000
"""Microseconds since 1970 that every calendar can show, in any time zone."""

_REDACTED = ("event.redacted",)
_NONSENSE = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""What events may cause that nobody can have written with Logosphere."""


class Taken(NamedTuple):
    """What an import did with one session of a bundle."""

    session: SessionId
    """Its name in the bundle."""
    name: SessionId
    """Its name here."""
    what: Literal["new", "longer", "known"]
    events: int
    """How many came."""
    redacted: int
    """How many that were here lost their content, as they did there."""


class _Open(NamedTuple):
    """A log that is being read, or written, by somebody who has begun."""

    recorder: Recorder
    cursor: Cursor


# out


def write_bundle(
    recorder: Recorder,
    mapper: EventMapper,
    lineage: Lineage,
    sessions: Iterable[SessionId],
    file: Path,
) -> tuple[list[SessionId], int]:
    """Write sessions and what they descend from into a new file: all of it or nothing.

    Returns:
        The streams that are in it, and how many events.

    Raises:
        BadBundle: there is a file of that name.
        LogosphereError: it can't be written, or the log can't be read.
    """
    count = 0
    # in one reading, or an event and the word of its redaction would not be of the same moment
    sessions = list(sessions)
    with recorder.unmoving(sessions[0]) as cursor:
        source = _Open(recorder, cursor)
        streams = _needed(source, mapper, lineage, sessions)
        with _new(file) as target:
            for stream, upto in streams.items():
                for rows in _pages(source, stream, upto):
                    _insert(target, stream, rows)
                    count += len(rows)
                birth, path = lineage.birth(stream), lineage.path(stream)
                # where its parent stays behind, it descends from whom its past is from
                cut = birth.parent is not None and birth.parent not in streams
                parent = path[1].stream if cut else birth.parent
                _alias(target, source, mapper, stream, stream, parent)
    return list(streams), count


def _needed(
    source: _Open, mapper: EventMapper, lineage: Lineage, sessions: Iterable[SessionId]
) -> dict[SessionId, int]:
    """The streams that sessions consist of, ancestors first, and up to which version each.

    An ancestor goes along as far as it is shared, and on to where something in that part was
    redacted: without the word of it, an emptied event could not be told from a forged one. One
    that was forked below its own beginning shares nothing, and stays behind.
    """
    upto: dict[SessionId, int] = {}
    for session in sessions:
        for stream, _, high in reversed(lineage.path(session)):
            upto[stream] = max(upto.get(stream, 0), _NEWEST if high is None else high)
    for stream, least in upto.items():
        rows = source.recorder.rows(source.cursor, stream, least, _NEWEST, _NEWEST, kinds=_REDACTED)
        for row in rows:  # each may bring along emptied events that the next ones are about
            if _about(mapper, row) <= upto[stream]:
                upto[stream] = row[1]
    return upto


def _about(mapper: EventMapper, row: Row) -> int:
    """The version that an ``event.redacted`` is about."""
    event = mapper.recorded(row).event
    if not isinstance(event, EventRedacted):
        raise TypeError(row[3])
    return event.version


@contextmanager
def _new(file: Path) -> Iterator[_Open]:
    """The tables of a bundle, to be filled; it is there when they are."""
    if not file.parent.is_dir():
        raise BadBundle(str(file), "there is no such directory")
    try:
        with put_in_place(file) as new:
            lay_out(new)
            with closing(SqliteRecorder(new)) as recorder, recorder.writing() as cursor:
                yield _Open(recorder, cursor)
            with closing(sqlite3.connect(database_uri(new, mode="mode=rw"), uri=True)) as target:
                target.execute("PRAGMA journal_mode=DELETE")
    except FileExistsError:
        raise BadBundle(str(file), "it is there already: name another file") from None
    except OSError as error:  # such as a name that is too long
        raise translated(error, str(file)) from error


# in


class Bundle:
    """A bundle that has been proved: its rows hang together, and every state can be folded."""

    def __init__(self, file: Path) -> None:
        """Read and check all of it.

        Raises:
            NotAStore, StoreOfAnotherLayout, BadBundle: it is none, or not as it was written.
        """
        if not file.exists():
            raise BadBundle(str(file), "there is no such file")
        checked(file)
        wal = file.with_name(file.name + "-wal")
        if wal.exists() and wal.stat().st_size:
            why = f"its newest events are still in {wal.name}: make it by mind export session"
            raise BadBundle(str(file), why)
        self.recorder = SqliteRecorder(file, mode="mode=ro&immutable=1")
        self.mapper = EventMapper()
        self.lineage = Lineage(self.recorder, self.mapper)
        try:
            self._check(file)
            self._fold(file)
        except BadBundle:
            self.recorder.close()
            raise
        except (LogosphereError, *_NONSENSE) as error:
            self.recorder.close()
            raise BadBundle(str(file), _short(error)) from error

    def close(self) -> None:
        """Let go of the file."""
        self.recorder.close()

    def _check(self, file: Path) -> None:
        with self.recorder.reading() as cursor:
            if _tables(cursor) != _our_tables():
                raise BadBundle(str(file), "its tables are not those of a log")
            # what an index hides from us would be left out without a word
            cursor.execute("PRAGMA integrity_check(1)")
            said = cursor.fetchone()[0]
            if said != "ok":
                raise BadBundle(str(file), f"the file is damaged ({_short(said)})")
            cursor.execute(
                "SELECT originator_id, min(rowid) FROM stored_events GROUP BY 1 ORDER BY 2"
            )
            self.sessions = [session_id(row[0]) for row in cursor.fetchall()]
        if not self.sessions:
            raise BadBundle(str(file), "there is no session in it")
        passed: set[SessionId | None] = {None}
        for session in self.sessions:
            birth = self.lineage.birth(session)
            session_id(birth.name)
            if birth.parent not in passed:
                raise BadBundle(str(file), f"{session} comes before what it branched off")
            passed.add(session)
        for verdict in verify_streams(self.recorder, self.mapper, self.sessions):
            if verdict.findings:
                why = f"{verdict.session}: {verdict.findings[0].sentence}"
                raise BadBundle(str(file), why)

    def _fold(self, file: Path) -> None:
        """Fold every session once: what decides later must not stumble over it."""
        origins: dict[SessionId, Session] = {}
        forks: dict[SessionId, list[tuple[int, SessionId]]] = {}
        for session in self.sessions:
            path = self.lineage.path(session)
            if len(path) > 1:
                forks.setdefault(path[1].stream, []).append((path[0].after, session))
        with self.recorder.reading() as cursor:
            for session in self.sessions:
                state, born_at = origins.pop(session, None), forks.get(session, [])
                for rows in _pages(_Open(self.recorder, cursor), session, _NEWEST):
                    for row in rows:
                        state = _evolved(file, state, self.mapper.recorded(row))
                        for at, child in born_at:
                            if at == state.version:
                                origins[child] = state


def _evolved(file: Path, state: Session | None, recorded: Recorded) -> Session:
    try:
        if not 0 <= recorded.at < _LATEST:
            raise ValueError(f"a time of {recorded.at} µs")
        return evolve(state, recorded)
    except _NONSENSE as error:
        where = f"event {recorded.version} of {recorded.session} does not fit what is before it"
        raise BadBundle(str(file), f"{where} ({_short(error)})") from error


def _short(reason: object) -> str:
    """What somebody else's data may have been quoted in, on one line."""
    line = " ".join(str(reason).split())
    return line if len(line) <= REASON else line[: REASON - 1] + "…"


def _tables(cursor: sqlite3.Cursor) -> list[tuple[str, ...]]:
    """All that a database is made of; a trigger or view more would be somebody else's program."""
    cursor.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master")
    return sorted(cursor.fetchall())


def _our_tables() -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(":memory:")) as blank:
        for statement in SCHEMA:
            blank.execute(statement)
        return _tables(blank.cursor())


def take_over(bundle: Bundle, recorder: Recorder) -> list[Taken]:
    """Bring the sessions of a bundle into a log: all of them or none.

    A session that is here already is left alone, or gets the events that are new; another one
    of the same name stays what it is, and the bundle's gets another name.
    """
    names: dict[SessionId, SessionId] = {}
    taken: list[Taken] = []
    with bundle.recorder.reading() as reading, recorder.reading() as looking:
        root = bundle.sessions[0]
        birth = bundle.lineage.birth(root)
        # it may be here under another name, and its own be another's, perhaps in another cell
        here, _ = _same(_Open(recorder, looking), _Open(bundle.recorder, reading), root, birth)
    with bundle.recorder.reading() as reading, recorder.writing(here or root) as writing:
        ours, theirs = _Open(recorder, writing), _Open(bundle.recorder, reading)
        for session in bundle.sessions:
            birth = bundle.lineage.birth(session)
            here, behind = _same(ours, theirs, session, birth)
            name = here or _free(ours, session, bundle.sessions)
            names[session] = name
            if here is None:
                parent = names[birth.parent] if birth.parent is not None else None
                _alias(ours, theirs, bundle.mapper, session, name, parent)
            count = redacted = 0
            for rows in _pages(theirs, session, _NEWEST, behind):
                _insert(ours, name, rows)
                count += len(rows)
                if here is not None:
                    redacted += _redact_here(ours, theirs, bundle.mapper, session, name, rows)
            what: Literal["new", "longer", "known"] = (
                "new" if here is None else "longer" if count else "known"
            )
            taken.append(Taken(session, name, what, count, redacted))
    return taken


def _same(
    ours: _Open, theirs: _Open, session: SessionId, birth: Birth
) -> tuple[SessionId | None, int]:
    """The stream here that is this very one, and the version behind which it lacks events."""
    newest = theirs.recorder.newest_version(theirs.cursor, session)
    for stream in ours.recorder.born_as(ours.cursor, birth.name):
        own = ours.recorder.newest_version(ours.cursor, stream)
        common = min(own, newest)
        here = ours.recorder.rows_at(ours.cursor, stream, [common])
        there = theirs.recorder.rows_at(theirs.cursor, session, [common])
        if here and there and here[0][4][:HASH_LENGTH] == there[0][4][:HASH_LENGTH]:
            return SessionId(stream), own
    return None, 0


def _free(ours: _Open, wanted: SessionId, others: Iterable[SessionId]) -> SessionId:
    """The name, or the first numbered one that nobody has."""
    name, number, theirs = wanted, 1, set(others) - {wanted}
    while ours.recorder.birth(ours.cursor, name) is not None or name in theirs:
        number += 1
        name = session_id(f"{wanted[: 78 - len(str(number))].rstrip('-./_')}-{number}")
    return name


def _alias(
    into: _Open,
    source: _Open,
    mapper: EventMapper,
    stream: SessionId,
    name: SessionId,
    parent: SessionId | None,
) -> None:
    """Note by which names a stream's chain was sealed, where they are others there.

    Args:
        into: where it goes.
        source: where it comes from.
        mapper: reads rows.
        stream: its name where it comes from.
        name: its name where it goes.
        parent: the name there of the one it branched off.
    """
    found = source.recorder.birth(source.cursor, stream)
    if found is None:
        raise LookupError(stream)
    first, born, _ = found
    said = mapper.origin(first)[0] if first[3] == "session.forked" else None
    if (name, parent) != (born, said):
        into.recorder.insert_aliases(into.cursor, [(name, born, parent)])


def _redact_here(
    ours: _Open,
    theirs: _Open,
    mapper: EventMapper,
    session: SessionId,
    name: SessionId,
    rows: Iterable[Row],
) -> int:
    """Redact here what was redacted there since; how many events it was."""
    versions = [_about(mapper, row) for row in rows if row[3] in _REDACTED]
    stubs = {row[1]: row[4] for row in theirs.recorder.rows_at(theirs.cursor, session, versions)}
    changed = [
        (row[2], stubs[row[1]])
        for row in ours.recorder.rows_at(ours.cursor, name, list(stubs))
        if row[4] != stubs[row[1]]
    ]
    if changed:
        ours.recorder.replace_within(ours.cursor, changed)
    return len(changed)


def _pages(source: _Open, stream: SessionId, upto: int, after: int = 0) -> Iterator[list[Row]]:
    while True:
        try:
            rows = source.recorder.rows(source.cursor, stream, after, upto, PAGE)
        except sqlite3.Error as error:  # whoever writes what we read is in another file
            raise translated(error, source.recorder.where) from error
        if rows:
            yield rows
        if len(rows) < PAGE:
            return
        after = rows[-1][1]


def _insert(into: _Open, stream: SessionId, rows: Iterable[Row]) -> None:
    into.recorder.insert_within(
        into.cursor, [StoredEvent(stream, row[1], row[3], row[4]) for row in rows]
    )
