"""What a mind is shown of a session, and why; what is left out, and why: context."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from cli import output as out
from cli.options import AtOption, JsonFlag, SessionOption, StoreOption
from cli.prompts import prepared_for
from cli.wiring import Desk, desk_at
from domain.dialogue import sent
from domain.errors import BadSetting
from domain.events import MessageSent
from domain.events.artifacts import ArtifactType
from domain.protocol.prompts import examples, system_prompt
from domain.session import Session

if TYPE_CHECKING:
    from commands.minds.tokens import Counter
    from domain.context import LeftOut
    from projections.absent import Compacted, Gone
    from projections.reuse import Reuse
    from projections.window import Part, Window

_HEADER = ("block", "shown", "room", "characters", "tokens")
_PARTS = ("block", "what", "tokens", "why", "text")
_LEFT = ("not shown", "why", "text")
_REUSE = ("event", "iteration", "memory", "same", "tokens", "the same first", "why it changed")

_ARTIFACTS = frozenset(get_args(ArtifactType))

_EXCERPT = 48
"""Characters of a text on a line."""


def context(
    explain: Annotated[
        bool, typer.Option("--explain", help="Every part and why it is in; what is not, and why.")
    ] = False,
    cache: Annotated[
        bool, typer.Option("--cache", help="What each prompt has in common with the one before.")
    ] = False,
    limit: Annotated[
        int,
        typer.Option("--limit", "-n", min=0, help="So many prompts, or things left out; 0: all."),
    ] = 20,
    at: AtOption = None,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show what of the session stands in the next prompt: how much, why, and what does not.

    Example: mind context        mind context --explain --at iter:5        mind context --cache
    """
    if explain and cache:
        raise BadSetting("Choose one of --explain and --cache.")
    with desk_at(store, session, at) as here:
        show = _cache if cache else _explain if explain else _overview
        show(here, limit or None, json=json)


# how much


def _overview(here: Desk, _: int | None, *, json: bool) -> None:
    shown, told, counter = _window(here)
    state = here.state
    if json:
        out.as_json(_window_data(state, shown, told, counter))
        return
    asked = state.dialogue.awaiting
    out.table(list(_blocks(shown, asked.exchange if asked else "–")), _HEADER, cut=())
    for name, value in _facts(shown, told, counter):
        out.answer(f"{out.shade(name.ljust(13), 'faint')} {value}")
    _say_if_idle(state)


def context_data(here: Desk) -> dict[str, Any]:
    """What stands in the next prompt, with all its parts, for programs."""
    shown, told, counter = _window(here)
    parts = [part._asdict() for part in shown.parts]
    return _window_data(here.state, shown, told, counter) | {"parts": parts}


def _window(here: Desk) -> "tuple[Window, int, Counter]":
    """What the next prompt shows, the tokens of what stands before it, and what counted them."""
    from projections.window import window  # noqa: PLC0415 — for this verb alone

    state, counter = here.state, _counter(here.state)
    prepared = prepared_for(here, _as_if_asked(state))
    request = prepared.request
    before = (request.system, *(side for turn in request.examples for side in turn))
    shown = window(state, prepared.view, prepared.invocation, counter.counted)
    return shown, sum(counter.counted(before)), counter


def _counter(state: Session) -> "Counter":
    from os import environ  # noqa: PLC0415 — as below

    from commands.minds.tokens import counter  # noqa: PLC0415 — only here tokens are counted

    return counter(state.config.model, environ)


def _as_if_asked(state: Session) -> Session:
    """The state; if it is idle, with a message without words to answer."""
    if state.dialogue.awaiting is not None:
        return state
    exchange = state.dialogue.next_exchange(state.upcoming)
    message = MessageSent(exchange=exchange, text="", iteration=state.upcoming)
    return state._replace(dialogue=sent(state.dialogue, message, state.version + 1))


def _say_if_idle(state: Session) -> None:
    if state.dialogue.awaiting is None:
        out.talk(
            'The session is idle: this is what would surround your next message (mind message "…").'
        )


