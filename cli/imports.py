"""What comes into a store: sessions of another one, conversations of other programs."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cli import output as out
from cli.cells import forget_caches
from cli.options import JsonFlag, StoreOption, pairs
from cli.wiring import MOMENT, open_store
from commands.eventlog import EventLog, Taken
from commands.world import RealWorld
from domain.config import Config
from domain.errors import BadSetting, NotAStore, NothingChanges, Refused

if TYPE_CHECKING:
    from commands.imports import Imported, Report
    from commands.imports.files import Told

Format = Literal["claude-code", "chatgpt", "openai-messages", "markdown"]

_BROKEN_OFF = 130
"""The exit code of what Ctrl-C broke off, as shells count."""
_BAR = 24
_ELSEWHERE = {".json", ".jsonl", ".md", ".markdown", ".txt", ".zip"}


def import_(
    file: Annotated[
        Path, typer.Argument(help="What mind export session wrote, or with --from another file.")
    ],
    source: Annotated[
        Format | None, typer.Option("--from", help="The program or form that the file is of.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="The session's name, for a single conversation.")
    ] = None,
    prefix: Annotated[
        str | None, typer.Option("--prefix", help="What all names begin with, before a slash.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="The mind that goes on with them.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A setting, as key=value.", metavar="K=V")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would come, and write nothing.")
    ] = False,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Take over the sessions of an exported file, or conversations that other programs kept.

    Of an exported file, all has to prove to be as written. A session that is here already gets the
    events that are new; another one of the same name stays, and the newcomer gets another name.

    With --from, each conversation becomes a session, with its own times, tools and thoughts; what
    was regenerated or edited becomes a branch. Nothing is imported twice: of a file that grew, what
    is new comes, into a branch if the session went on here on its own.

    Example: mind import --from chatgpt conversations.json --prefix chatgpt
    """
    if MOMENT.get() is not None:
        raise Refused("An import brings what is new: leave mind at out.")
    chosen = {
        "--name": name,
        "--prefix": prefix,
        "--model": model,
        "--set": settings,
        "--dry-run": dry_run,
    }
    with open_store(store) as (_, log):
        if source is None:
            _refuse_options(chosen)
            _take_over(log, file, json=json)
            return
        report = _import(log, file, source, chosen)
    _tell(report, file, dry=dry_run, json=json)


def _import(log: EventLog, file: Path, source: "Format", chosen: dict[str, Any]) -> "Report":
    from commands.imports import Options, import_file  # noqa: PLC0415 — rarely needed

    settings = {key: Config().read(key, value) for key, value in pairs(chosen["--set"])}
    if chosen["--model"] is not None:
        settings["model"] = chosen["--model"]
    options = Options(chosen["--name"], chosen["--prefix"], settings, chosen["--dry-run"])
    try:
        with _progress() as stage:
            return import_file(
                log,
                source,
                file,
                RealWorld.of_this_user(),
                options,
                checking=stage("Checking"),
                told=stage("Importing"),
            )
    except KeyboardInterrupt:
        out.talk("Broken off: what has come is here, and the same command goes on from there.")
        sys.exit(_BROKEN_OFF)


def _tell(report: "Report", file: Path, *, dry: bool, json: bool) -> None:
    if not report.news:
        raise NothingChanges(_nothing_new(report, file))
    if json:
        out.as_json(
            {
                "sessions": [one._asdict() for one in report.sessions],
                "left_out": dict(report.left_out),
                "changed": dict(report.changed),
                "dry_run": dry,
            }
        )
        return
    for one in report.sessions:
        out.answer(_told(one))
    came = [one for one in report.sessions if one.events]
    out.talk(f"{'It would bring' if dry else 'Imported'} {_counted(report, len(came))}.")
    for what, counts in (("Left out", report.left_out), ("Changed", report.changed)):
        for why, count in sorted(counts.items()):
            out.talk(f"  {what}: {out.safe(why)}: {count:,}")
    if not dry:
        first = next((one for one in came if one.branch_of is None), came[0]).session
        out.talk(f"Next: mind history --session {first}")
        out.talk(f"      mind artifact extract {first}")


