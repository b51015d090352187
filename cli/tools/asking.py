"""Tools that ask the whole store: by words and meaning, and in SQL."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.output import iso
from cli.tools.bounds import cut, fitting
from cli.tools.queries import Queries
from cli.tools.schema import number, takes, text
from cli.wiring import current_session
from commands.agents.tools import Tool
from commands.eventlog import EventLog
from domain.ids import SessionId

if TYPE_CHECKING:
    from projections.search.hit import Vectors

Data = dict[str, Any]

SessionOf = Callable[[str | None], SessionId]


def asking_tools(log: EventLog, directory: Path, session_of: SessionOf) -> list[Tool]:
    """The tools of this file; ``session_of`` says which session a name means."""
    finder, queries = _Finder(log, directory, session_of), Queries(log.place)
    turn = asyncio.Lock()

    async def search(given: Data) -> Data:
        async with turn:
            return await asyncio.to_thread(
                finder.search, given["query"], given["count"], given.get("session")
            )

    async def query(given: Data) -> Data:
        session = session_of(given["session"]) if "session" in given else None
        return await queries.rows(given["sql"], session, given["limit"])

    async def describe(given: Data) -> Data:
        return await queries.tables(given.get("table"))

    return [
        Tool(
            "search",
            "Find messages, accepted answers and artifacts of all sessions by their words and their"
            ' meaning, best first. "A phrase" in quotes has to be there, -word must not. Each hit'
            " names its session and version, for show_event and read_history.",
            takes(
                "query",
                query=text("What to look for.", most=2_000),
                count=number("At most so many hits.", most=50, default=10),
                session=text("Only this session with what it inherited.", most=200),
            ),
            search,
        ),
        Tool(
            "query",
            "Ask the whole history in SQL (DuckDB dialect): one statement that reads, for counts,"
            " costs, times and anything the other tools do not answer. See describe_tables first."
            " $session in the SQL stands for the session, as in FROM drafts_of($session).",
            takes(
                "sql",
                sql=text("One SELECT, FROM, WITH or the like.", most=20_000),
                session=text("What $session stands for; else the current session.", most=200),
                limit=number("At most so many rows.", most=1_000, default=100),
            ),
            query,
        ),
        Tool(
            "describe_tables",
            "List the tables and views that query can ask, with what they mean and example"
            " questions; with a table, its columns.",
            takes(table=text("Only the columns of this one.", most=200)),
            describe,
        ),
    ]


class _Finder:
    """Searches; the embedder is made once."""

    def __init__(self, log: EventLog, directory: Path, session_of: SessionOf) -> None:
        self._log, self._directory, self._session_of = log, directory, session_of
        self._vectors: Vectors | None = None
        self._ready = False

    def search(self, query: str, count: int, session: str | None) -> Data:
        from projections.search.ask import search  # noqa: PLC0415 — only who searches waits
        from projections.search.hit import Branch, Everywhere, marked  # noqa: PLC0415 — as above

        scope = Branch(self._session_of(session), None) if session else Everywhere()
        remarks: list[str] = []
        hits = search(
            self._log,
            self._directory,
            query,
            scope=scope,
            limit=count,
            vectors=self._made(),
            on_remark=remarks.append,
        )
        rows, whole = fitting(
            {
                "kind": hit.kind,
                "session": hit.session,
                "version": hit.version,
                "at": iso(hit.at),
                "score": hit.score,
                "text": cut(marked(hit.snippet, "**", "**"), 1_000),
                **({"artifact": hit.artifact} if hit.artifact is not None else {}),
            }
            for hit in hits
        )
        data: Data = {"hits": rows}
        if not whole:
            data["not_shown"] = len(hits) - len(rows)
        return {**data, "remarks": remarks} if remarks else data

    def _made(self) -> "Vectors | None":
        if not self._ready and self._log.sessions():
            from cli.search import vectors_for  # noqa: PLC0415 — as above

            session = current_session(self._directory, self._log)
            self._vectors = vectors_for(self._log.state(session).config)
            self._ready = True
        return self._vectors
