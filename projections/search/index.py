"""The index follows the log: caught up before each search, built anew when it has to be.

The log is the truth. Texts and position are written in one transaction, so a kill at any moment
leaves an index that goes on from where it was. One process writes at a time, under a lock file.
Where nothing can be written, or another process writes for long, the index is made in memory.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Self

from domain.log import Log
from projections.search.matrix import Matrix
from projections.search.place import (
    FILE,
    IN_MEMORY,
    PATIENCE,
    alone,
    connect,
    identity,
    new_of,
    remove,
    replace,
    transaction,
)
from projections.search.rows import Writer
from projections.search.spelling import TOKENIZER
from projections.search.vectors import carry_over

SLICE = 5_000
"""Events between two commits: readers wait for one commit at most."""

MADE = 2
"""Counted up when texts are made otherwise though the tables are the same."""

_NOT_ITS_FAULT = frozenset(
    (
        *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOMEM),
        *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
    )
)
"""Errors after which an index is as good as before."""

Progress = Callable[[int, int], None]
"""Told how many events, or texts, of how many are in."""

# what is looked at for each match stands in front of what may be long
_TABLES = f"""
CREATE TABLE status(layout TEXT, position INTEGER, hash BLOB, mark BLOB);
CREATE TABLE texts(
  id INTEGER PRIMARY KEY, stream TEXT, version INTEGER, at INTEGER, kind TEXT,
  gone INTEGER, gone_at INTEGER, passages INTEGER, owner TEXT, artifact INTEGER,
  head TEXT, tail TEXT
);
CREATE INDEX texts_by_version ON texts(stream, version);
CREATE INDEX texts_by_kind ON texts(kind, gone);
CREATE INDEX texts_by_artifact ON texts(owner, artifact) WHERE artifact IS NOT NULL;
CREATE INDEX texts_without_vectors ON texts(id) WHERE passages IS NULL;
CREATE TABLE endings(
  text INTEGER, stream TEXT, version INTEGER, PRIMARY KEY (text, stream)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(text, place, content='', tokenize='{TOKENIZER}');
CREATE TABLE vectors(
  id INTEGER PRIMARY KEY, model TEXT, texts BLOB, starts BLOB, scales BLOB, numbers BLOB
)
"""

LAYOUT = sha256(f"{MADE}{_TABLES}".encode()).hexdigest()[:16]
"""Names this arrangement of tables: another one is built anew."""


class _Status(NamedTuple):
    """How far an index has come, and of which log."""

    layout: str
    position: int
    hash: bytes
    mark: bytes


class _Moved(Exception):
    """The log is no longer what the index was made of."""


class Index:
    """The index of a store, open. It may be used by one thread at a time."""

    connection: sqlite3.Connection
    """To read from; there is one once it is caught up."""

    def __init__(self, log: Log, directory: Path, *, patience: float = PATIENCE) -> None:
        """Nothing is opened before :meth:`catch_up`.

        Args:
            log: the truth.
            directory: where the store is.
            patience: seconds to wait for another process that writes the index.
        """
        self._patience = patience
        self.log, self.directory = log, directory
        self.file = directory / FILE
        self.matrix = Matrix()
        self.open = False
        self._identity: tuple[int, int] | None = None
        self._size = (-1, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self.open:
            self.connection.close()
        self.open, self._identity, self.matrix = False, None, Matrix()

    @property
    def in_memory(self) -> bool:
        """Whether it can't be kept, or must not wait for who writes it."""
        return self.open and self._identity is None

    @property
    def size(self) -> int:
        """How many texts are in it."""
        known = self._size
        position = self.connection.execute("SELECT position FROM status").fetchone()[0]
        if known[0] != position:
            count = self.connection.execute("SELECT count(*) FROM texts").fetchone()[0]
            known = self._size = (position, count)
        return known[1]

    def catch_up(self, progress: Progress | None = None) -> str | None:
        """Bring it up to the newest event of the log.

        Returns:
            What was not as usual, in one sentence; None where nothing was.
        """
        if self.open and self._is_current():
            return None
        try:
            with alone(self.directory, self._patience) as mine:
                if mine:
                    return self._bring_up(progress)
        except OSError:
            why = "The index of the search can't be written here: it was made in memory."
        except sqlite3.Error as error:
            why = f"The index of the search could not be written ({error}): it was made in memory."
        else:
            why = "Another process writes the index of the search: one was made in memory."
        self.aside(progress)
        return why

    @contextmanager
    def writing(self) -> Iterator[bool]:
        """A transaction; False, and nothing may be written, where others are before us.

        Raises:
            OSError, sqlite3.Error: nothing can be written here.
        """
        if self.in_memory:
            with transaction(self.connection):
                yield True
            return
        with alone(self.directory, self._patience) as mine:
            if not mine or identity(self.file) != self._identity:
                yield False
                return
            with transaction(self.connection):
                yield True

    def discard(self) -> None:
        """Throw away an index that turned out to be torn: the next :meth:`catch_up` builds another.

        Raises:
            OSError: nothing can be written here.
        """
        kept = not self.in_memory
        self.close()
        if kept:
            with alone(self.directory, self._patience) as mine:
                if mine:
                    remove(self.file)

    def _is_current(self) -> bool:
        """Whether nothing has happened since."""
        if not self.in_memory and identity(self.file) != self._identity:
            return False
        try:
            found = _status(self.connection)
        except sqlite3.Error:
            return False
        return (
            found is not None
            and found.position == self.log.position()
            and not _is_foreign(self.log, found)
        )

    def _bring_up(self, progress: Progress | None) -> str | None:
        """Catch up, with nobody else doing so."""
        remove(new_of(self.file))  # of somebody who was killed
        if self.in_memory or not self.open or identity(self.file) != self._identity:
            self.close()
            if not self.file.exists():
                self._anew(progress)
                return None
            try:
                self._take(connect(self.file, writable=True))
            except sqlite3.Error:
                self._anew(progress)
                return f"{FILE} could not be read: built anew."
        try:
            _follow(self.log, self.connection, progress)
        except _Moved:
            self._anew(progress)
        except sqlite3.DatabaseError as error:
            if not is_torn(error):
                raise
            self._anew(progress)
            return f"{FILE} could not be read: built anew."
        return None

    def _anew(self, progress: Progress | None) -> None:
        """Build it from the first event on in a new file, which takes the place of the old one."""
        new = new_of(self.file)
        try:
            while True:
                remove(new)
                connection = connect(new, writable=True)
                try:
                    connection.execute("PRAGMA synchronous=OFF")  # a new file is whole or not used
                    _make(self.log, connection)
                    _follow(self.log, connection, progress)
                    connection.execute("INSERT INTO words(words) VALUES ('optimize')")
                    with suppress(sqlite3.Error, ValueError):  # vectors can be made again
                        if self.file.exists():
                            carry_over(connection, self.file)
                except _Moved:
                    continue
                finally:
                    connection.close()
                break
            replace(new, self.file)
        except BaseException:
            remove(new)
            raise
        self.close()
        self._take(connect(self.file, writable=True))

    def aside(self, progress: Progress | None = None) -> None:
        """Have it in memory, beginning with what there is in the file."""
        if not self.in_memory:
            self.close()
            self._take(connect(IN_MEMORY, writable=True))
            self._identity = None
            self._copy()
        while True:
            try:
                _follow(self.log, self.connection, progress)
            except _Moved:
                self.connection.close()
                self.connection, self.matrix = connect(IN_MEMORY, writable=True), Matrix()
                _make(self.log, self.connection)
                continue
            return

    def _copy(self) -> None:
        try:
            # what can't be read soon is made anew
            source = connect(self.file, writable=False, patience=0.1)
        except sqlite3.Error:
            return
        try:
            source.backup(self.connection)
        except sqlite3.Error:
            self.connection.close()
            self.connection = connect(IN_MEMORY, writable=True)
        finally:
            source.close()

    def _take(self, connection: sqlite3.Connection) -> None:
        self.connection, self.open, self._identity = connection, True, identity(self.file)


def is_torn(error: sqlite3.Error) -> bool:
    """Whether it says that the index is damaged, and not that it can't be used just now."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF not in _NOT_ITS_FAULT


def forget(log: Log, directory: Path) -> bool:
    """Take out of the index what was taken out of the log: what is left is built anew.

    Returns:
        Whether it is gone; not if another process is busy writing the index.

    Raises:
        OSError: nothing can be written here.
    """
    if not (directory / FILE).exists():
        return True
    with Index(log, directory) as index:
        index.catch_up()
        return not index.in_memory


def _make(log: Log, connection: sqlite3.Connection) -> None:
    """Make the tables in an empty index."""
    with transaction(connection):
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute("INSERT INTO status VALUES (?, 0, ?, ?)", (LAYOUT, b"", log.mark()))


def _follow(log: Log, connection: sqlite3.Connection, progress: Progress | None) -> None:
    """Write what the log has and the index has not, slice by slice.

    Raises:
        _Moved: it was made of another log, or something was redacted, perhaps just now.
    """
    found = _status(connection)
    if found is None or _is_foreign(log, found):
        raise _Moved
    events, whole, writer = log.plain(found.position), log.position(), Writer(log, connection)
    while True:
        with transaction(connection):
            newest = writer.write(islice(events, SLICE))
            if not newest:
                return
            connection.execute(
                "UPDATE status SET position = ?, hash = ?", (newest, log.hash_at(newest))
            )
            if log.mark() != found.mark:  # we may just have written what is gone
                raise _Moved
        if progress is not None:
            progress(newest, whole)


def _status(connection: sqlite3.Connection) -> _Status | None:
    """How far it has come; None if it is none of ours."""
    try:
        rows = connection.execute("SELECT * FROM status").fetchall()
        return _Status(*rows[0]) if len(rows) == 1 else None
    except TypeError:
        return None
    except sqlite3.OperationalError as error:
        if not is_torn(error):
            raise
        return None


def _is_foreign(log: Log, found: _Status) -> bool:
    """Whether it was made of another log, by another version, or before something was redacted."""
    return (
        found.layout != LAYOUT
        or found.mark != log.mark()
        or (found.position > 0 and log.hash_at(found.position) != found.hash)
    )