def _blocks(shown: "Window", message: str) -> Iterator[tuple[str, ...]]:
    """The blocks of the prompt, one a row."""
    recalled = f", {shown.recalled} called back" if shown.recalled else ""
    exchanges = out.count(shown.blocks["history"].of // 2, "exchange")
    what = {
        "message": message,
        "memory": f"{{}} of {out.count(shown.blocks['memory'].of, 'artifact')}",
        "history": f"{shown.exchanges} of {exchanges}",
        "drafts": f"{{}} of {shown.blocks['drafts'].of}",
        "thoughts": f"{{}} of {shown.blocks['thoughts'].of}{recalled}",
    }
    for name, block in shown.blocks.items():
        one = name == "message"
        room = "" if block.most is None or one else f"{block.shown} of {block.most}"
        chars = f"{block.chars}" + ("" if block.limit is None else f" of {block.limit}")
        tokens = f"{block.tokens}" + (f" of {shown.memory_limit}" if name == "memory" else "")
        yield name, what[name].format(block.shown), room, chars, tokens
    yield "prompt", "", "", str(shown.chars), f"{shown.tokens} of {shown.limit}"


def _facts(shown: "Window", told: int, counter: "Counter") -> Iterator[tuple[str, str]]:
    """What was left out, and what else the mind is told."""
    if shown.left_out or shown.older:
        exchanges = {
            left.what.partition(",")[0] for left in shown.left_out if left.what.startswith("exc_")
        }
        kinds = [left.what.partition(" ")[0] for left in shown.left_out]
        named = (
            (len(exchanges) + shown.older, "exchange"),
            (sum(kind in _ARTIFACTS for kind in kinds), "artifact"),
            (kinds.count("draft"), "draft"),
        )
        counts = ", ".join(out.count(number, noun) for number, noun in named if number)
        if counts:
            yield "not shown", f"{counts} (why: mind context --explain)"
    if shown.shortened:
        yield "shortened", f"{out.count(shown.shortened, 'text')}, to beginning and end"
    yield "signals", _signals(shown)
    yield "hard signals", f"{shown.hard_signals.consecutive} of {shown.hard_signals.threshold}"
    yield "before it", f"the system prompt, {out.count(told, 'token')}"
    yield "tokens", _tokens(shown, counter)


def _tokens(shown: "Window", counter: "Counter") -> str:
    if not counter.exact:
        return "estimated from bytes; no tokenizer of this mind is here"
    return (
        f"counted by {out.safe(counter.name)}; the limit holds for the estimate, {shown.estimate}"
    )


def _signals(shown: "Window") -> str:
    if not shown.signals:
        return "none"
    newest = shown.signals[0]
    status = f", {out.one_line(newest.status, 60)}" if newest.status else ""
    return f"{len(shown.signals)}, the newest {newest.presence}{status}"


def _window_data(state: Session, shown: "Window", told: int, counter: "Counter") -> dict[str, Any]:
    asked = state.dialogue.awaiting
    return {
        "session": state.id,
        "version": state.version,
        "awaiting": asked.exchange if asked else None,
        "dialect": shown.dialect,
        **{name: block._asdict() for name, block in shown.blocks.items()},
        "exchanges": shown.exchanges,
        "older": shown.older,
        "recalled": shown.recalled,
        "shortened": shown.shortened,
        "signals": [signal._asdict() for signal in shown.signals],
        "hard_signals": shown.hard_signals._asdict(),
        "chars": shown.chars,
        "tokens": shown.tokens,
        "around": shown.around,
        "estimate": shown.estimate,
        "limit": shown.limit,
        "memory_limit": shown.memory_limit,
        "counted_by": counter.name,
        "exact": counter.exact,
        "system_tokens": told,
        "left_out": [left._asdict() for left in shown.left_out],
    }


# why


def _explain(here: Desk, limit: int | None, *, json: bool) -> None:
    from projections.absent import compacted, gone  # noqa: PLC0415 — as above

    shown, told, counter = _window(here)
    state = here.state
    left = gone(here.log, state, limit)
    old = compacted(here.log, state, limit) if shown.older else []
    if json:
        data = _window_data(state, shown, told, counter)
        parts = [part._asdict() for part in shown.parts]
        out.as_json(
            data
            | {"parts": parts, "gone": [one._asdict() for one in left]}
            | {"compacted": [one._asdict() for one in old]}
        )
        return
    out.table([_part_row(part) for part in shown.parts], _PARTS, cut=("why", "text"))
    whole = f"{shown.tokens} of {shown.limit}"
    out.answer(
        f"and {out.count(shown.around, 'token')} around them: limits, presence, marks;"
        f" {whole} in all, {_tokens(shown, counter)}"
    )
    rows = [*_left_rows(shown.left_out, limit), *_gone_rows(left, limit), *_old_rows(shown, old)]
    if rows:
        out.answer()
        out.table(rows, _LEFT, cut=("why", "text"))
    _say_if_idle(state)


def _part_row(part: "Part") -> tuple[str, ...]:
    why = part.why if part.whole else f"{part.why}; shortened"
    return part.block, part.what, str(part.tokens), why, out.one_line(part.text, _EXCERPT)


def _left_rows(left: "Sequence[LeftOut]", limit: int | None) -> Iterator[tuple[str, str, str]]:
    """What the state holds and the prompt does not show; neighbours of one reason together."""
    groups = [(why, [one.what for one in same]) for why, same in groupby(left, lambda o: o.why)]
    for why, names in groups[:limit]:
        span = f"{names[0]} … {names[-1]} ({len(names)})" if len(names) > 2 else ", ".join(names)
        yield span, why, ""
    if limit is not None and len(groups) > limit:
        yield f"{len(groups) - limit} more", "see all of them with --limit 0", ""


def _gone_rows(left: "Sequence[Gone]", limit: int | None) -> Iterator[tuple[str, str, str]]:
    for one in left:
        yield one.what, f"{one.why} (event {one.version})", out.one_line(one.text, _EXCERPT)
    if limit is not None and len(left) == limit:
        yield "…", "those that left before: --limit 0", ""


def _old_rows(shown: "Window", old: "Sequence[Compacted]") -> Iterator[tuple[str, str, str]]:
    for one in old:
        names = one.exchanges
        span = f"{names[0]} … {names[-1]} ({len(names)})" if len(names) > 1 else names[0]
        yield span, f"{one.why} (event {one.version})", ""
    if shown.older:
        many = out.count(shown.older, "exchange")
        yield f"{many} in all", "too old for any prompt: mind show, mind search", ""


# what a provider's cache can use again


def _cache(here: Desk, limit: int | None, *, json: bool) -> None:
    from projections.reuse import reuses  # noqa: PLC0415 — as above

    counter = _counter(here.state)
    found = reuses(here.log, here.session, upto=here.version, limit=limit, counted=counter.counted)
    told = _told(counter.counted)
    if json:
        out.as_json(
            {
                "session": here.session,
                "counted_by": counter.name,
                "exact": counter.exact,
                **_summary(found, told),
                "prompts": [_reuse_data(one) for one in found],
            }
        )
        return
    if not found:
        out.talk("There is no prompt yet: let the mind work first (mind run).")
        return
    out.table([_reuse_row(one) for one in found], _REUSE, cut=_REUSE[-2:])
    for line in _verdict(_summary(found, told), counter):
        out.answer(line)


def _told(counted: Callable[[Sequence[str]], Sequence[int]]) -> Callable[[str], int]:
    """How many tokens a mind of a dialect is told before its prompt."""
    known: dict[str, int] = {}

    def told(dialect: str) -> int:
        if dialect not in known:
            form: Any = dialect
            before = (system_prompt(form).text, *(t for pair in examples(form) for t in pair))
            known[dialect] = sum(counted(before))
        return known[dialect]

    return told


def _summary(found: "Sequence[Reuse]", told: Callable[[str], int]) -> dict[str, Any]:
    """Hits, and the tokens that all these prompts had and had had before."""
    compared = [one for one in found if one.hit is not None]
    hits = sum(one.hit is True for one in compared)
    system = [told(one.dialect) for one in compared]
    again = [s if one.same_chars else 0 for s, one in zip(system, compared, strict=True)]
    sent_ = sum(one.tokens for one in compared) + sum(system)
    same = sum(one.same_tokens for one in compared) + sum(again)
    return {
        "compared": len(compared),
        "hits": hits,
        "hit_percent": _percent(hits, len(compared)),
        "tokens": sent_,
        "same_tokens": same,
        "same_percent": _percent(same, sent_),
    }


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


def _verdict(summary: dict[str, Any], counter: "Counter") -> Iterator[str]:
    if not summary["compared"]:
        yield "The first prompt: there is none before it to compare with."
        return
    yield (
        f"The artifacts stood there unchanged in {summary['hits']} of {summary['compared']} prompts"
        f" ({summary['hit_percent']} %)."
    )
    how = f"counted by {out.safe(counter.name)}" if counter.exact else "estimated"
    yield (
        f"With the system prompt, {summary['same_tokens']:,} of {summary['tokens']:,} tokens"
        f" ({summary['same_percent']} %, {how}) were what the prompt before began with."
    )


def _reuse_row(one: "Reuse") -> tuple[str, ...]:
    hit = "–" if one.hit is None else "hit" if one.hit else "miss"
    same = f"{one.same_chars} characters, {one.same_tokens} tokens" if one.hit is not None else "–"
    changes = ["another mind was asked"] if one.another_mind else []
    changes += [_change(*change) for change in one.changes]
    if not one.matches:
        changes.append("not as it was read: something was redacted since")
    why = "; ".join(changes)
    return (
        str(one.version),
        str(one.iteration),
        str(one.memory_tokens),
        hit,
        str(one.tokens),
        same,
        why,
    )


def _change(what: str, how: str, why: str, version: int | None) -> str:
    return f"{what} {how} ({why}{f', event {version}' if version is not None else ''})"


def _reuse_data(one: "Reuse") -> dict[str, Any]:
    changes: Iterable[Any] = one.changes
    return {**one._asdict(), "changes": [change._asdict() for change in changes]}


def register(app: typer.Typer) -> None:
    """Add the verb of this file."""
    app.command()(context)
