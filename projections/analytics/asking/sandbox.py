"""A user's SQL over a DuckDB file: one statement that reads, with limits, and nothing else.

What keeps it in is DuckDB itself: the file is opened for reading only, and files, network,
extensions, secrets and Python's variables are switched off before the settings are locked. The
look at the statement's kind comes on top, for a clear refusal. What stops a query is DuckDB's own
limit of time and memory; where that does not reach, inside one call of one function, ``Sandbox``
gives up waiting, and ``guarded`` takes the room away.

For users and their own data: SQL of strangers belongs in a process of an account of its own.
"""

import atexit
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from domain.errors import BadQuery
from projections.analytics.asking.complaints import (
    READS_ONLY,
    Limits,
    broke_off,
    timed_out,
    told,
    too_big,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection, Statement

__all__ = ["Answer", "Batches", "Column", "Limits", "Sandbox", "guarded", "sandboxed"]

T = TypeVar("T")

Parameters = Sequence[Any] | Mapping[str, Any]

LATE = 0.5
"""Seconds past its limit at which a query is told to stop, should DuckDB not have stopped it."""

GRACE = 1.5
"""Seconds that a call may go on after it was told to stop; then nobody waits for it."""

ROWS = 2048
"""Rows fetched at once: a vector of DuckDB."""

BATCH = 65_536
"""Rows of one Arrow batch."""

BESIDE = 1 << 30
"""Bytes of addresses that DuckDB, Arrow and Python may take beside what DuckDB counts."""

FORCED = 124
"""The exit code of a process that ends while a call still runs; the one of timeout(1)."""

READING = frozenset({"SELECT", "EXPLAIN", "MULTI"})
"""The kinds of statement that are let in; a PIVOT that finds its columns itself is MULTI."""


class Column(NamedTuple):
    """A column of an answer; ``type`` as DuckDB writes it, as ``BIGINT`` or ``FLOAT[384]``."""

    name: str
    type: str


class Answer(NamedTuple):
    """What a query gives; the rows are fetched as they are taken, once."""

    columns: tuple[Column, ...]
    rows: Iterator[tuple[Any, ...]]


class Batches(NamedTuple):
    """What a query gives, as Arrow; the batches are fetched as they are taken, once."""

    schema: "pa.Schema"
    batches: "Iterator[pa.RecordBatch]"


@contextmanager
def sandboxed(file: Path, limits: Limits = Limits()) -> Iterator["Sandbox"]:
    """Open a DuckDB file for the queries of a user; what they gave ends with the block.

    Several may be open in a process at once, if their limits are the same.

    Raises:
        duckdb.Error: the file is not there, is damaged, is held by a process that writes, or is
            open in this process in another way; what to do then is the caller's to say.
    """
    import duckdb  # noqa: PLC0415 — only who asks pays for it

    settings: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": False,
        "autoload_known_extensions": False,
        "autoinstall_known_extensions": False,
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        "python_enable_replacements": False,
        "temp_directory": "",
        "memory_limit": f"{limits.memory}B",
        "max_execution_time": max(1, round(limits.seconds * 1000)),  # 0 would be no limit
    }
    if limits.threads is not None:
        settings["threads"] = limits.threads
    connection = duckdb.connect(str(file.absolute()), read_only=True, config=settings)
    try:
        # a second connection of this process to the file finds all this done
        (locked,) = connection.execute("SELECT current_setting('lock_configuration')").fetchall()
        if not locked[0]:
            connection.execute("SET disabled_filesystems = 'LocalFileSystem'").fetchall()
            connection.execute("SET lock_configuration = true").fetchall()
        sandbox = Sandbox(connection, limits)
        try:
            yield sandbox
        finally:
            sandbox.close()
    finally:
        with suppress(duckdb.Error):  # it is busy with a call that can't be stopped
            connection.close()


@contextmanager
def guarded(limits: Limits) -> Iterator[None]:
    """Bound the addresses of this whole process, for a process that is about one query.

    One call of one function, such as ``repeat('x', 4000000000)``, takes memory that DuckDB does not
    count. Inside the block the process may take ``limits.memory`` and 1 GiB more than it has; a
    call that wants more fails at once. Enter it last, behind ``sandboxed``: imports and threads
    want addresses too. It works on Linux; elsewhere the block is not bounded.

    Raises:
        QueryStopped: the block itself ran out of memory.
    """
    if sys.platform != "linux":
        yield
        return
    import resource  # noqa: PLC0415 — not on every system

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    wanted = pages * resource.getpagesize() + limits.memory + BESIDE
    bounds = [bound for bound in (wanted, soft, hard) if bound != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(bounds), hard))
    try:
        yield
    except MemoryError:
        raise too_big(limits) from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class Sandbox:
    """An open file that answers queries; for one thread at a time.

    A call that can't be stopped is left behind: who asked goes on 2 s after the limit, or after
    Ctrl-C, and the file stays open. If that call still runs at the end of the process, it ends with
    code 124.
    """

    def __init__(self, connection: "DuckDBPyConnection", limits: Limits) -> None:
        self._connection = connection
        self._limits = limits
        self._open: list[_Question] = []

    def ask(self, sql: str, parameters: Parameters = ()) -> Answer:
        """Run one statement that reads, up to its first rows.

        The limit of time holds from here to the last row. Parameters fill ``?`` and ``$1``, or
        ``$name`` if they are a mapping.

        Raises:
            BadQuery: it is not one statement that reads, or it can't be run as it is written; so
                do the rows when they are taken.
            QueryStopped: it ran past a limit, or the user broke off; so do the rows.
            Broken: DuckDB failed, or the file is damaged; so do the rows.
        """
        question = self._question()
        with question.ends_on_error():
            statement = question.statement(sql)
            values = _values(parameters)
            cursor = question.run(lambda: question.cursor.execute(statement, values))
            columns = tuple(Column(name, str(type_)) for name, type_, *_ in cursor.description)
        return Answer(columns, question.rows())

    def batches(self, sql: str, parameters: Parameters = ()) -> Batches:
        """Run one statement that reads, as Arrow: as ``ask``, but for rows by the million."""
        question = self._question()
        with question.ends_on_error():
            statement = question.statement(sql)
            values = _values(parameters)
            # the result of ``execute`` would be copied whole before its first batch
            reader = question.run(
                lambda: question.cursor.sql(statement, params=values).to_arrow_reader(BATCH)
            )
            question.reader = reader
        return Batches(reader.schema, question.batches(reader))

    def close(self) -> None:
        """End all answers, also those that were not read to their end."""
        for question in [*self._open]:
            question.close()

    def _question(self) -> "_Question":
        question = _Question(self._connection.cursor(), self._limits, self._open)
        self._open.append(question)
        return question


