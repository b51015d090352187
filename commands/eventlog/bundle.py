"""Sessions in one file, and back: a bundle is a log like any other, cut to what it is about.

Its rows are those of the log, byte for byte, so their hashes are the same in every store, and
whoever gets it proves it as any history is proved, before a single row is taken over.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.layout import SCHEMA, checked, database_uri, lay_out, put_in_place
from commands.eventlog.lineage import Birth, Lineage
from commands.eventlog.recorder import EventRecorder
from commands.eventlog.verify import verify_stream
from commands.eventlog.wire import EventMapper, Row
from domain.errors import BadBundle, LogosphereError
from domain.events import EventRedacted
from domain.ids import SessionId, session_id
from domain.session import Session, evolve

PAGE = 512
_NEWEST = 2**62
_REDACTED = ("event.redacted",)


class Taken(NamedTuple):
    """What an import did with one session of a bundle."""

    session: SessionId
    """Its name in the bundle."""
    name: SessionId
    """Its name here."""
    what: Literal["new", "longer", "known"]
    events: int
    """How many came."""


def needed(
    recorder: EventRecorder, mapper: EventMapper, lineage: Lineage, sessions: Iterable[SessionId]
) -> dict[SessionId, int]:
    """The streams that sessions consist of, ancestors first, and up to which version each.

    An ancestor goes along as far as it is shared, and on to where something in that part was
    redacted: without the word of it, an emptied event could not be told from a forged one.
    """
    upto: dict[SessionId, int] = {}
    order: list[list[SessionId]] = []
    for session in sessions:
        line, stream = [session], session
        upto[session] = _NEWEST
        while (birth := lineage.birth(stream)).parent is not None:
            parent = birth.parent
            # an ancestor that was forked below its own beginning is only a name on the way
            least = max(birth.at, lineage.birth(parent).at + 1)
            upto[parent] = max(upto.get(parent, 0), least)
            line.append(parent)
            stream = parent
        order.append(line[::-1])
    for stream, least in upto.items():
        with recorder.reading() as cursor:
            rows = recorder.rows(cursor, stream, least, _NEWEST, _NEWEST, kinds=_REDACTED)
        upto[stream] = max([least, *(row[1] for row in rows if about(mapper, row) <= least)])
    return {stream: upto[stream] for line in order for stream in line}


def about(mapper: EventMapper, row: Row) -> int:
    """The version that an ``event.redacted`` is about."""
    event = mapper.recorded(row).event
    if not isinstance(event, EventRedacted):
        raise TypeError(row[3])
    return event.version


def write_bundle(recorder: EventRecorder, streams: Mapping[SessionId, int], file: Path) -> int:
    """Write streams, each up to a version, into a new file: all of it or nothing.

    Returns:
        How many events.

    Raises:
        BadBundle: there is a file of that name.
        LogosphereError: it can't be written, or the log can't be read.
    """
    count = 0
    with _new(file) as new:
        lay_out(new)
        with closing(sqlite3.connect(database_uri(new, mode="mode=rw"), uri=True)) as target:
            target.execute("BEGIN")
            for stream, upto in streams.items():
                for rows in _pages(recorder, stream, upto):
                    _insert(target.cursor(), rows)
                    count += len(rows)
                with recorder.reading() as cursor:
                    cursor.execute("SELECT * FROM aliases WHERE stream=?", (stream,))
                    target.executemany("INSERT INTO aliases VALUES (?,?,?)", cursor.fetchall())
            target.commit()
            target.execute("PRAGMA journal_mode=DELETE")
    return count


@contextmanager
def _new(file: Path) -> Iterator[Path]:
    try:
        with put_in_place(file) as new:
            yield new
    except FileExistsError:
        raise BadBundle(str(file), "there is one of that name: choose another") from None


class Bundle:
    """A bundle that has been proved: its rows hang together, and every state can be folded."""

    def __init__(self, file: Path) -> None:
        """Read and check all of it.

        Raises:
            NotAStore, StoreOfAnotherLayout, BadBundle: it is none, or not as it was written.
        """
        checked(file)
        self.recorder = EventRecorder(file, mode="mode=ro&immutable=1")
        self.mapper = EventMapper()
        self.lineage = Lineage(self.recorder, self.mapper)
        try:
            self._check(file)
        except BadBundle:
            self.recorder.close()
            raise
        except (LogosphereError, ValueError) as error:
            self.recorder.close()
            raise BadBundle(str(file), str(error)) from error

    def close(self) -> None:
        """Let go of the file."""
        self.recorder.close()

    def _check(self, file: Path) -> None:
        with self.recorder.reading() as cursor:
            cursor.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
            if tuple(row[0] for row in cursor.fetchall()) != SCHEMA:
                raise BadBundle(str(file), "its tables are not those of a log")
            cursor.execute(
                "SELECT originator_id, min(rowid) FROM stored_events GROUP BY 1 ORDER BY 2"
            )
            names = [row[0] for row in cursor.fetchall()]
        self.sessions = [session_id(name) for name in names]
        passed: set[SessionId | None] = {None}
        for session in self.sessions:
            if self.lineage.birth(session).parent not in passed:
                raise BadBundle(str(file), f"{session} comes before what it branched off")
            passed.add(session)
            verdict = verify_stream(self.recorder, self.mapper, session)
            if verdict.findings:
                raise BadBundle(str(file), f"{session}: {verdict.findings[0].sentence}")
        self._fold()

    def _fold(self) -> None:
        """Fold every session once: what decides later must not stumble over it."""
        origins: dict[SessionId, Session] = {}
        forks: dict[SessionId, list[tuple[int, SessionId]]] = {}
        for session in self.sessions:
            path = self.lineage.path(session)
            if len(path) > 1:
                forks.setdefault(path[1].stream, []).append((path[0].after, session))
        for session in self.sessions:
            state, born_at = origins.pop(session, None), forks.get(session, [])
            for rows in _pages(self.recorder, session, _NEWEST):
                for row in rows:
                    state = evolve(state, self.mapper.recorded(row))
                    for at, child in born_at:
                        if at == state.version:
                            origins[child] = state


def take_over(bundle: Bundle, recorder: EventRecorder) -> list[Taken]:
    """Bring the sessions of a bundle into a log: all of them or none.

    A session that is here already is left alone, or gets the events that are new; another one
    of the same name stays what it is, and the bundle's gets another name.
    """
    with recorder.writing() as cursor:
        names: dict[SessionId, SessionId] = {}
        taken: list[Taken] = []
        for session in bundle.sessions:
            birth = bundle.lineage.birth(session)
            here, behind = _same(cursor, recorder, bundle, session, birth)
            name = here or _free(cursor, recorder, session, bundle.sessions)
            names[session] = name
            if here is None:
                _alias(cursor, bundle, birth, session, names)
            count = 0
            for rows in _pages(bundle.recorder, session, _NEWEST, behind):
                _insert(cursor, [(name, *row[1:]) for row in rows])
                count += len(rows)
                if here is not None:
                    _redact_here(cursor, recorder, bundle, session, name, rows)
            what: Literal["new", "longer", "known"] = (
                "new" if here is None else "longer" if count else "known"
            )
            taken.append(Taken(session, name, what, count))
    return taken


def _same(
    cursor: sqlite3.Cursor,
    recorder: EventRecorder,
    bundle: Bundle,
    session: SessionId,
    birth: Birth,
) -> tuple[SessionId | None, int]:
    """The stream here that is this very one, and the version behind which it lacks events."""
    cursor.execute(
        "SELECT stream FROM aliases WHERE name=? UNION SELECT ? UNION SELECT ?",
        (birth.name, birth.name, session),
    )
    theirs = _last(bundle.recorder, session)
    for (stream,) in cursor.fetchall():
        found = recorder.birth(cursor, stream)
        own = recorder.rows(cursor, stream, 0, _NEWEST, 1, newest_first=True)
        if found is None or found[1] != birth.name or not own:
            continue
        common = min(own[0][1], theirs[1])
        ours = recorder.rows_at(cursor, stream, [common])
        with bundle.recorder.reading() as other:
            others = bundle.recorder.rows_at(other, session, [common])
        if ours and others and ours[0][4][:HASH_LENGTH] == others[0][4][:HASH_LENGTH]:
            return SessionId(stream), own[0][1]
    return None, 0


def _last(recorder: EventRecorder, stream: SessionId) -> Row:
    with recorder.reading() as cursor:
        return recorder.rows(cursor, stream, 0, _NEWEST, 1, newest_first=True)[0]


def _free(
    cursor: sqlite3.Cursor,
    recorder: EventRecorder,
    wanted: SessionId,
    others: Iterable[SessionId],
) -> SessionId:
    """The name, or the first numbered one that nobody has."""
    name, number, theirs = wanted, 1, set(others) - {wanted}
    while recorder.birth(cursor, name) is not None or name in theirs:
        number += 1
        name = session_id(f"{wanted[: 78 - len(str(number))].rstrip('-./_')}-{number}")
    return name


def _alias(
    cursor: sqlite3.Cursor,
    bundle: Bundle,
    birth: Birth,
    session: SessionId,
    names: Mapping[SessionId, SessionId],
) -> None:
    """Note by which names a stream's chain was sealed, where they are others here."""
    parent = names[birth.parent] if birth.parent is not None else None
    with bundle.recorder.reading() as other:
        first = bundle.recorder.birth(other, session)
    renamed = first is not None and first[2] is not None
    if names[session] != birth.name or parent != birth.parent or renamed:
        cursor.execute("INSERT INTO aliases VALUES (?,?,?)", (names[session], birth.name, parent))


