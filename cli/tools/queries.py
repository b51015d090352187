"""SQL in a process of its own: whatever a query does to it, the server goes on.

It is ``mind query`` that is asked, read-only and with limits of time and memory. Who stops waiting
stops the process; and no database stays open in a server that lives for days.
"""

import asyncio
import json
import os
import subprocess
import sys
import threading
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from cli.tools.bounds import LONGEST, ROOM, cut, fitting, size
from commands.eventlog.place import Place
from domain.errors import Broken, Refused
from domain.ids import SessionId

SECONDS = 20
"""What one query may take."""

AT_ONCE = 2
"""Queries that run side by side: each may take its limit of memory."""

_MOST = 2 << 20
"""Bytes of an answer that are looked at; no model reads more."""

_REFUSED = 2
"""The exit code of a refusal."""

_LINES = 1_000

Data = dict[str, Any]


class Queries:
    """Asks a store in SQL; a few queries at once, and others wait for their turn."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def rows(self, sql: str, session: SessionId | None = None, limit: int = 100) -> Data:
        """What a query answers, as far as it fits.

        Raises:
            Refused: it is no query that reads, or ran past its limits.
            Broken: the database can't be read.
        """
        words = ["-", "--limit", str(limit + 1), "--timeout", str(SECONDS)]
        if session is not None:
            words += ["--session", session]
        more = "ask for less (fewer columns, an aggregate), or for a higher limit"
        return _told(await self._asked(words, sql), limit, more)

    async def tables(self, table: str | None = None) -> Data:
        """What can be asked, with questions to begin with; of one table its columns.

        Raises:
            Refused: there is no such table.
            Broken: the database can't be read.
        """
        if table is not None:
            said = await self._asked([f"--schema={table}"])
            return {"table": table, **_told(said, _LINES, "query the table with LIMIT 0")}
        from projections.analytics.asking.catalog import examples  # noqa: PLC0415 — only here

        data = _told(await self._asked(["--tables"]), _LINES, "name one")
        return {**data, "examples": [example._asdict() for example in examples()]}

    async def _asked(self, words: list[str], sql: str = "") -> "_Said":
        """What ``mind query`` says; the process ends with this call, however that ends."""
        question = _Question([*words, "--format", "jsonl"], sql, self._place)
        async with self._turns:
            try:
                return await asyncio.to_thread(question.ask)
            except asyncio.CancelledError:
                question.stop()
                raise


class _Said(NamedTuple):
    rows: list[Any]
    whole: bool
    remarks: list[str]


def _told(said: _Said, limit: int, more: str) -> Data:
    rows, whole = fitting(_shortened(row) for row in said.rows[:limit])
    data: Data = {"rows": rows}
    if not (whole and said.whole and len(said.rows) <= limit):
        data["more"] = f"There is more: {more}."
    return {**data, "remarks": said.remarks} if said.remarks else data


def _shortened(row: dict[str, Any]) -> dict[str, Any]:
    """A row of which no value is long, nor all of them together."""
    longest = LONGEST if size(row) <= ROOM else ROOM // (2 * len(row))
    return {key: _short(value, longest) for key, value in row.items()}


def _short(value: Any, longest: int) -> Any:
    if isinstance(value, dict | list) and size(value) > longest:
        value = json.dumps(value, ensure_ascii=False)
    return cut(value, longest) if isinstance(value, str) else value


class _Question:
    """One process, and who stops it."""

    def __init__(self, words: list[str], sql: str, place: Place) -> None:
        # -P: a directory that happens to be called cli is not ours
        self._command = [sys.executable, "-P", "-m", "cli.main", "query", *words]
        # not as a word of the command, which everybody on this machine can read
        self._environment = {**os.environ, "MIND_STORE": place.name}
        self._sql = sql
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def stop(self) -> None:
        """End it now, or never begin."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def ask(self) -> _Said:
        """Run it to its end, or until it has said enough."""
        with ExitStack() as files:
            asked = files.enter_context(TemporaryFile())
            asked.write(self._sql.encode())
            asked.seek(0)
            told = files.enter_context(TemporaryFile())
            with self._lock:
                if self._stopped:
                    raise Refused("The query was broken off: nothing has changed.")
                self._process = subprocess.Popen(  # noqa: S603 — our own command line
                    self._command,
                    stdin=asked,
                    stdout=subprocess.PIPE,
                    stderr=told,
                    env=self._environment,
                )
            with self._process as process:
                try:
                    said = process.stdout.read(_MOST + 1) if process.stdout else b""
                    whole = len(said) <= _MOST
                finally:
                    if process.poll() is None and not whole:
                        process.kill()
                code = process.wait() if whole else 0
            told.seek(0)
            talk = told.read(_MOST).decode("utf-8", "replace")
        return self._read(said, code, talk, whole=whole)

    def _read(self, said: bytes, code: int, talk: str, *, whole: bool) -> _Said:
        before, _, sentence = talk.partition("mind: ")
        if code:
            error = Refused if code == _REFUSED else Broken
            raise error(sentence.strip() or "The query ended without an answer: ask for less.")
        lines = said.splitlines()
        if not whole:
            lines.pop()  # it was cut in two
        return _Said([json.loads(line) for line in lines], whole, before.splitlines())
