"""Finding where something turned: bisect."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, NamedTuple

import typer

from cli import output as out
from cli.history import as_data
from cli.log import line
from cli.options import AtOption, JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk_at
from commands.moments import resolve
from domain.config import Config
from domain.errors import BadSetting, NoSuchSession, Refused
from domain.ids import SessionId
from domain.recorded import Recorded
from domain.refs import AtHead, AtVersion, parse_moment
from projections.bisect import Look, Turn
from projections.facts import FACTS, Facts

CANNOT_TELL = 125
"""The exit code of a command that can't judge a moment, as for ``git bisect run``."""


class Span(NamedTuple):
    """The moments that are searched: between two versions of one session."""

    session: SessionId
    start: int
    end: int


def bisect(
    start: Annotated[
        str | None, typer.Argument(help="A moment at which it does not hold; event 1 by default.")
    ] = None,
    end: Annotated[
        str | None, typer.Argument(help="A later moment at which it holds; now by default.")
    ] = None,
    where: Annotated[
        str | None, typer.Option("--where", "-w", help="A condition on facts.", metavar="EXPR")
    ] = None,
    run: Annotated[
        str | None,
        typer.Option("--run", "-r", help="A command for your shell.", metavar="COMMAND"),
    ] = None,
    facts: Annotated[
        bool, typer.Option("--facts", help="List the facts, with their values and meanings.")
    ] = False,
    at: AtOption = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Find the first event for which something holds, in log2(n) looks.

    Where it begins to hold several times, one of these moments is found.

    EXPR is Python or SQL on the facts: draft_count >= 3 and 'tide' in draft, or
    answer IS NOT NULL AND draft LIKE '%tide%', or any('moon' in lower(t) for t in thoughts).
    What is not there is None, and a comparison with None does not hold.

    COMMAND is run once per moment, with the facts as JSON on stdin and with MIND_STORE,
    MIND_SESSION and MIND_VERSION set. Exit code 0: it holds; 1: it does not; 125: can't tell.

    Example: mind bisect iter:1 head --where "cost_usd > 0.05"
    """
    with desk_at(store, session, at) as here:
        if facts:
            _list(here, json=json)
            return
        span = _span(here, start, end)
        with _look(here, span, where, run) as holds:
            from projections.bisect import bisect as search  # noqa: PLC0415 — the verb's own name

            turn = search(span.start, span.end, holds)
        before, first = here.log.pick(span.session, [turn.before, turn.first])
    if json:
        out.as_json(_as_data(span, turn, before, first))
    if turn.skipped:
        raise Refused(
            f"It begins to hold at one of the events {turn.before + 1} to {turn.first}: nobody"
            f" could tell at {_numbers(turn.skipped)} ({turn.looks} states looked at)."
        )
    if not json:
        _print("first", first)
        _print("before", before)
        states = span.end - span.start + 1
        out.answer(out.shade(f"Looked at {turn.looks} of {out.count(states, 'state')}.", "faint"))


def _span(at: Desk, start: str | None, end: str | None) -> Span:
    first = parse_moment(start) if start is not None else None
    last = parse_moment(end) if end is not None else None
    named = {moment.session for moment in (first, last) if moment and moment.session}
    if len(named) > 1:
        raise BadSetting(f"{start!r} and {end!r} have to be moments of one session.")
    session = named.pop() if named else at.session
    if not at.log.exists(session):
        raise NoSuchSession(session, at.log.sessions())
    upto = at.version if session == at.session else None
    low, high = first.ref if first else AtVersion(1), last.ref if last else AtHead()
    return Span(
        session,
        resolve(at.log, session, low, upto=upto),
        resolve(at.log, session, high, upto=upto),
    )


# looking at a moment


@contextmanager
def _look(at: Desk, span: Span, where: str | None, run: str | None) -> Iterator[Look]:
    """What is asked of each moment.

    Raises:
        BadSetting, BadExpression: nothing can be asked so.
    """
    if (where is None) == (run is None):
        raise BadSetting(
            'Say what should hold, in one of two ways: --where "draft_count >= 3"'
            " (mind bisect --facts lists the facts), or --run 'COMMAND'."
        )

    def facts_at(version: int) -> Facts:
        return Facts(at.log, at.log.state(span.session, version))

    if where is not None:
        from projections.predicate import predicate  # noqa: PLC0415 — parses Python

        asked = predicate(where, FACTS, Config.model_fields)
        yield lambda version: asked.holds(facts_at(version))
    else:
        command = run or ""
        yield lambda version: _judged(at, span.session, version, command, facts_at(version))


def _judged(at: Desk, session: SessionId, version: int, command: str, facts: Facts) -> bool | None:
    """What a command of the user's says about a moment."""
    import json  # noqa: PLC0415 — for --run alone
    import subprocess  # noqa: PLC0415
    import sys  # noqa: PLC0415

    environment = {
        **os.environ,
        "MIND_STORE": at.log.place.name,
        "MIND_SESSION": session,
        "MIND_VERSION": str(version),
    }
    shell = os.environ.get("SHELL") or "/bin/sh"
    try:
        done = subprocess.run(  # noqa: S603 — the user's own command, in the user's own shell
            [shell, "-c", command],
            input=json.dumps(dict(facts)).encode(),
            stdout=sys.stderr,
            env=environment,
            check=False,
        )
    except OSError as error:
        raise Refused(f"The shell {shell!r} can't be run: {error.strerror or error}.") from None
    if done.returncode not in {0, 1, CANNOT_TELL}:
        raise Refused(
            f"The command {_ended(done.returncode)} at event {version}: 0 would mean that it holds,"
            f" 1 that it does not, {CANNOT_TELL} that nobody can tell."
        )
    told = {0: "holds", 1: "does not hold"}.get(done.returncode, "can't tell")
    out.talk(f"event {version}: {told}")
    return None if done.returncode == CANNOT_TELL else done.returncode == 0


def _ended(code: int) -> str:
    why = {126: " (it can't be run)", 127: " (not found)"}.get(code, "")
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}{why}"