def _counted(report: "Report", sessions: int) -> str:
    nouns: tuple[tuple[Literal["exchanges", "tools", "thoughts", "notes"], str], ...] = (
        ("exchanges", "exchange"),
        ("tools", "tool use"),
        ("thoughts", "thought"),
        ("notes", "note"),
    )
    counts = [out.count(report.total(what), noun) for what, noun in nouns if report.total(what)]
    forks = sum(one.branch_of is not None and one.events > 0 for one in report.sessions)
    branches = f" ({forks} of them branches)" if forks else ""
    return f"{out.count(sessions, 'session')}{branches}: {', '.join(counts) or 'nothing'}"


def _told(one: "Imported") -> str:
    if one.what == "known":
        return f"{one.session}: here already, nothing new."
    counts = [
        out.count(count, noun)
        for count, noun in (
            (one.exchanges, "exchange"),
            (0 if one.exchanges else one.answers, "answer"),
            (one.tools, "tool use"),
            (one.thoughts, "thought"),
            (one.notes, "note"),
        )
        if count
    ]
    more = "more of " if one.what == "longer" else ""
    where = f", a branch of {one.branch_of}" if one.branch_of is not None else ""
    return f"{one.session}: {more}{out.one_line(one.title, 60)} ({', '.join(counts)}){where}"


def _nothing_new(report: "Report", file: Path) -> str:
    name = file.name
    if not report.sessions:
        return f"No conversation of {name!r} has a message: nothing was imported."
    here = out.count(len(report.sessions), "session")
    return f"{name!r} was imported before ({here}), and nothing is new in it."


@contextmanager
def _progress() -> "Iterator[Any]":
    """Tell of long work where somebody looks: what is done of the file."""
    shown, last = False, 0.0

    def stage(what: str) -> "Told":
        def told(done: int, whole: int) -> None:
            nonlocal shown, last
            if not sys.stderr.isatty() or time.monotonic() - last < 0.1:
                return
            last = time.monotonic()
            share = min(done / max(whole, 1), 1.0)
            bar = ("█" * round(share * _BAR)).ljust(_BAR, "░")
            line = f"{what} {bar} {share:4.0%} of {whole / 1e6:,.1f} MB"
            print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)
            shown = True

        return told

    try:
        yield stage
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


# sessions of another store


def _refuse_options(chosen: dict[str, Any]) -> None:
    for option, value in chosen.items():
        if value:
            raise BadSetting(f"{option} goes with --from: an exported file has its own names.")


def _take_over(log: EventLog, file: Path, *, json: bool) -> None:
    try:
        taken = log.take_over(file)
    except NotAStore as error:
        if file.suffix.lower() in _ELSEWHERE:
            raise Refused(
                f"{error.sentence.rstrip('.')}; if another program wrote it, say which:"
                " --from claude-code, chatgpt, openai-messages or markdown."
            ) from None
        raise
    if any(one.redacted for one in taken):
        forget_caches(log)
    if json:
        out.as_json([one._asdict() for one in taken])
        return
    for one in taken:
        out.answer(_taken(one))


def _taken(one: Taken) -> str:
    if one.what == "known":
        return f"{one.name}: here already, nothing new."
    news = out.count(one.events, "event")
    if one.what == "longer":
        gone = f"; the content of {one.redacted} was redacted" if one.redacted else ""
        return f"{one.name}: {one.events} more event{'' if one.events == 1 else 's'}{gone}."
    called = f" (it was {one.session} there)" if one.name != one.session else ""
    return f"{one.name}: {news}{called}."


def register(app: typer.Typer) -> None:
    """Add the verb of this file."""
    app.command("import")(import_)
