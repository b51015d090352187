"""The database of the history, built anew: rebuild."""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING, Annotated

import typer

from cli import output as out
from cli.options import JsonFlag, StoreOption
from cli.wiring import open_store
from commands.eventlog import EventLog
from domain.errors import Broken, StoreIsReadOnly

if TYPE_CHECKING:
    from projections.analytics.catchup import CaughtUp, Progress
    from projections.analytics.compare import Difference

INTERRUPTED = 130
"""The exit code of what Ctrl-C broke off, as shells count."""

_BAR = 24


def rebuild(
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Compare what is built with what was there, by table."),
    ] = False,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Build the database of queries and reports anew, from the first event on.

    It need not be done by hand: where it is missing, damaged or of another version, the next query
    does so. The old one stays until the new one is whole, and whoever reads it goes on reading it.

    Example: mind rebuild --verify
    """
    from projections.analytics.catchup import rebuild as build_anew  # noqa: PLC0415 — brings DuckDB

    differences: list[Difference] | None = None
    try:
        with open_store(store) as (directory, log):
            with _kept(log, directory, wanted=verify) as kept, progress("Building") as told:
                began = time.monotonic()
                file = build_anew(log, directory, progress=told)
                seconds = time.monotonic() - began
                if kept is not None:
                    differences = _differences(log, kept, file)
            events = log.position()
    except KeyboardInterrupt:
        out.talk("Broken off: the database is as it was.")
        sys.exit(INTERRUPTED)
    if json:
        out.as_json(
            {
                "file": str(file),
                "events": events,
                "seconds": round(seconds, 3),
                "differences": [one._asdict() for one in differences]
                if differences is not None
                else None,
            }
        )
    else:
        rate = f", {events / seconds:,.0f} events/s" if seconds > 1 else ""
        out.talk(f"Built {file.name} of {events:,} events in {seconds:.1f} s{rate}.")
        for one in differences or ():
            out.answer(f"{out.safe(one.table)}: {_told(one)}")
    if differences:
        tables = out.count(len(differences), "table")
        raise Broken(f"{tables} differed from what the log says; now all is as the log says.")
    if differences is not None and not json:
        out.talk("What was there said the same, table by table.")


@contextmanager
def progress(what: str) -> Iterator["Progress"]:
    """Tell of long work where somebody looks: how much is done, how fast, how long it takes yet."""
    began, shown = time.monotonic(), False
    first: int | None = None

    def told(done: int, whole: int) -> None:
        nonlocal first, shown
        if not sys.stderr.isatty() or (done >= whole and not shown):
            return
        first = first or done
        since = max(time.monotonic() - began, 1e-6)
        rate = done / since
        share = min(done / whole, 1.0)
        bar = ("█" * round(share * _BAR)).ljust(_BAR, "░")
        line = (
            f"{what} {bar} {share:4.0%}  {rate:,.0f} events/s, {(whole - done) / rate:.0f} s left"
        )
        print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)
        shown = True

    try:
        yield told
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def caught_up(log: EventLog, directory: Path) -> Iterator[Path]:
    """The database, brought up to the newest event; what was unusual about that is said.

    Where there is none and the directory may only be read, one is made for the time being.
    """
    from projections.analytics.catchup import CaughtUp, build, catch_up  # noqa: PLC0415 — brings DuckDB
    from projections.analytics.place import FILE  # noqa: PLC0415 — as above

    with ExitStack() as stack:
        with progress("Building") as told:
            try:
                found = catch_up(log, directory, progress=told)
            except StoreIsReadOnly:
                aside = stack.enter_context(TemporaryDirectory(prefix="mind-"))
                found = CaughtUp(Path(aside) / FILE, 0, None)
                build(log, found.file, progress=told)
                out.talk(f"{FILE} can't be written here: it was made for this question alone.")
        say(found)
        yield found.file


def say(found: "CaughtUp") -> None:
    """Say why it was built anew, or how far it is behind."""
    if found.why is not None:
        out.talk(f"{found.why}: built anew.")
    if found.behind:
        events = out.count(found.behind, "event")
        out.talk(f"This is {events} behind: the database is being written, or can't be.")


@contextmanager
def _kept(log: EventLog, directory: Path, *, wanted: bool) -> Iterator[Path | None]:
    """A directory where the maintained database stays, caught up, while another takes its place."""
    if not wanted:
        yield None
        return
    from projections.analytics.catchup import catch_up  # noqa: PLC0415 — brings DuckDB
    from projections.analytics.place import FILE  # noqa: PLC0415 — as above

    why: str | None = f"There was no {FILE}"
    if (directory / FILE).exists():
        with progress("Catching up") as told:
            found = catch_up(log, directory, progress=told)
        why = found.why
    if why is not None:
        out.talk(f"{why}: there was nothing to compare with.")
        yield None
        return
    aside = Path(mkdtemp(prefix="analytics-", dir=directory))
    try:
        try:
            os.link(found.file, aside / found.file.name)
        except OSError:  # not every file system has links
            shutil.copyfile(found.file, aside / found.file.name)
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _differences(log: EventLog, kept: Path, rebuilt: Path) -> "list[Difference]":
    from projections.analytics.catchup import catch_up  # noqa: PLC0415 — as above
    from projections.analytics.compare import compared  # noqa: PLC0415

    return compared(catch_up(log, kept).file, rebuilt)


def _told(one: "Difference") -> str:
    parts = []
    if one.missing:
        parts.append(f"{out.count(one.missing, 'row')} were missing")
    if one.surplus:
        parts.append(f"{out.count(one.surplus, 'row')} should not have been there")
    return f"{' and '.join(parts)} ({out.one_line(one.sample, 200)})"


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(rebuild)
