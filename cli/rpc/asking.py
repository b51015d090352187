"""Looking things up: search, context, query, export."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Literal

from pydantic import Field

from cli.context import context_data
from cli.output import iso
from cli.query import filled
from cli.rpc.functions import Look, in_store
from cli.rpc.method import Method, Params, Result
from cli.rpc.service import Service
from cli.rpc.transcripts import Format, transcript
from cli.search import kinds_of, scope_of, vectors_for
from domain.errors import Refused
from domain.log import Log
from projections.search.hit import Hit, marked

ANSWER = 8 << 20
"""Bytes that an answer may have."""

SECONDS, MEMORY = 30.0, 1 << 30
"""What one query may take, in seconds and in bytes."""


# search


class Searching(Params):
    """What is looked for, and where."""

    query: str
    """Words; `"a phrase"` has to be there, `-word` must not."""
    count: int = Field(10, ge=1, le=200)
    kinds: tuple[str, ...] = ()
    """Only `message`, `answer`, `effort`, `fact`, `event`, `summary`, `session`, or `artifact`."""
    session: str | None = None
    """Only there and in what it inherited; everywhere by default."""
    at: str | None = None
    """Only what was so at this moment of that session, or at this time anywhere."""
    words: bool = False
    """By words alone: faster, since nothing is compared by its meaning."""


class Found(Result):
    """Something that was found."""

    session: str
    version: int
    ref: str
    """The moment, as `payments@412`."""
    exchange: str | None
    """Of a message or an answer."""
    artifact: int | None
    kind: str
    text: str
    snippet: str
    """The part that fits best; `**` stands around what matched."""
    title: str
    """What the session is called."""
    score: float
    """From 0 to 1."""
    at: str
    """ISO 8601 in UTC."""


class Hits(Result):
    """What was found, best first."""

    hits: tuple[Found, ...]
    remarks: tuple[str, ...]
    """Why it may not be all."""


def search(service: Service, asked: Searching) -> Hits:
    """Find messages, accepted answers and artifacts by their words and their meaning."""
    from projections.search.ask import Searcher  # noqa: PLC0415 — brings numpy along

    at, remarks = service.desk(asked.session), list[str]()
    scope = scope_of(at, asked.at, named=asked.session is not None)
    kinds = kinds_of(asked.kinds)
    vectors = None if asked.words else vectors_for(at.state.config, remarks.append)
    with Searcher(at.log, at.directory, vectors, on_remark=remarks.append) as searcher:
        hits = searcher.search(asked.query, scope=scope, kinds=kinds, limit=asked.count)
    return Hits(hits=tuple(_found(at.log, hit) for hit in hits), remarks=tuple(remarks))


def _found(log: Log, hit: Hit) -> Found:
    return Found(
        session=hit.session,
        version=hit.version,
        ref=hit.ref,
        exchange=_exchange(log, hit),
        artifact=hit.artifact,
        kind=hit.kind,
        text=hit.text,
        snippet=marked(hit.snippet, "**", "**"),
        title=hit.title,
        score=round(hit.score, 4),
        at=iso(hit.at),
    )


def _exchange(log: Log, hit: Hit) -> str | None:
    if hit.kind not in {"message", "answer"}:
        return None
    recorded = next(iter(log.pick(hit.session, [hit.version])), None)
    return getattr(recorded.event, "exchange", None) if recorded is not None else None


# context


class Block(Result):
    """How much of one block of the prompt is used."""

    name: str
    """`message`, `memory`, `history`, `drafts` or `thoughts`."""
    shown: int
    of: int
    """How many there are to choose from."""
    most: int | None
    """How many could be shown."""
    chars: int
    limit: int | None
    """The most characters."""
    tokens: int


class Part(Result):
    """One thing that stands in the prompt."""

    block: str
    what: str
    why: str
    text: str
    tokens: int
    whole: bool
    """Else only its beginning and end stand there."""


class LeftOut(Result):
    """One thing that the session holds and the prompt does not show."""

    what: str
    why: str


class Context(Result):
    """What stands in the next prompt."""

    session: str
    version: int
    awaiting: str | None
    """The exchange that it is about; None while the session is idle."""
    tokens: int
    """Of the whole prompt."""
    limit: int
    """The most that it may have."""
    system_tokens: int
    """Of what the mind is told before it."""
    chars: int
    counted_by: str
    exact: bool
    """Else the tokens are estimated."""
    blocks: tuple[Block, ...]
    parts: tuple[Part, ...]
    left_out: tuple[LeftOut, ...]


def context(service: Service, asked: Look) -> Context:
    """Tell what of the session stands in the next prompt, why, and what does not."""
    from projections.window import BLOCKS  # noqa: PLC0415 — for this method alone

    data = context_data(service.desk(asked.session, asked.at))
    return Context(
        blocks=tuple(Block(name=name, **data[name]) for name in BLOCKS),
        parts=tuple(Part(**part) for part in data["parts"]),
        left_out=tuple(LeftOut(what=left["what"], why=left["why"]) for left in data["left_out"]),
        **{name: data[name] for name in _PLAIN},
    )


_PLAIN = (
    *("session", "version", "awaiting", "tokens", "limit", "system_tokens", "chars"),
    *("counted_by", "exact"),
)


# query


class Querying(Look):
    """A question in SQL, of the whole history."""

    sql: str
    """One statement that reads. `$session` and `$at_version` stand for what is looked at."""
    parameters: Mapping[str, str | int | None] = Field(default_factory=dict)
    """What its other `$names` stand for."""
    limit: int = Field(1000, ge=1, le=100_000)
    """The most rows."""


class Rows(Result):
    """An answer."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    """Values as JSON has them."""
    truncated: bool
    """Whether there are more rows than were asked for, or than an answer can hold."""


def query(service: Service, asked: Querying) -> Rows:
    """Ask the whole history in SQL: read-only, caught up, with limits of time and memory."""
    from projections.analytics.asking import shapes  # noqa: PLC0415 — brings DuckDB
    from projections.analytics.asking.questions import questions  # noqa: PLC0415 — as above
    from projections.analytics.asking.sandbox import Limits  # noqa: PLC0415 — as above
    from projections.analytics.catchup import catch_up  # noqa: PLC0415 — as above

    def ours() -> dict[str, str | int | None]:
        at = service.desk(asked.session, asked.at)
        return {"session": at.session, "at_version": at.version}

    past, named = asked.at is not None, asked.session is not None
    database = catch_up(service.log, service.directory).file
    given = filled(asked.sql, dict(asked.parameters), ours, past=past, named=named)
    with questions(database, Limits(SECONDS, MEMORY), alone=False) as sandbox:
        objects = shapes.json_objects(sandbox, asked.sql, given)
        rows, truncated = _taken(objects, asked.limit)
        if rows:
            columns = tuple(rows[0])
        else:
            empty = shapes.texts(sandbox, asked.sql, given)
            columns = tuple(shapes.unique(column.name for column in empty.columns))
    return Rows(columns=columns, rows=tuple(tuple(r.values()) for r in rows), truncated=truncated)


def _taken(objects: Iterator[str], limit: int) -> tuple[list[dict[str, Any]], bool]:
    """At most so many rows, and no more than an answer can hold; whether there are more."""
    rows, room = list[dict[str, Any]](), ANSWER
    for line in islice(objects, limit + 1):
        room -= 4 * len(line) if not line.isascii() else len(line)
        if len(rows) == limit or room < 0:
            return rows, True
        rows.append(json.loads(line))
    return rows, False


# export


class Exporting(Look):
    """What is to be written out."""

    format: Format = "markdown"
    """`markdown` and `yaml` hold the accepted exchanges, `jsonl` every event with its fields."""


class Exported(Result):
    """A session as one text."""

    session: str
    format: Literal["markdown", "jsonl", "yaml"]
    text: str


def export(service: Service, asked: Exporting) -> Exported:
    """Write a session out as one text: its exchanges, or all of its events."""
    at = service.desk(asked.session, asked.at)
    pieces, room = list[str](), ANSWER
    for piece in transcript(at, asked.format):
        room -= len(piece.encode("utf-8", "surrogatepass"))
        if room < 0:
            verb = "log" if asked.format == "jsonl" else "history"
            raise Refused(
                f"Session {at.session!r} is too long for one answer ({ANSWER >> 20} MiB):"
                f" write it where the store is (mind {verb} --count 0 --json -s {at.session})."
            )
        pieces.append(piece)
    return Exported(session=at.session, format=asked.format, text="".join(pieces))


def methods(service: Service) -> list[Method]:
    """The methods of this file."""
    return [
        in_store(service, search, one_by_one=True),
        in_store(service, context),
        # two of one process can't have the database open, one to catch up and one to read
        in_store(service, query, one_by_one=True),
        in_store(service, export),
    ]
