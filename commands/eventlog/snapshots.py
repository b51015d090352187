"""States kept so that no one has to fold a long history: a cache that may be deleted any time.

Each snapshot names the chain hash of its moment. It counts only while the log has that very hash
there, so a snapshot can be lost, but never lie about another history. A parent's snapshot serves
every fork above it.
"""

import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgpack
from pydantic import BaseModel, TypeAdapter, ValidationError

from commands.eventlog.recorder import Mark
from commands.eventlog.sqlite.layout import database_uri
from domain.ids import SessionId
from domain.session import SHAPE, Session

EVERY = 120
"""Events between snapshots: folding half as many, the usual case, takes a millisecond."""

_LAYOUT = """CREATE TABLE IF NOT EXISTS states (
    session TEXT NOT NULL, version INTEGER NOT NULL, shape INTEGER NOT NULL,
    cell TEXT NOT NULL, mark BLOB NOT NULL,
    hash BLOB NOT NULL, crc INTEGER NOT NULL, state BLOB NOT NULL,
    UNIQUE (session, version, shape))"""


T = TypeVar("T")

_TORN = (sqlite3.Error, OSError, ValueError, TypeError)
"""What reading a damaged file may raise: the texts of SQLite's own errors can be torn, too."""


_SAVE = "INSERT OR REPLACE INTO states VALUES (?,?,?,?,?,?,?,?)"
_DROP = "DELETE FROM states WHERE session=? AND version=?"
_FORGET = "DELETE FROM states WHERE cell=? AND mark<>?"
_NEWEST = """SELECT version, hash, crc, state FROM states
    WHERE session=? AND version>? AND version<=? AND shape=? AND cell=? AND mark=?
    ORDER BY version DESC LIMIT 1"""
_KEPT = """SELECT version, hash, crc, state FROM states
    WHERE session=? AND version>? AND shape=? AND cell=? AND mark=? ORDER BY version LIMIT 1"""


class Snapshot(NamedTuple):
    """A state and the chain hash of its moment."""

    state: Session
    hash: bytes


class Snapshots:
    """The snapshots of a store, in a file of their own; every failure is silent and harmless."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self._path = path
        self._writable = writable
        self._connection: sqlite3.Connection | None = None
        self._broken = False
        self._forgotten = set[Mark]()
        self._lock = threading.Lock()

    def save(self, stream: SessionId, snapshots: Iterable[Snapshot], mark: Mark) -> None:
        """Keep states of moments that ``stream`` itself holds.

        Args:
            stream: the session.
            snapshots: its states.
            mark: that of the stream's part of the store when these were folded.
        """
        rows = [
            (stream, s.state.version, SHAPE, *mark, s.hash, zlib.crc32(packed), packed)
            for s in snapshots
            for packed in (_encoded(s.state),)
        ]
        self._try(lambda connection: connection.executemany(_SAVE, rows), writing=True)

    def drop(self, stream: SessionId, version: int) -> None:
        """Forget a snapshot that the log does not bear out."""
        self._try(lambda connection: connection.execute(_DROP, (stream, version)), writing=True)

    def forget(self, mark: Mark, *, thorough: bool) -> bool:
        """Delete, for good, what was kept of a part of the store under other marks.

        Args:
            mark: that of the part now.
            thorough: empty the write-ahead log in any case, which may have to wait for others.

        Returns:
            Whether nothing is left of it; the file may be in use, or out of order.
        """
        self._forgotten.add(mark)

        def delete(connection: sqlite3.Connection) -> bool:
            forgotten = connection.execute(_FORGET, mark).rowcount
            connection.commit()  # neither of these is possible within a transaction
            if forgotten:
                connection.execute("VACUUM")  # see SqliteRecorder.forget
            elif not thorough:
                return True
            return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]

        return not self._path.exists() or self._try(delete, writing=True) is True

    def kept(self, stream: SessionId, mark: Mark) -> Iterator[tuple[int, Snapshot | None]]:
        """All that is kept of a stream: versions and snapshots, None where one can't be read."""
        version = 0

        def look(connection: sqlite3.Connection) -> tuple[int, Snapshot | None] | None:
            span = (stream, version, SHAPE, *mark)
            row = connection.execute(_KEPT, span).fetchone()
            return None if row is None else (int(row[0]), self._read(*row[1:]))

        while (found := self._try(look, writing=False)) is not None:
            yield found
            version = found[0]

    def newest(
        self, parts: Iterable[tuple[SessionId, int, int]], mark: Mark
    ) -> tuple[SessionId, int, Snapshot | None] | None:
        """The newest snapshot within these parts of a path (youngest first).

        Args:
            parts: of the path.
            mark: that of their part of the store now.

        Returns:
            Its stream, its version, and the snapshot, or None in its place if it can't be read.
        """

        def look(
            connection: sqlite3.Connection,
        ) -> tuple[SessionId, int, Snapshot | None] | None:
            for stream, after, upto in parts:
                span = (stream, after, upto, SHAPE, *mark)
                row = connection.execute(_NEWEST, span).fetchone()
                if row is not None:
                    return stream, int(row[0]), self._read(*row[1:])
            return None

        # whoever redacted may have been killed before this
        if mark.redactions and mark not in self._forgotten:
            self.forget(mark, thorough=False)
        return self._try(look, writing=False)

    def _try(self, action: Callable[[sqlite3.Connection], T], *, writing: bool) -> T | None:
        """Do something with the file, one thread at a time; give the file up when it fails."""
        with self._lock:
            if self._broken or not (self._writable or (not writing and self._path.exists())):
                return None
            try:
                with self._open() as connection:
                    return action(connection)
            except _TORN:
                self._broken = True
                self._let_go()
                return None

    @staticmethod
    def _read(hash_: bytes, crc: int, packed: bytes) -> Snapshot | None:
        try:
            if zlib.crc32(packed) != crc:
                return None
            return Snapshot(_decoded(packed), hash_)
        except (ValidationError, ValueError, TypeError, zlib.error, msgpack.UnpackException):
            return None

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._let_go()

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            mode = "mode=rwc" if self._writable else "mode=ro"
            connection = sqlite3.connect(
                database_uri(self._path, mode=mode), uri=True, timeout=1, check_same_thread=False
            )
            self._connection = connection
            if self._writable:
                # without fsync: what a power cut takes from a cache is folded again
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute("PRAGMA secure_delete=ON")
                connection.execute(_LAYOUT)
        return self._connection


def _encoded(state: Session) -> bytes:
    packed: bytes = msgpack.packb(state, default=_plain, unicode_errors="surrogatepass")
    return zlib.compress(packed, 1)  # texts shrink to a third, for half a millisecond


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump()
    raise TypeError(f"a state holds a {type(value)}")


@cache
def _adapter() -> TypeAdapter[Session]:
    return TypeAdapter(Session)


def _decoded(packed: bytes) -> Session:
    plain = msgpack.unpackb(zlib.decompress(packed), use_list=False, unicode_errors="surrogatepass")
    return _adapter().validate_python(plain)
