"""A job over all sessions, by many processes or machines: analyse."""

import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import output as out
from cli.analysed import Ask, format_of, write_answer
from cli.answers import refuse_taken
from cli.cells import answering
from cli.options import FullFlag, JsonFlag, StoreOption
from cli.rebuild import INTERRUPTED
from cli.wiring import MOMENT, open_store
from commands.eventlog import EventLog
from commands.eventlog.place import Place, place_of
from domain.errors import BadSetting, Refused
from domain.ids import SessionId
from domain.server_errors import CellsAreAway

if TYPE_CHECKING:
    from projections.fleet.partitions import Cut
    from projections.fleet.replay import Opener
    from projections.fleet.results import Results
    from projections.fleet.run import Done, Source, Told
    from projections.fleet.workers import Team

_BAR = 24
_CLUSTER = re.compile(r"dask(?P<tls>\+tls)?://(?P<address>\S+:\d{1,5})/?")
_PARTITIONS = 32
"""At least, and eight for each worker: a part that is lost is then soon done again."""

_MOST_WORKERS = 1024


def analyse(
    job: Annotated[
        str | None,
        typer.Argument(help="sessions, drafts, thoughts, costs, or FILE.py:FUNCTION."),
    ] = None,
    workers: Annotated[
        str | None,
        typer.Option(
            "--workers",
            "-w",
            help="Processes, as many as cores by default, 0 for none; or dask://HOST:PORT.",
            metavar="N|dask://…",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write to a file: .parquet, .csv, .json or .jsonl.",
            metavar="FILE",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    sessions: Annotated[
        list[str] | None,
        typer.Option("--sessions", help="Only these, as payments/*; can be repeated."),
    ] = None,
    upto: Annotated[
        int | None,
        typer.Option("--upto", help="As of this position of the store.", metavar="POSITION"),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=0, help="At most so many rows; 0 for all.")
    ] = None,
    full: FullFlag = False,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Let a job see all sessions, in parallel, and make a table of what it finds.

    Without a job, those that are here are listed. A job of yours is a function of Python that is
    given a session and its events and yields rows: docs/analyse.md tells more. What is written
    while it runs is left out, so that the result is of one moment of the store.

    Example: mind analyse sessions --workers 4 -o sessions.parquet
    """
    if job is None:
        _tell_jobs(json=json)
        return
    if MOMENT.get() is not None:
        raise Refused("An analysis is of the whole store: leave mind at out, or use --upto.")
    from projections.fleet.load import code_of, load  # noqa: PLC0415 — this verb's alone

    ask = Ask(code_of(job), _chosen(sessions), upto, output, limit, full=full, json=json)
    team = _team(workers)
    if output is not None:
        format_of(output)
        refuse_taken(output, force=force)
    load(ask.code)
    try:
        with (
            open_store(store) as (_, log),
            team as crew,
            _sources(log, ask.upto, alone=crew.alone) as sources,
        ):
            began = time.monotonic()
            with _analysed(sources, ask, crew) as results:
                seconds = time.monotonic() - began
                rows = write_answer(results, ask)
            _tell(results, rows, ask, seconds)
    except KeyboardInterrupt:
        out.talk("Broken off: nothing was written.")
        sys.exit(INTERRUPTED)


def opener(place: Place) -> Callable[[], EventLog]:
    """Opens a store in whatever process; one on a server also on whatever machine."""
    return partial(_open, place.name)


def _open(name: str) -> EventLog:
    return EventLog(place_of(name))


@contextmanager
def _sources(log: EventLog, upto: int | None, *, alone: bool) -> "Iterator[list[Source]]":
    """The cells of a store, each open by itself; the store itself if it has but one.

    Args:
        log: the store.
        upto: the last position that counts; the newest one if None.
        alone: whether it is read by nobody but this process.

    Raises:
        BadSetting: ``upto`` is no position, or none of just one cell.
        CellsAreAway: one of them does not answer.
    """
    from projections.fleet.partitions import cut  # noqa: PLC0415 — as above

    cells, away = answering(log)
    if away:  # a table that lacks sessions looks like one that has all
        todo = f"try again, or name one that answers: --store '…?cell={cells[0].address.cell}'"
        raise CellsAreAway(away, "Nothing was analysed", todo)
    if len(cells) == 1:
        newest = log.position()
        if upto is not None and not 0 < upto <= newest:
            raise BadSetting(f"--upto {upto} is no position: the store has 1 to {newest}.")
        yield [_source(log, cut(log, upto if upto is not None else newest), alone=alone)]
        return
    if upto is not None:
        raise BadSetting(f"--upto is a position of one cell: name it, as in --store '{cells[0]}'.")
    with ExitStack() as stack:
        logs = [stack.enter_context(EventLog(cell)) for cell in cells]
        yield [_source(one, cut(one, None, one.place.address.cell), alone=alone) for one in logs]


def _source(log: EventLog, at: "Cut", *, alone: bool) -> "Source":
    from projections.fleet.run import Source  # noqa: PLC0415 — as above

    open_: Opener = opener(log.place)
    if alone:
        open_ = lambda: nullcontext(log)  # noqa: E731 — it is open, and stays so
    return Source(log, open_, at)


def _analysed(sources: "list[Source]", ask: Ask, team: "Team") -> "Results":
    from projections.fleet.run import analyse as run  # noqa: PLC0415 — as above

    count = max(_PARTITIONS, 8 * team.width)
    with _progress() as told:
        return run(ask.code, sources, team, count=count, wanted=ask.wanted, told=told)


def _team(workers: str | None) -> "AbstractContextManager[Team]":
    """Who does the work.

    Raises:
        BadSetting: it says neither how many nor where.
    """
    from projections.fleet.workers import dask, here, processes  # noqa: PLC0415 — as above

    if workers is None:
        return processes(os.cpu_count() or 1, _lost)
    cluster = _CLUSTER.fullmatch(workers)
    if cluster is not None:
        return dask(cluster["address"], out.talk, tls=cluster["tls"] is not None)
    if not (workers.isascii() and workers.isdigit() and int(workers) <= _MOST_WORKERS):
        raise BadSetting(
            f"--workers {workers!r}: say how many processes, 0 for none, or dask://HOST:PORT."
        )
    return processes(int(workers), _lost) if int(workers) else here()


def _lost() -> None:
    out.talk("A worker was killed: what it did is done again.")


def _chosen(patterns: list[str] | None) -> Callable[[SessionId], bool]:
    if not patterns:
        return lambda _: True
    return lambda session: any(fnmatchcase(session, pattern) for pattern in patterns)


def _tell(results: "Results", rows: int, ask: Ask, seconds: float) -> None:
    """Say what the rows are a function of."""
    about = results.about()
    if ask.output is not None:
        if ask.json:
            out.as_json({**about, "file": str(ask.output), "rows": rows})
        out.talk(f"Wrote {out.count(rows, 'row')} to {out.safe(str(ask.output))}.")
    rate = f", {results.events / seconds:,.0f} events/s" if seconds > 1 else ""
    out.talk(
        f"{out.count(results.sessions, 'session')}, {out.count(results.events, 'event')}{rate}; as"
        f" of {', '.join(map(_cut, results.cuts))}, code {results.code}: digest"
        f" {results.digest[:16]}."
    )


def _cut(at: "Cut") -> str:
    cell = f" of {out.safe(at.cell)}" if at.cell is not None else ""
    return f"position {at.position}{cell}" + (f" (chain {at.hash.hex()[:12]})" if at.hash else "")


def _tell_jobs(*, json: bool) -> None:
    from projections.fleet.built_in import BUILT_IN  # noqa: PLC0415 — as above

    if json:
        out.as_json(
            [
                {
                    "job": job.name,
                    "about": job.about,
                    "columns": [column._asdict() for column in job.columns],
                }
                for job in BUILT_IN.values()
            ]
        )
        return
    for job in BUILT_IN.values():
        out.answer(f"{out.shade(job.name, 'strong')}: {job.about}")
        out.answer(out.block(", ".join(column.name for column in job.columns)))
    out.talk("Next: mind analyse sessions, or a function of yours (docs/analyse.md).")


@contextmanager
def _progress() -> "Iterator[Told]":
    """Tell of long work where somebody looks: how much is done, how fast, how long it takes yet."""
    began, shown = time.monotonic(), False

    def told(done: "Done") -> None:
        nonlocal shown
        if not sys.stderr.isatty() or (done.sessions >= done.of and not shown):
            return
        share, since = done.sessions / done.of, time.monotonic() - began
        line = f"Analysing {('█' * round(share * _BAR)).ljust(_BAR, '░')} {share:4.0%}"
        if share:
            line += f"  {done.events / since:,.0f} events/s, {since / share - since:.0f} s left"
        print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)
        shown = True

    try:
        yield told
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def register(app: typer.Typer) -> None:
    """Add the verb of this file."""
    app.command()(analyse)
