"""Living the past again: as a proof that nothing changed, or as a counterfactual: replay."""

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import output as out
from cli.options import JsonFlag, SessionOption, StoreOption, pairs
from cli.wiring import Desk, desk, gatherer_for, mind_for
from commands.eventlog.place import Place
from domain.config import Config
from domain.errors import BadSetting, Broken, NoSuchSession
from domain.events import (
    ConfigChanged,
    DraftAccepted,
    DraftSeen,
    Event,
    ExchangesPruned,
    MessageSent,
    SignalChanged,
    ThoughtAdded,
)
from domain.ids import SessionId, session_id

if TYPE_CHECKING:
    from commands.handle import Done
    from commands.minds.mind import Mind
    from commands.replay import Ended
    from projections.replay import Difference, Proof, Tally

Settings = Annotated[
    list[str] | None,
    typer.Option("--with", "--set", help="What is other than it was, as key=value.", metavar="K=V"),
]


def replay(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="The new branch; with --check, sessions.", metavar="NAME"),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Prove that all comes out as it was recorded.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="With --check: all sessions of the store.")
    ] = False,
    settings: Settings = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Where it branches off; before the first message by default.",
            metavar="REF",
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--until", help="The last moment that is lived again.", metavar="REF"),
    ] = None,
    go_on: Annotated[
        bool, typer.Option("--continue", help="Go on with a replay that ended in the middle.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only how it ended.")] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Live a session's past again in a branch, under other settings; or prove it with --check.

    The same messages, signals, thoughts, seen marks, prunes and settings, as many iterations in
    each exchange, at the times of then; where a draft was accepted, the branch accepts its own
    latest one. Hooks are not called, and what they did is left out.

    Example: mind replay what-if --with model=local:small        mind replay --check --all
    """
    if check:
        _only("--check", settings, start, end, go_on)
        _check(names or (), store, session, everything=everything, json=json)
        return
    if everything or not names or len(names) > 1:
        raise BadSetting(
            "Name one new branch (mind replay NAME --with model=…), or prove what was recorded"
            " (mind replay --check)."
        )
    branch = session_id(names[0])
    if go_on:
        _only("--continue", settings, start, end, session)
    chosen = dict(pairs(settings))
    with desk(store, branch if go_on else session) as at:
        at.only_now()
        span = None if go_on else (_version(at, start), _version(at, end))
        ended = _lived(at, branch, span, chosen, quiet=quiet or json)
    if json:
        out.as_json({"session": branch, **ended._asdict()})
    else:
        out.talk(_told(branch, ended))
    if ended.detail is not None:
        raise Broken(ended.detail)


def _only(option: str, *others: object) -> None:
    """Refuse options that say how a replay begins where none does."""
    if any(others):
        raise BadSetting(
            f"{option} goes with names alone: --with, --from, --until and --session say how a"
            " replay begins."
        )


def _version(at: Desk, ref: str | None) -> int | None:
    if ref is None:
        return None
    session, version = at.moment(ref)
    if session != at.session:
        raise BadSetting(
            f"{ref!r} is a moment of {session!r}: name the session whose past is lived again"
            f" (--session {session})."
        )
    return version


# living it again


def _lived(
    at: Desk,
    branch: SessionId,
    span: tuple[int | None, int | None] | None,
    settings: dict[str, str],
    *,
    quiet: bool,
) -> "Ended":
    """Begin a replay of that span, or go on with one where there is none, and live it."""
    from cli.runs import Onlooker, gentle_interrupt  # noqa: PLC0415 — brings minds along
    from commands.replay import begin_replay, go_on  # noqa: PLC0415 — the same

    watcher, gatherer = Onlooker(quiet=quiet), gatherer_for(at.log)

    def mind(config: Config) -> "Mind":
        return mind_for(config, watcher.waiting)

    def acted(_: object, done: "Done") -> None:
        if not quiet:
            out.talk(_act(done.events[0]))

    if span is not None:
        begin_replay(
            at.log,
            at.session,
            branch,
            at.world,
            after=span[0],
            upto=span[1],
            settings=settings,
            mind_for=mind,
            gatherer=gatherer,
        )
    with closing(watcher), gentle_interrupt() as asked:
        return go_on(
            at.log,
            branch,
            mind,
            at.world,
            watcher=watcher,
            stop_asked=lambda: bool(asked),
            gatherer=gatherer,
            on_act=acted,
        )


def _act(event: Event) -> str:
    """What was done again, on one line."""
    room = out.width() - 2
    match event:
        case MessageSent():
            return f"» {out.one_line(event.text, room)}"
        case DraftAccepted():
            return f"» accepted #{event.index} of {event.exchange}"
        case DraftSeen():
            return f"» seen: {', '.join(f'#{index}' for index in event.indexes)}"
        case ExchangesPruned():
            return f"» pruned: {', '.join(event.exchanges)}"
        case SignalChanged():
            return f"» {out.one_line(f'{event.presence} {event.status}', room)}"
        case ThoughtAdded():
            return f"» thought: {out.one_line(event.text, room - 9)}"
        case ConfigChanged():
            value = "off" if event.new is None else event.new
            return f"» {out.one_line(f'{event.key}={value}', room)}"
    return f"» {event.kind}"


def _told(branch: SessionId, ended: "Ended") -> str:
    how_far = "all" if ended.lived == ended.steps else f"{ended.lived} of"
    said = (
        f"Lived {how_far} {out.count(ended.steps, 'step')} of {ended.source} (events"
        f" {ended.after + 1} to {ended.upto}) again in {branch}, with"
        f" {out.count(ended.iterations, 'iteration')}."
    )
    if ended.reason == "done":
        return f"{said} Compare: mind diff {ended.source} {branch}"
    if ended.reason == "budget":
        said += f" The budget is spent: mind config --session {branch} --set budget_usd=…, then"
    return f"{said} Go on: mind replay --continue {branch}"


# the proof


def _check(
    names: Sequence[str], store: Place | None, session: str | None, *, everything: bool, json: bool
) -> None:
    from projections.replay import prove  # noqa: PLC0415 — reads what only this verb reads

    with desk(store, session) as at:
        at.only_now()
        chosen = [session_id(name) for name in names] or [at.session]
        for name in chosen:
            if not at.log.exists(name):
                raise NoSuchSession(name, at.log.sessions())
        proof = prove(at.log, at.log.sessions() if everything else chosen, at.log.snapshots)
    if json:
        out.as_json(_as_data(proof))
    else:
        _print(proof)
    if not proof.holds:
        count = sum(part.different for part in (proof.prompts, proof.samples, proof.states))
        raise Broken(
            f"{out.count(count, 'answer')} of the log came out otherwise: mind verify tells whether"
            " the log itself is as it was written."
        )


def _print(proof: "Proof") -> None:
    parts = (("prompts", proof.prompts), ("samples", proof.samples), ("states", proof.states))
    out.table(
        [
            (name, *map(str, (tally.checked, tally.equal, tally.different, tally.unproven)))
            for name, tally in parts
        ],
        ("", "checked", "equal", "different", "unproven"),
        cut=(),
    )
    if proof.differences:
        out.answer(_difference(proof.differences[0]))
    else:
        where = out.count(len(proof.sessions), "session")
        out.answer(f"{out.count(proof.events, 'event')} of {where} replayed: all as it was.")
    if proof.prompts.unproven:
        out.talk(
            f"{out.count(proof.prompts.unproven, 'prompt')} showed what was redacted since, and"
            " can't be rendered again (mind at REF prompt says what)."
        )
    if proof.states.unproven:
        out.talk(
            f"{out.count(proof.states.unproven, 'kept state')} can't be read; nobody relies on it."
        )
    if proof.other_system_prompts:
        out.talk(
            f"{out.count(proof.other_system_prompts, 'invocation')} had another system prompt than"
            " this version has; only its hash is known."
        )


def _difference(first: "Difference") -> str:
    where = ", ".join(first.where)
    recorded, found = out.one_line(first.recorded, 200), out.one_line(first.found, 200)
    said = f"First difference: the {first.what} of iteration {first.iteration}"
    if first.what == "state":
        said = f"First difference: the state kept of event {first.version}"
    return (
        f"{said} of {first.session}"
        + (f", event {first.version}" if first.what != "state" else "")
        + (f", in {out.one_line(where, 200)}" if where else "")
        + f":\n  recorded {recorded or 'nothing'}\n  found    {found or 'nothing'}"
    )


def _as_data(proof: "Proof") -> dict[str, Any]:
    def tally(of: "Tally") -> dict[str, int]:
        return {"checked": of.checked, **of._asdict()}

    return {
        **proof._asdict(),
        "holds": proof.holds,
        "prompts": tally(proof.prompts),
        "samples": tally(proof.samples),
        "states": tally(proof.states),
        "differences": [difference._asdict() for difference in proof.differences],
    }


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(replay)