def _redact_here(
    cursor: sqlite3.Cursor,
    recorder: EventRecorder,
    bundle: Bundle,
    session: SessionId,
    name: SessionId,
    rows: Iterable[Row],
) -> None:
    """What was redacted there since is redacted here as well."""
    versions = [about(bundle.mapper, row) for row in rows if row[3] in _REDACTED]
    if not versions:
        return
    with bundle.recorder.reading() as other:
        stubs = {row[1]: row[4] for row in bundle.recorder.rows_at(other, session, versions)}
    recorder.replace_within(
        cursor,
        [(row[2], stubs[row[1]]) for row in recorder.rows_at(cursor, name, list(stubs))],
    )


def _pages(
    recorder: EventRecorder, stream: SessionId, upto: int, after: int = 0
) -> Iterator[list[Row]]:
    while True:
        with recorder.reading() as cursor:
            rows = recorder.rows(cursor, stream, after, upto, PAGE)
        if rows:
            yield rows
        if len(rows) < PAGE:
            return
        after = rows[-1][1]


def _insert(cursor: sqlite3.Cursor, rows: Iterable[Row]) -> None:
    cursor.executemany(
        "INSERT INTO stored_events (originator_id, originator_version, topic, state)"
        " VALUES (?,?,?,?)",
        [(stream, version, kind, state) for stream, version, _, kind, state in rows],
    )
