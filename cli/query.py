"""Asking the whole history in SQL: query."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal, NamedTuple

import typer

from cli import output as out
from cli.answers import (
    Counted,
    Look,
    csv_lines,
    json_array,
    json_lines,
    piped,
    placed,
    refuse_taken,
    table_lines,
    write_lines,
)
from cli.cells import in_cell
from cli.options import FullFlag, JsonFlag, SessionOption, StoreOption
from cli.rebuild import INTERRUPTED, caught_up
from cli.texts import read_text
from cli.wiring import MOMENT, chosen_session, desk, open_store
from commands.eventlog import EventLog
from commands.eventlog.place import Place
from domain.errors import BadSetting, QueryStopped, Refused
from domain.ids import SessionId

if TYPE_CHECKING:
    from projections.analytics.asking.sandbox import Sandbox

Format = Literal["table", "csv", "json", "jsonl", "parquet", "arrow"]

COLUMNAR = frozenset({"parquet", "arrow"})
SUFFIXES: Mapping[str, Format] = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
SHOWN = 1000
"""Rows of a table that a terminal gets unless more are asked for."""

_SIZE = re.compile(r"(\d+(?:\.\d+)?) *([kmgt]?)(i?)b?", re.IGNORECASE)
_LEAST, _LONGEST = 32 << 20, 86_400.0


class Ask(NamedTuple):
    """What is asked, and how the answer is wanted."""

    sql: str
    parameters: Mapping[str, str | int | None]
    format: Format
    output: Path | None
    limit: int | None
    full: bool


def query(
    sql: Annotated[str | None, typer.Argument(help="The query; - reads it from the pipe.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Read the query from a file.")
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", help="Set $NAME to a text.", metavar="NAME=VALUE"),
    ] = None,
    format_: Annotated[
        Format | None,
        typer.Option("--format", help="A table by default, or what the ending of FILE says."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to a file.", metavar="FILE")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=0, help="At most so many rows; 0 for all.")
    ] = None,
    full: FullFlag = False,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Stop it after so long.", metavar="SECONDS")
    ] = 30.0,
    memory: Annotated[
        str, typer.Option("--memory", help="Stop it beyond this, as 512MB.", metavar="SIZE")
    ] = "1GiB",
    tables: Annotated[bool, typer.Option("--tables", help="List what can be asked.")] = False,
    schema: Annotated[
        str | None, typer.Option("--schema", help="List the columns of one.", metavar="TABLE")
    ] = None,
    examples: Annotated[
        bool, typer.Option("--examples", help="Print questions to begin with.")
    ] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Ask the whole history in SQL: read-only, caught up, with limits of time and memory.

    $session is the session you work on (or --session), $at_version the moment of mind at REF; both
    are what drafts_of($session, at_version := $at_version) and its like take.

    Example: mind query "SELECT kind, count(*) FROM events GROUP BY kind"
    """
    if sum((sql is not None or file is not None, tables, schema is not None, examples)) > 1:
        raise typer.BadParameter("ask one thing: a query, --tables, --schema or --examples")
    if json and format_ not in {None, "json"}:
        raise typer.BadParameter(f"--json is --format json, not {format_}")
    if examples:
        _tell_examples(json=json or format_ == "json")
        return
    how = format_ or ("json" if json else _format_of(output))
    if output is not None:
        refuse_taken(output, force=force)
    elif how in COLUMNAR and sys.stdout.isatty():
        raise Refused(f"A terminal can't show {how}: write it to a file (-o FILE) or a pipe.")
    listing = tables or schema is not None
    text = "" if listing else _text(sql, file)
    with _broken_off():
        from projections.analytics.asking.questions import questions  # noqa: PLC0415 — brings DuckDB
        from projections.analytics.asking.sandbox import Limits  # noqa: PLC0415 — as above

        limits = Limits(_seconds(timeout), _bytes(memory))
        given = {} if listing else _parameters(text, parameter, store, session)
        with ExitStack() as stack:
            with _asked(store, session if listing else given.get("session"), here=listing) as log:
                database = stack.enter_context(caught_up(log, log.place.home))
            if how in COLUMNAR:
                from projections.analytics.asking.columnar import prepare  # noqa: PLC0415 — brings pyarrow

                prepare()
            sandbox = stack.enter_context(questions(database, limits, alone=True))
            if listing:
                text = _listing(sandbox, schema)
            _answer(sandbox, Ask(text, given, how, output, limit, full))