class _Question:
    """One question, from its text to its last row.

    Each call of DuckDB runs in a thread: it does not hear a Ctrl-C while it works, nor does one
    call of one function hear of limits, so this one waits for it and can give up.
    """

    reader: "pa.RecordBatchReader | None" = None
    _ended = False
    _stuck = False

    def __init__(
        self, cursor: "DuckDBPyConnection", limits: Limits, among: "list[_Question]"
    ) -> None:
        self.cursor = cursor
        self._limits = limits
        self._among = among
        self._left = limits.seconds + LATE

    def statement(self, sql: str) -> "Statement":
        """The one statement of a text, if it is one that reads."""
        try:
            sql.encode()
        except UnicodeEncodeError as error:
            raise BadQuery(
                f"The query holds what is no text, at character {error.start + 1}: write UTF-8."
            ) from None
        statements = self.run(lambda: self.cursor.extract_statements(sql))
        if not statements:
            raise BadQuery(f"There is no query in this text: {READS_ONLY}.")
        if len(statements) > 1:
            raise BadQuery(f"There are {len(statements)} statements in this text: ask one.")
        try:
            kind = statements[0].type.name
        except ValueError:  # younger than the list of kinds
            kind = ""
        if kind not in READING:
            raise BadQuery(f"This statement is no query: {READS_ONLY}.")
        return statements[0]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        with self.ends_on_error():
            while found := self.run(lambda: self.cursor.fetchmany(ROWS)):
                yield from found
        self.close()

    def batches(self, reader: "pa.RecordBatchReader") -> "Iterator[pa.RecordBatch]":
        with self.ends_on_error():
            while (found := self.run(lambda: next(reader, None))) is not None:
                yield found
        self.close()

    @contextmanager
    def ends_on_error(self) -> Iterator[None]:
        """Close this question where it fails, or where its rows are left."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def run(self, call: Callable[[], T]) -> T:
        """Run a call of DuckDB within what is left of the time."""
        outcome: SimpleQueue[tuple[T, None] | tuple[None, BaseException]] = SimpleQueue()

        def work() -> None:
            try:
                outcome.put((call(), None))
            except BaseException as error:  # noqa: BLE001 — raised by who waits
                outcome.put((None, error))

        import duckdb  # noqa: PLC0415 — it is there by now

        if self._ended:
            raise BadQuery("The answer ended with its block: take all rows inside of it.")
        worker = Thread(target=work, name="query", daemon=True)
        began = time.monotonic()
        try:
            worker.start()
            value, error = outcome.get(timeout=max(0.0, self._left))
        except RuntimeError:  # no room for a thread
            raise too_big(self._limits) from None
        except Empty:
            self._break_off(worker)
            raise timed_out(self._limits) from None
        except KeyboardInterrupt:
            self._break_off(worker)
            raise broke_off() from None
        finally:
            self._left -= time.monotonic() - began
        if isinstance(error, MemoryError | OSError | RuntimeError | ValueError | duckdb.Error):
            raise told(error, self._limits) from None
        if error is not None:
            raise error
        return value  # type: ignore[return-value] # mypy does not follow the pair

    def _break_off(self, worker: Thread) -> None:
        until = time.monotonic() + GRACE
        try:
            while worker.is_alive() and time.monotonic() < until:
                self.cursor.interrupt()  # again, should the call not have begun
                worker.join(0.05)
        finally:  # also after another Ctrl-C
            self._stuck = worker.is_alive()
            if self._stuck:
                atexit.register(_leave_behind, worker)

    def close(self) -> None:
        """End it, and free what it holds; not where a call still runs, which would not let us."""
        if self in self._among:
            self._among.remove(self)
        if self._stuck or self._ended:
            return
        self._ended = True
        # a reader that is left open would make whoever opens the file to write wait for ever
        if self.reader is not None:
            self.reader.close()
        self.cursor.close()


def _leave_behind(worker: Thread) -> None:
    """End the process beside a call that still runs, which Python could not take down in order."""
    if worker.is_alive():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(FORCED)


def _values(parameters: Parameters) -> list[Any] | dict[str, Any] | None:
    if isinstance(parameters, Mapping):
        return dict(parameters) or None
    return list(parameters) or None
