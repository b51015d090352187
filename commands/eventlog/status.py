"""How a store stands: where it is, how large, and what would be lost with a machine."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple

from commands.eventlog.backends import LOG_FILE, may_write, recorder_of
from commands.eventlog.place import Place, prepared
from commands.eventlog.recorder import Recorder
from commands.eventlog.sqlite.faults import translated
from commands.eventlog.sqlite.layout import LAYOUT, checked, database_uri
from commands.eventlog.sqlite.recorder import SqliteRecorder
from domain.reach import Away

_FILES = {
    "log": LOG_FILE,
    "snapshots": "snapshots.db",
    "analytics": "analytics.duckdb",
    "search": "search.db",
    "views": "views.db",
}


class Standby(NamedTuple):
    """A server that follows, as the one that it follows says."""

    name: str
    state: str | None
    """``streaming``, or what it is at; None where the present role may not see it."""
    sync_state: str | None
    """``sync``, ``quorum``, ``potential`` or ``async``."""
    bytes: int | None
    """How much of the write-ahead log it has not replayed yet."""
    seconds: float | None
    """How long ago what it replayed last was written; None while nothing is written."""


class Said(NamedTuple):
    """What follows from how things stand."""

    how: Literal["well", "note", "warning", "bad"]
    sentence: str


class Status(NamedTuple):
    """How a store stands, or one cell of it."""

    where: str
    kind: Literal["sqlite", "postgresql"]
    version: str
    layout: int
    id: str | None
    """Of a store on a server: the same for all who reach it, however they call it."""
    cell: str | None
    """Which one of a store that has several."""
    events: int
    position: int
    """The newest one."""
    numbered: Literal["densely", "by transaction"]
    """How positions are."""
    streams: int
    sessions: int
    redactions: int
    sizes: dict[str, int]
    """Bytes, by what they hold."""
    home: Path
    """What lies on this machine."""
    settings: dict[str, str]
    """Those of the server, or of the file, that matter to what survives a crash."""
    standby_of: str | None
    """What is asked is a standby itself, and how far it is behind."""
    standbys: tuple[Standby, ...]
    said: tuple[Said, ...]


class Stand(NamedTuple):
    """How a store stands."""

    parts: list[Status]
    """The one that most stores are; else the cells that answer."""
    away: Sequence[Away] = ()
    """The others."""


class Counted(NamedTuple):
    """What is the same for all stores."""

    position: int
    streams: int
    sessions: int
    redactions: int


def statuses(place: Place) -> Stand:
    """How a store stands; of one with several cells, each.

    Raises:
        NoStore, NotAStore, CopyIsUnfinished, StoreIsUnreachable: there is nothing to look at.
    """
    place = prepared(place)
    recorder = recorder_of(place, writable=may_write(place))
    try:
        if place.url is None:
            return Stand([_of_files(recorder, place.home)])
        from commands.eventlog.postgres.status import statuses_of  # noqa: PLC0415 — brings psycopg

        return statuses_of(recorder, place)
    finally:
        recorder.close()


def why_closed(place: Place) -> str | None:
    """Why the present user can't write to a store, as a clause; None where he can.

    A server is asked: of several cells, those that answer.

    Raises:
        NoStore, NotAStore, CopyIsUnfinished, StoreIsUnreachable: there is nothing to ask.
    """
    place = prepared(place)
    if place.url is None:
        return None if may_write(place) else "its directory, or log.db in it, may only be read"
    recorder = recorder_of(place, writable=True)
    try:
        from commands.eventlog.postgres.rights import why_closed as asked  # noqa: PLC0415 — as above

        return asked(recorder)
    finally:
        recorder.close()


def counted(recorder: Recorder) -> Counted:
    """What can be asked of any store."""
    with recorder.reading() as cursor:
        last = recorder.last(cursor)
        streams = recorder.streams(cursor)
        return Counted(
            last[2] if last else 0,
            len(streams),
            sum(":" not in stream for stream in streams),
            recorder.redactions(cursor),
        )


def sizes(home: Path, *, without: str = "") -> dict[str, int]:
    """The sizes of what lies in a directory, with what is kept beside each file."""
    found = {}
    for what, name in _FILES.items():
        files = [home / f"{name}{end}" for end in ("", "-wal", ".wal")]
        size = sum(file.stat().st_size for file in files if file.exists())
        if size and what != without:
            found[what] = size
    return found


def _of_files(recorder: Recorder, home: Path) -> Status:
    if not isinstance(recorder, SqliteRecorder):
        raise TypeError(recorder)
    with recorder.reading() as cursor:
        events = cursor.execute("SELECT count(*) FROM stored_events").fetchone()[0]
        journal = cursor.execute("PRAGMA journal_mode").fetchone()[0]
    if "immutable" in recorder.mode:  # where SQLite answers for all files alike
        journal = None
    said = [
        Said(
            "note",
            "One file on this machine: what its disk loses is lost, so keep a copy elsewhere"
            " (mind store copy).",
        )
    ]
    if journal not in {"wal", None}:
        why = "readers and writers wait for each other: say mind store migrate"
        said.append(Said("warning", f"The file is in journal mode {journal}, in which {why}."))
    count = counted(recorder)
    return Status(
        where=str(home),
        kind="sqlite",
        version=sqlite3.sqlite_version,
        layout=LAYOUT,
        id=None,
        cell=None,
        events=events,
        position=count.position,
        numbered="densely",
        streams=count.streams,
        sessions=count.sessions,
        redactions=count.redactions,
        sizes=sizes(home),
        home=home.absolute(),
        settings={"journal_mode": journal} if journal else {},
        standby_of=None,
        standbys=(),
        said=tuple(said),
    )


def keep_writers_apart(place: Place) -> bool:
    """Let readers and writers of a file not wait for each other; whether that was to be done.

    It is so from the beginning; a backup by ``VACUUM INTO`` does not keep it.

    Raises:
        NoStore, NotAStore, CopyIsUnfinished: there is none.
        StoreIsReadOnly, StoreIsBusy: it can't be changed.
    """
    file = place.home / LOG_FILE
    checked(file)
    try:
        with closing(sqlite3.connect(database_uri(file, mode="mode=rw"), uri=True)) as writing:
            if writing.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
                return False
            return bool(writing.execute("PRAGMA journal_mode=WAL").fetchone()[0] == "wal")
    except sqlite3.Error as error:
        raise translated(error, str(file)) from error