@contextmanager
def _asked(store: Place | None, session: str | int | None, *, here: bool) -> Iterator[EventLog]:
    """The log that is asked: of several cells, the one of the session that the query is about.

    Args:
        store: where it is.
        session: which; where there is none, ``here`` means the one that is worked on.
        here: whether it may be any cell.
    """
    with open_store(store) as (directory, log):
        about = session or (chosen_session(directory) if here else None)
        if not isinstance(about, str):
            yield log
            return
        with in_cell(log, SessionId(about), "asked") as one:
            yield one


def _text(sql: str | None, file: Path | None) -> str:
    if sql is None and file is None and sys.stdin.isatty():
        raise typer.BadParameter(
            'say what to ask: mind query "SELECT …", -f FILE, or begin with --examples'
        )
    return read_text(sql, file)


def _format_of(output: Path | None) -> Format:
    return SUFFIXES.get(output.suffix.lower(), "table") if output is not None else "table"


def _seconds(timeout: float) -> float:
    if not 0 < timeout <= _LONGEST:
        raise BadSetting(f"--timeout {timeout:g} is no time to wait: give 0.1 to 86400 seconds.")
    return timeout


def _bytes(size: str) -> int:
    """A size as people write it: 512MB, 2GiB, 1.5g.

    Raises:
        BadSetting: it is none, or too little to ask anything.
    """
    found = _SIZE.fullmatch(size.strip())
    if found is None:
        raise BadSetting(f"--memory {size!r} is no size: write 512MB, 2GiB …")
    number, unit, binary = found.groups()
    base = 1024 if binary else 1000
    wanted = int(float(number) * base ** " kmgt".index(unit.lower() or " "))
    if wanted < _LEAST:
        raise BadSetting(f"--memory {size} is too little for any query: give at least 34MB.")
    return wanted


def _parameters(
    sql: str, given: list[str] | None, store: Place | None, session: str | None
) -> dict[str, str | int | None]:
    """What a query's ``$names`` stand for.

    Raises:
        BadSetting: one has no value, or there is none for which one was given.
        Refused: the query looks away from the moment or session that was named.
    """
    values: dict[str, str | int | None] = {}
    for text in given or ():
        name, equals, value = text.removeprefix("$").partition("=")
        if not equals:
            raise BadSetting(f"{text!r} is no parameter: write -p name=value.")
        values[name.strip()] = value

    def ours() -> dict[str, str | int | None]:
        with desk(store, session) as at:
            return {"session": at.session, "at_version": at.version}

    return filled(sql, values, ours, past=MOMENT.get() is not None, named=session is not None)


def filled(
    sql: str,
    values: dict[str, str | int | None],
    ours: Callable[[], Mapping[str, str | int | None]],
    *,
    past: bool,
    named: bool,
) -> dict[str, str | int | None]:
    """All that a query's ``$names`` stand for.

    Args:
        sql: the query.
        values: what was given.
        ours: gives ``session`` and ``at_version``, which need not be given.
        past: a moment was named, at which the query has to look.
        named: a session was named, of which the query has to ask.

    Raises:
        BadSetting: one has no value, or there is none for which one was given.
        Refused: the query looks away from the moment or session that was named.
    """
    from projections.analytics.asking.shapes import look_at  # noqa: PLC0415 — brings DuckDB

    asked = look_at(sql)
    if asked is None:
        return values  # running it will say what is wrong
    for name in sorted(values.keys() - asked.parameters):
        raise BadSetting(f"The query has no ${name}: {_having(asked.parameters)}.")
    left = asked.parameters - values.keys()
    if past and "at_version" not in left:
        raise Refused(
            "This query would not look at the past: ask the views of a branch, as in"
            " FROM drafts_of($session, at_version := $at_version)."
        )
    if named and "session" not in left:
        raise Refused(
            "This query asks of no session in particular: name $session in it, as in"
            " FROM drafts_of($session)."
        )
    if left & {"session", "at_version"}:
        values |= {name: value for name, value in ours().items() if name in left}
    for name in sorted(left - values.keys()):
        raise BadSetting(f"The query leaves ${name} open: give it a value (-p {name}=…).")
    return values


