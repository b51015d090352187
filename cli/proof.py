"""Is everything as it was written, and does everything work: verify, doctor."""

import os
import sys
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from cli import output as out
from cli.options import JsonFlag, StoreOption
from cli.wiring import find_store, open_store
from commands.eventlog import SQLITE_VERSION, Verdict
from domain.errors import Broken, LogosphereError, NoStore
from domain.ids import session_id


def verify(
    sessions: Annotated[
        list[str] | None, typer.Argument(help="Sessions with their ancestors; all by default.")
    ] = None,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Prove that the history is what was written, by recomputing its hash chain.

    Example: mind verify
    """
    with open_store(store) as (_, log):
        names = [session_id(name) for name in sessions] if sessions else None
        verdicts = list(log.verify(names))
    findings = [finding for verdict in verdicts for finding in verdict.findings]
    events = sum(verdict.events for verdict in verdicts)
    if json:
        out.as_json(
            {
                "sessions": len(verdicts),
                "events": events,
                "findings": [finding._asdict() for finding in findings],
            }
        )
    else:
        for finding in findings:
            out.answer(f"{finding.session}: {finding.sentence}")
        if not findings:
            where = out.count(len(verdicts), "session")
            out.answer(f"{out.count(events, 'event')} of {where}: all as written.")
    if findings:
        raise Broken(f"{out.count(len(findings), 'event')} not as written; the others can be read.")


class Check(NamedTuple):
    """One thing that was looked at."""

    what: str
    well: bool | None
    """None: not there, and not needed for everything."""
    sentence: str


def doctor(store: StoreOption = None, json: JsonFlag = False) -> None:
    """Look whether everything is in order, and say what to do where it is not.

    Example: mind doctor
    """
    checks = [*_machine(), *_minds(), *_store(store)]
    if json:
        out.as_json([check._asdict() for check in checks])
    else:
        marks = {True: "ok", False: "BAD", None: "–"}
        out.table([(c.what, marks[c.well], c.sentence) for c in checks], ("what", "", "found"))
    if any(check.well is False for check in checks):
        raise Broken("Something is not in order: see above.")


def _machine() -> Iterator[Check]:
    yield Check("python", sys.version_info >= (3, 11), sys.version.split()[0])
    yield Check("logosphere", True, version("logosphere"))
    sqlite = tuple(int(part) for part in SQLITE_VERSION.split("."))
    yield Check("sqlite", sqlite >= (3, 40), SQLITE_VERSION)


def _minds() -> Iterator[Check]:
    from commands.minds import weights  # noqa: PLC0415 — not needed to start the command

    for package, extra in (
        ("xllamacpp", "local"),
        ("pydantic_ai", "hosted"),
        ("hdbscan", "hdbscan"),
    ):
        here = find_spec(package) is not None
        yield Check(
            package, True if here else None, "installed" if here else f'"logosphere[{extra}]"'
        )
    for known in weights.KNOWN:
        file = weights.standing(known, os.environ)
        yield Check(
            known.name, True if file else None, str(file or f"mind model pull {known.name}")
        )
    for embedder in ("local", "local:multilingual"):
        yield _embedder(embedder)
    for key in ("OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        yield Check(
            key, True if os.environ.get(key) else None, "set" if os.environ.get(key) else "not set"
        )


def _embedder(name: str) -> Check:
    from commands.embedders.choose import make_embedder  # noqa: PLC0415 — not needed to start
    from commands.embedders.embedder import EmbedderUnavailable  # noqa: PLC0415

    try:
        make_embedder(name, os.environ)
    except EmbedderUnavailable as error:
        return Check(f"embedder {name}", None, error.sentence)
    return Check(f"embedder {name}", True, "installed")


def _store(store: Path | None) -> Iterator[Check]:
    try:
        directory = find_store(store)
        with open_store(store) as (_, log):
            names = log.sessions()
            yield Check("store", True, f"{directory}, {out.count(len(names), 'session')}")
            yield Check(
                "writing", log.writable or None, "possible" if log.writable else "read only"
            )
            yield from _history(log.verify())
    except NoStore as error:
        yield Check("store", None if store is None else False, error.sentence)
    except LogosphereError as error:
        yield Check("store", False, error.sentence)


def _history(verdicts: Iterator[Verdict]) -> Iterator[Check]:
    events, bad = 0, False
    for verdict in verdicts:
        events += verdict.events
        for finding in verdict.findings:
            bad = True
            yield Check("history", False, f"{finding.session}: {finding.sentence}")
    if not bad:
        yield Check("history", True, f"{out.count(events, 'event')}, all as written")


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(verify)
    app.command()(doctor)