# showing


def _print(what: str, recorded: Recorded) -> None:
    at = f"{datetime.fromtimestamp(recorded.at / 1e6).astimezone():%m-%d %H:%M:%S}"
    head = f"{what:<6}  {recorded.version:>5}  {at}  {recorded.event.kind:<21}"
    told = out.one_line(line(recorded), out.width() - len(head) - 2)
    out.answer(f"{out.shade(head, 'strong' if what == 'first' else 'faint')}  {told}")


def _as_data(span: Span, turn: Turn, before: Recorded, first: Recorded) -> dict[str, Any]:
    return {
        **span._asdict(),
        "first": None if turn.skipped else as_data(first),
        "before": None if turn.skipped else as_data(before),
        "between": [turn.before, turn.first],
        "skipped": turn.skipped,
        "looks": turn.looks,
        "states": span.end - span.start + 1,
    }


def _numbers(versions: tuple[int, ...]) -> str:
    """``3 to 7, 9``."""
    parts: list[list[int]] = []
    for version in versions:
        if parts and parts[-1][1] == version - 1:
            parts[-1][1] = version
        else:
            parts.append([version, version])
    shown = [str(low) if low == high else f"{low} to {high}" for low, high in parts[:8]]
    return ", ".join(shown) + (" …" if len(parts) > 8 else "")


_ROOM = 400
"""Characters of a value in the list."""


def _list(at: Desk, *, json: bool) -> None:
    facts = Facts(at.log, at.state)
    if json:
        out.as_json(
            [{"fact": n, "value": v, "meaning": FACTS[n].meaning} for n, v in facts.items()]
        )
        return
    rows = [(name, _value(value), FACTS[name].meaning) for name, value in facts.items()]
    out.table(rows, ("fact", "value", "meaning"), cut=("value", "meaning"))


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return out.count(len(value), "setting")
    if isinstance(value, tuple):
        return out.one_line(f"{out.count(len(value), 'text')}: {value!r}", _ROOM)
    return out.one_line(repr(value), _ROOM)


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(bisect)
