"""Is everything as it was written, and does everything work: verify, head, doctor."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from cli import output as out
from cli.options import JsonFlag, StoreOption
from cli.wiring import open_store
from commands.eventlog import SQLITE_VERSION, EventLog, Verdict
from commands.eventlog.place import Place
from commands.eventlog.status import why_closed
from commands.world import RealWorld
from domain.errors import Broken, LogosphereError, NoStore, Refused
from domain.ids import SessionId, stream_id
from domain.reach import Away
from domain.server_errors import CellsAreAway

if TYPE_CHECKING:
    from commands.heads import Compared, Heads


def verify(
    sessions: Annotated[
        list[str] | None,
        typer.Argument(help="Sessions with their ancestors, or agent:NAME; all by default."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Everything: the same as naming none.")
    ] = False,
    since_last: Annotated[
        bool, typer.Option("--since-last", help="Only what came since the last whole proof.")
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option("--against", help="Heads that were kept: mind head -o FILE.", metavar="FILE"),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", help="The public key that signed those heads.", metavar="FILE"),
    ] = None,
    store: StoreOption = None,
    json: JsonFlag = False,
) -> None:
    """Prove that the history is what was written, by recomputing its hash chain.

    Example: mind verify --against heads.json --key me.pub
    """
    if sessions and (everything or since_last):
        raise typer.BadParameter("name sessions, or look at all of them")
    if key is not None and against is None:
        raise typer.BadParameter("a key says who signed heads: add --against FILE")
    if against is not None and (sessions or since_last):
        raise typer.BadParameter("--against looks at the sessions that the file names")
    with open_store(store) as (_, log):
        kept = _kept(against, key)
        standing = _compared(log, kept)
        names = [stream_id(name) for name in sessions] if sessions else None
        there = log.reached()
        away = there.away if names is None else ()
        verdicts = list(log.verify(there.streams if away else names, new=since_last))
        unnamed = set(there.names) - {one.here for one in standing}
    findings = [finding for verdict in verdicts for finding in verdict.findings]
    events = sum(verdict.events for verdict in verdicts)
    wrong = [one for one in standing if one.standing != "as written"]
    if json:
        out.as_json(
            {
                "sessions": sum(":" not in verdict.session for verdict in verdicts),
                "streams": len(verdicts),
                "events": events,
                "findings": [finding._asdict() for finding in findings],
                "heads": [one._asdict() for one in standing],
                "signed_by": kept.key if kept else None,
                "away": [one._asdict() for one in away],
            }
        )
    else:
        for finding in findings:
            out.answer(f"{finding.session or 'the store'}: {finding.sentence}")
        if not findings:
            which = "new event" if since_last and not away else "event"
            where = _counted(verdict.session for verdict in verdicts)
            out.answer(f"{out.count(events, which)} of {where}: all as written.")
        if kept is not None:
            _tell_heads(kept, standing)
            out.talk(_limits(kept, unnamed, whole=not (findings or wrong), trusted=key is not None))
    _end(len(findings) + len(wrong), away)


def _end(bad: int, away: Sequence[Away]) -> None:
    """Say what is wrong, and what nobody could look at.

    Raises:
        Broken: there is any of that.
    """
    unproved = CellsAreAway(away, "Not all was proved") if away else None
    if bad:
        if unproved is not None:
            out.talk(unproved.sentence)
        raise Broken(f"{out.count(bad, 'finding')}: not all is as written; the rest can be read.")
    if unproved is not None:
        raise unproved


def _kept(against: Path | None, key: Path | None) -> "Heads | None":
    if against is None:
        return None
    from commands.heads import read_heads  # noqa: PLC0415 — only where heads are compared

    return read_heads(against, key)


def _compared(log: EventLog, kept: "Heads | None") -> "list[Compared]":
    if kept is None:
        return []
    from commands.heads import compared  # noqa: PLC0415 — as above

    return list(compared(log, kept.kept))


_WHAT = {
    "cut off": "ends at {now}: {missing} gone",
    "rewritten": "is another history: event {version} is not the one that was there",
    "gone": "is gone, with all of its {version} events",
}


def _tell_heads(kept: "Heads", standing: "list[Compared]") -> None:
    for one in standing:
        called = f" (here {one.here})" if one.here not in {None, one.session} else ""
        if one.standing != "as written":
            first = one.now + 1
            missing = f"events {first} to {one.version} are"
            if first == one.version:
                missing = f"event {first} is"
            what = _WHAT[one.standing].format(now=one.now, missing=missing, version=one.version)
            out.answer(f"{one.session}{called} {what}.")
        elif called:
            out.answer(f"{one.session} is called {one.here} here.")
    if all(one.standing == "as written" for one in standing):
        whole = _counted(one.session for one in standing)
        signer = f"signed with {kept.key}" if kept.key else "unsigned"
        out.answer(f"{whole} as whole as on {out.safe(kept.made)} ({signer}).")


def _counted(streams: Iterable[SessionId]) -> str:
    """How many sessions, and how many other streams: of agents, projects and tasks."""
    names = list(streams)
    others = sum(":" in name for name in names)
    if not others:
        return out.count(len(names), "session")
    if others == len(names):
        return out.count(others, "stream")
    return f"{out.count(len(names) - others, 'session')} and {out.count(others, 'other stream')}"


def _limits(kept: "Heads", unnamed: set[SessionId], *, whole: bool, trusted: bool) -> str:
    """What has been proved by now, and what has not."""
    if kept.key is None:
        doubt = "they are unsigned: whoever can write that file could have changed it"
    elif not trusted:
        doubt = "whose key that is was not asked: name the one you trust with --key"
    else:
        doubt = ""
    if not whole:
        told = "The store and these heads do not go together"
        return f"{told}; {doubt}." if doubt else f"{told}, and the heads are what was signed."
    more = f", nor about {_counted(unnamed)} that they do not name" if unnamed else ""
    return (
        "This proves that up to these heads nothing was cut off, changed or slipped in;"
        f" it says nothing about what came after them{more}."
        + (f" It is worth as much as the heads are, and {doubt}." if doubt else "")
    )


def head(
    sessions: Annotated[
        list[str] | None,
        typer.Argument(help="Sessions, or agent:NAME; all of the store by default."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it to a file.", metavar="FILE")
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option("--sign", help="Sign with this Ed25519 private key.", metavar="KEYFILE"),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Export where each session stands, to be kept elsewhere: mind verify --against compares.

    Example: mind head -o heads.json --sign ~/.ssh/id_ed25519
    """
    from commands.heads import heads_of  # noqa: PLC0415 — for this verb alone

    with open_store(store) as (_, log):
        names = [stream_id(name) for name in sessions] if sessions else _all(log)
        data = heads_of(log, names, RealWorld.of_this_user(), sign)
    if output is None:
        out.as_json(data)
        return
    try:
        output.write_text(dumps(data, indent=2) + "\n", "utf-8")
    except OSError as error:
        raise Refused(f"{str(output)!r} can't be written: {error.strerror or error}.") from None
    signed = "signed " if sign else ""
    out.talk(f"Wrote the {signed}heads of {_counted(names)} to {output}.")


