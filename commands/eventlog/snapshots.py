"""States kept so that no one has to fold a long history: a cache that may be deleted any time.

Each snapshot names the chain hash of its moment. It counts only while the log has that very hash
there, so a snapshot can be lost, but never lie about another history. A parent's snapshot serves
every fork above it.
"""

import sqlite3
import threading
import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgpack
from pydantic import BaseModel, TypeAdapter, ValidationError

from commands.eventlog.recorder import database_uri
from domain.ids import SessionId
from domain.session import SHAPE, Session

EVERY = 250
"""Events between snapshots: folding half as many, the usual case, takes some 2 ms."""

_LAYOUT = """CREATE TABLE IF NOT EXISTS snapshots (
    session TEXT NOT NULL, version INTEGER NOT NULL, shape INTEGER NOT NULL,
    hash BLOB NOT NULL, crc INTEGER NOT NULL, state BLOB NOT NULL,
    UNIQUE (session, version, shape))"""


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
        self._lock = threading.Lock()

    def save(self, stream: SessionId, snapshots: Iterable[Snapshot]) -> None:
        """Keep states of moments that ``stream`` itself holds."""
        if not self._writable:
            return
        try:
            rows = [
                (stream, s.state.version, SHAPE, s.hash, zlib.crc32(packed), packed)
                for s in snapshots
                for packed in (_encoded(s.state),)
            ]
            with self._lock, self._open() as connection:
                connection.executemany("INSERT OR IGNORE INTO snapshots VALUES (?,?,?,?,?,?)", rows)
        except (sqlite3.Error, OSError):
            self._give_up()

    def newest(
        self, parts: Iterable[tuple[SessionId, int, int]]
    ) -> tuple[SessionId, Snapshot] | None:
        """The newest snapshot within these parts of a path (youngest first), and its stream."""
        if self._broken or not (self._writable or self._path.exists()):
            return None
        try:
            with self._lock, self._open() as connection:
                for stream, after, upto in parts:
                    row = connection.execute(
                        "SELECT hash, crc, state FROM snapshots WHERE session=? AND version>?"
                        " AND version<=? AND shape=? ORDER BY version DESC LIMIT 1",
                        (stream, after, upto, SHAPE),
                    ).fetchone()
                    if row is not None:
                        return self._read(stream, *row)
        except (sqlite3.Error, OSError):
            self._give_up()
        return None

    @staticmethod
    def _read(
        stream: SessionId, hash_: bytes, crc: int, packed: bytes
    ) -> tuple[SessionId, Snapshot] | None:
        if zlib.crc32(packed) != crc:
            return None
        try:
            return stream, Snapshot(_decoded(packed), hash_)
        except (ValidationError, ValueError, zlib.error, msgpack.UnpackException):
            return None

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._broken:
            raise sqlite3.OperationalError("given up")
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
                connection.execute(_LAYOUT)
        return self._connection

    def _give_up(self) -> None:
        self._broken = True
        self.close()


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
