"""What a mind is shown: prompt, context."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from cli import output as out
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk, gatherer_for
from domain.dialogue import sent
from domain.errors import Broken, Refused
from domain.events import MessageSent, MindInvoked
from domain.protocol.prompts import Dialect, examples, system_prompt
from domain.recorded import Recorded
from domain.session import Session
from projections.prompts import redacted, reprompt

if TYPE_CHECKING:
    from commands.iterate import Prepared
    from commands.minds.mind import Listener, Reply, Request
    from projections.window import Window

_HEADER = ("block", "shown", "room", "characters")

_NAMED = 6
"""Exchanges on one line."""


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
    prepared = _prepared(at, at.state)
    return Shown(prepared.request.prompt, prepared.invocation)


def _prepared(at: Desk, state: Session) -> "Prepared":
    """The next iteration, up to where the mind would be asked."""
    from commands.iterate import prepare  # noqa: PLC0415 — what was shown needs none of this

    recalls = state.config.sampling == "recall"
    memory = gatherer_for(at.log).memory(state) if recalls else None
    user_time = at.world.local_time().isoformat(timespec="seconds")
    return prepare(state, _Named(state.config.model), user_time, memory)


class _Named:
    """A mind as far as a prompt depends on it: nothing is loaded, and nobody can be asked."""

    def __init__(self, name: str) -> None:
        self.name, self.dialect = name, _dialect(name)

    def reply(self, request: "Request", listener: "Listener | None" = None) -> "Reply":
        """Never asked for."""
        raise NotImplementedError


def _dialect(model: str) -> Dialect:
    """How a mind is spoken to, whether or not it could be asked here and now.

    Raises:
        MindUnavailable: it is a recorded one, and its file is not here.
    """
    from commands.minds.hosted import HostedMind  # noqa: PLC0415 — as above
    from commands.minds.local import LocalMind  # noqa: PLC0415
    from commands.minds.names import check_name  # noqa: PLC0415
    from commands.minds.script import read_script  # noqa: PLC0415

    name = check_name(model)
    if name.provider == "script":
        return read_script(model, Path(name.model).expanduser()).dialect
    return LocalMind.dialect if name.provider == "local" else HostedMind.dialect


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


def context(
    store: StoreOption = None, session: SessionOption = None, json: JsonFlag = False
) -> None:
    """Show what of the session fits into the next prompt, and what does not.

    Example: mind context        mind at iter:5 context
    """
    from projections.window import tokens, window  # noqa: PLC0415 — for this verb alone

    with desk(store, session) as at:
        state = at.state
        prepared = _prepared(at, _as_if_asked(state))
    request, invoked, asked = prepared.request, prepared.invocation, state.dialogue.awaiting
    shown = window(state, prepared.view, invoked.dialect)
    told = tokens(request.system, *(side for turn in request.examples for side in turn))
    if json:
        out.as_json(_window_data(state, shown, told))
        return
    out.table(list(_blocks(shown, asked.exchange if asked else "–")), _HEADER)
    for name, value in _facts(shown, told):
        out.answer(f"{out.shade(name.ljust(13), 'faint')} {value}")
    if asked is None:
        out.talk(
            'The session is idle: this is what would surround your next message (mind message "…").'
        )


def _as_if_asked(state: Session) -> Session:
    """The state; if it is idle, with a message without words to answer."""
    if state.dialogue.awaiting is not None:
        return state
    exchange = state.dialogue.next_exchange(state.upcoming)
    message = MessageSent(exchange=exchange, text="", iteration=state.upcoming)
    return state._replace(dialogue=sent(state.dialogue, message, state.version + 1))


def _blocks(shown: "Window", message: str) -> Iterator[tuple[str, ...]]:
    """The blocks of the prompt, one a row."""
    whole = sum(how == "shown" for _, how in shown.exchanges)
    exchanges = len(shown.exchanges) + shown.older
    recalled = f", {shown.recalled} called back" if shown.recalled else ""
    yield "message", message, "", str(shown.message or "")
    for name, what, block in (
        ("history", f"{whole} of {out.count(exchanges, 'exchange')}", shown.history),
        ("drafts", f"{shown.drafts.shown} of {shown.drafts.of}", shown.drafts),
        ("thoughts", f"{shown.thoughts.shown} of {shown.thoughts.of}{recalled}", shown.thoughts),
    ):
        yield name, what, f"{block.shown} of {block.most}", f"{block.chars} of {block.limit}"


def _facts(shown: "Window", told: int) -> Iterator[tuple[str, str]]:
    """What was left out, and what else the mind is told."""
    for how in ("in part", "no room", "pruned"):
        names = [id_ for id_, other in shown.exchanges if other == how]
        older = shown.older if how == "no room" else 0
        if names or older:
            yield how, _named(names, older)
    if shown.shortened:
        yield "shortened", f"{out.count(shown.shortened, 'text')}, to beginning and end"
    yield "signals", _signals(shown)
    yield "hard signals", f"{shown.hard_signals.consecutive} of {shown.hard_signals.threshold}"
    yield "prompt", f"{shown.chars} characters, about {out.count(shown.tokens, 'token')}"
    yield "before it", f"the system prompt, about {out.count(told, 'token')}"


def _named(names: Sequence[str], older: int) -> str:
    """Exchanges, the newest first, as many as a line holds."""
    more = len(names[:-_NAMED]) + older
    return ", ".join([*reversed(names[-_NAMED:]), *([f"{more} older"] if more else [])])


def _signals(shown: "Window") -> str:
    if not shown.signals:
        return "none"
    newest = shown.signals[0]
    status = f", {out.one_line(newest.status, 60)}" if newest.status else ""
    return f"{len(shown.signals)}, the newest {newest.presence}{status}"


def _window_data(state: Session, shown: "Window", told: int) -> dict[str, Any]:
    asked = state.dialogue.awaiting
    exchanges = [{"exchange": id_, "standing": how} for id_, how in shown.exchanges]
    blocks = {name: getattr(shown, name)._asdict() for name in ("history", "drafts", "thoughts")}
    return {
        "session": state.id,
        "version": state.version,
        "awaiting": asked.exchange if asked else None,
        **shown._asdict(),
        **blocks,
        "exchanges": exchanges,
        "signals": [signal._asdict() for signal in shown.signals],
        "hard_signals": shown.hard_signals._asdict(),
        "system_tokens": told,
    }


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(prompt)
    app.command()(context)