def _all(log: EventLog) -> list[SessionId]:
    """All streams; some of them would look like all, in a file that is kept elsewhere."""
    there = log.reached()
    if there.away:
        raise CellsAreAway(there.away, "No heads were written", "try again, or name sessions")
    return there.streams


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
        rows = [(check.what, marks[check.well], check.sentence) for check in checks]
        out.table(rows, ("what", "", "found"), wrapped=True)
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
        ("toktok", "tokens"),
        ("pydantic_ai", "hosted"),
        ("hdbscan", "hdbscan"),
        ("duckdb", "analysis"),
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


_LEFT = "old bytes may be left: another program reads, or the disk is full"
_LEFT_THERE = "old bytes are on the server until they are overwritten: docs/scale.md"


def _store(store: Place | None) -> Iterator[Check]:
    try:
        with open_store(store) as (_, log):
            there = log.reached()
            yield Check("store", True, f"{log.place}, {_counted(there.names)}")
            for one in there.away:
                yield Check(f"cell {one.cell}", False, f"{one.counted} in it; {one.why}")
            closed = why_closed(log.place)
            told = f"read only: {closed}" if closed else "possible"
            yield Check("writing", None if closed else True, told)
            if closed is None and not log.forget() and not there.away:
                yield Check("redacted", None, _LEFT if log.place.url is None else _LEFT_THERE)
            yield from _history(log.verify(there.streams if there.away else None))
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
    app.command()(head)
    app.command()(doctor)
