"""The exact text that a mind is shown: prompt."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from cli import output as out
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk, gatherer_for
from domain.errors import Broken, Refused
from domain.events import MindInvoked
from domain.protocol.prompts import Dialect, examples, system_prompt
from domain.recorded import Recorded
from domain.session import Session
from projections.prompts import redacted, reprompt

if TYPE_CHECKING:
    from commands.iterate import Prepared


class Shown(NamedTuple):
    """A prompt, and what is recorded of it; of the next one, what would be."""

    text: str
    invoked: MindInvoked
    version: int | None = None
    """Of the invocation; None for the next one."""
    matches: bool = True
    system_matches: bool = True
    gone: tuple[Recorded, ...] = ()
    """What was redacted since, where it no longer matches."""


def prompt(
    upcoming: Annotated[
        bool, typer.Option("--next", help="What the next iteration would be shown.")
    ] = False,
    system: Annotated[
        bool, typer.Option("--system", help="The system prompt and its examples as well.")
    ] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show the exact text that the mind read last; piped, it is that text byte for byte.

    Example: mind prompt        mind at iter:3 prompt        mind prompt --next --system
    """
    with desk(store, session) as at:
        shown = _next(at) if upcoming else _recorded(at)
    if json:
        out.as_json(_as_data(shown, system=system))
    elif system and shown.system_matches:
        _print_all(shown)
    else:
        _print(shown.text)
    if not shown.matches:
        raise Broken(_difference(shown))
    if system and not shown.system_matches:
        raise Broken(_told_otherwise(shown.invoked))


def _recorded(at: Desk) -> Shown:
    recorded = at.log.newest(at.session, ["mind.invoked"], upto=at.version)
    if recorded is None or not isinstance(recorded.event, MindInvoked):
        then = "yet" if at.version is None else f"up to event {at.version}"
        raise Refused(
            f"Session {at.session!r} has no iteration {then}:"
            " see what the first one would be shown (mind prompt --next)."
        )
    again = reprompt(at.log, at.session, recorded)
    gone = () if again.matches else redacted(at.log, at.session, recorded)
    return Shown(
        again.text,
        recorded.event,
        recorded.version,
        again.matches,
        again.system_matches,
        tuple(gone),
    )


def _next(at: Desk) -> Shown:
    prepared = prepared_for(at, at.state)
    return Shown(prepared.request.prompt, prepared.invocation)


def prepared_for(at: Desk, state: Session) -> "Prepared":
    """The next iteration, up to where the mind would be asked."""
    from commands.iterate import prepare  # noqa: PLC0415 — what was shown needs none of this

    recalls = state.config.sampling == "recall"
    memory = gatherer_for(at.log).memory(state) if recalls else None
    user_time = at.world.local_time().isoformat(timespec="seconds")
    return prepare(state, _addressed(state.config.model), user_time, memory)


class _Named(NamedTuple):
    """A mind that nobody asks: nothing is loaded for it."""

    name: str
    dialect: Dialect


def _addressed(model: str) -> _Named:
    """Who it is and how it is spoken to, whether or not it could be asked here and now.

    Raises:
        MindUnavailable: it is a recorded one, and its file is not here.
    """
    from commands.minds.hosted import HostedMind  # noqa: PLC0415 — as above
    from commands.minds.local import LocalMind  # noqa: PLC0415
    from commands.minds.names import check_name  # noqa: PLC0415
    from commands.minds.script import read_script  # noqa: PLC0415

    name = check_name(model)
    if name.provider == "script":
        return _Named(model, read_script(model, Path(name.model).expanduser()).dialect)
    dialect = LocalMind.dialect if name.provider == "local" else HostedMind.dialect
    return _Named(model, dialect)


def _print(text: str) -> None:
    """The text: harmless where a person looks at it, to the letter where a program reads it."""
    if sys.stdout.isatty():
        out.answer(out.safe(text.removesuffix("\n")))
        return
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()


def _print_all(shown: Shown) -> None:
    """All that the mind was told, headed as ``mind step --debug`` does it."""
    dialect = _known(shown.invoked)
    out.answer(out.shade("── system", "faint"))
    out.answer(out.safe(system_prompt(dialect).text))
    for asked, reply in examples(dialect):
        out.answer(out.shade("── example", "faint"))
        out.answer(f"{out.safe(asked)}\n→ {out.safe(reply)}")
    out.answer(out.shade("── prompt", "faint"))
    out.answer(out.safe(shown.text.removesuffix("\n")))


def _known(invoked: MindInvoked) -> Dialect:
    """Its dialect; only for an invocation whose system prompt this version has."""
    return cast("Dialect", invoked.dialect)


def _difference(shown: Shown) -> str:
    this = f"This is not what iteration {shown.invoked.iteration} read"
    if shown.gone:
        events = [f"{recorded.version} ({recorded.event.kind})" for recorded in shown.gone]
        which = " and ".join(filter(None, [", ".join(events[:-1]), events[-1]]))
        were = "event {} was" if len(events) == 1 else "events {} were"
        return f"{this}: {were.format(which)} redacted since."
    return (
        f"{this}: its prompt had another sha256 ({shown.invoked.prompt_hash.hex()[:12]}…)."
        " Prove the log (mind verify); if it is sound, use the version of Logosphere that wrote it."
    )


def _told_otherwise(invoked: MindInvoked) -> str:
    return (
        f"The system prompt of iteration {invoked.iteration} is not in this version: it was told"
        f" protocol {invoked.protocol} in the {invoked.dialect} dialect with the sha256"
        f" {invoked.system_hash.hex()[:12]}…; use the version of Logosphere that wrote it."
    )


def _as_data(shown: Shown, *, system: bool) -> dict[str, Any]:
    invoked = shown.invoked
    told = None
    if system:
        told = {"sha256": invoked.system_hash, "matches": shown.system_matches}
        if shown.system_matches:
            dialect = _known(invoked)
            told |= {
                "version": system_prompt(dialect).version,
                "text": system_prompt(dialect).text,
                "examples": [{"prompt": p, "reply": r} for p, r in examples(dialect)],
            }
    return {
        "iteration": invoked.iteration,
        "version": shown.version,
        "based_on": invoked.based_on,
        "model": invoked.model,
        "protocol": invoked.protocol,
        "dialect": invoked.dialect,
        "sha256": invoked.prompt_hash,
        "matches": shown.matches,
        "redacted": [{"version": r.version, "kind": r.event.kind} for r in shown.gone],
        "sampled": invoked.sampled,
        "user_time": invoked.user_time,
        "system": told,
        "prompt": shown.text,
    }


def register(app: typer.Typer) -> None:
    """Add the verb of this file."""
    app.command()(prompt)