def _having(names: frozenset[str]) -> str:
    return f"it has {', '.join(f'${name}' for name in sorted(names))}" if names else "it has none"


def _listing(sandbox: "Sandbox", schema: str | None) -> str:
    from projections.analytics.asking.catalog import columns_query, tables_query  # noqa: PLC0415 — as above

    return tables_query(sandbox) if schema is None else columns_query(sandbox, schema)


def _answer(sandbox: "Sandbox", ask: Ask) -> None:
    """Run it, and write the answer as it comes."""
    most, counted = ask.limit or None, Counted()
    if ask.format == "table" and ask.output is None and ask.limit is None and sys.stdout.isatty():
        most = SHOWN
    try:
        if ask.format in COLUMNAR:
            write = _columns(sandbox, ask, most)
            with _place(ask.output) as sink:
                rows = write(sink)
        else:
            lines = _lines(sandbox, ask, counted, most)
            with _place(ask.output) as sink:
                write_lines(lines, sink)
            rows = counted.rows
    except BrokenPipeError:
        return  # who stops listening, as head does, has had enough
    if ask.output is not None:
        out.talk(f"Wrote {out.count(rows, 'row')} to {out.safe(str(ask.output))}.")
    elif counted.more and ask.limit is None:
        out.talk(f"{rows} rows are shown; there are more (--limit 0 shows all).")
    elif ask.format == "table":
        out.talk(f"{out.count(rows, 'row')}{', and there are more' if counted.more else ''}.")


def _place(output: Path | None) -> AbstractContextManager[BinaryIO]:
    return placed(output) if output is not None else piped()


def _lines(sandbox: "Sandbox", ask: Ask, counted: Counted, most: int | None) -> Iterator[str]:
    from projections.analytics.asking import shapes  # noqa: PLC0415 — as above

    if ask.format in {"json", "jsonl"}:
        objects = counted.of(shapes.json_objects(sandbox, ask.sql, ask.parameters), most)
        return (json_array if ask.format == "json" else json_lines)(objects)
    answer = shapes.texts(sandbox, ask.sql, ask.parameters)
    names, types = [name for name, _ in answer.columns], [type_ for _, type_ in answer.columns]
    rows = counted.of(answer.rows, most)
    if ask.format == "csv":
        return csv_lines(names, rows)
    look = Look(None, ask.full) if ask.output else Look.of_this_terminal(full=ask.full)
    return (f"{line}\n" for line in table_lines(names, types, rows, look))


def _columns(sandbox: "Sandbox", ask: Ask, most: int | None) -> Callable[[BinaryIO], int]:
    from projections.analytics.asking import columnar, shapes  # noqa: PLC0415 — as above

    batches = columnar.limited(shapes.columnar(sandbox, ask.sql, ask.parameters), most)
    if ask.format == "parquet":
        return partial(columnar.write_parquet, batches)
    stream = ask.output is None  # a file can be mapped into memory, a pipe can not
    return partial(columnar.write_arrow, batches, stream=stream)


def _tell_examples(*, json: bool) -> None:
    from projections.analytics.asking.catalog import examples  # noqa: PLC0415 — only here

    if json:
        out.as_json([example._asdict() for example in examples()])
        return
    for example in examples():
        out.answer(out.shade(f"-- {example.question}", "strong"))
        out.answer(f"{example.sql};\n")
    out.talk("$session and $at_version fill themselves in: the session you work on, or --session.")


@contextmanager
def _broken_off() -> Iterator[None]:
    """Let Ctrl-C end with one sentence, and as shells expect."""
    from projections.analytics.asking.complaints import broke_off  # noqa: PLC0415 — as above

    try:
        yield
    except KeyboardInterrupt:
        sentence = broke_off().sentence
    except QueryStopped as error:
        sentence = error.sentence
        if sentence != broke_off().sentence:
            raise
    else:
        return
    out.talk(f"mind: {sentence}")
    sys.exit(INTERRUPTED)


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(query)
