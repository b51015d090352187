"""What of a session stands in its next prompt: each part, its tokens, why it is there; what is not.

Artifacts and turns are those of :func:`domain.context.assemble`, with its reasons.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from domain.context import Held, LeftOut, Turn
from domain.dialogue import is_signal
from domain.events import MindInvoked
from domain.protocol.compact import (
    ARTIFACT_SIZE,
    ARTIFACTS,
    DRAFT_SIZE,
    MESSAGE_SIZE,
    THOUGHT_SIZE,
    THOUGHTS,
    TOTAL_SIZE,
    TURN_SIZE,
    TURNS,
    clip,
    remembered,
)
from domain.protocol.dialects import prompt_text
from domain.protocol.observe import context_of
from domain.protocol.view import HardSignals, Limit, SignalSeen, View
from domain.session import Session
from domain.tokens import estimate, tokens_in
from projections.prompts import sections

Name = Literal["message", "memory", "history", "drafts", "thoughts"]
"""A block of a prompt."""

BLOCKS: tuple[Name, ...] = ("message", "memory", "history", "drafts", "thoughts")

Counted = Callable[[Sequence[str]], Sequence[int]]
"""Counts the tokens of texts."""


class Part(NamedTuple):
    """One thing that a mind is shown."""

    block: Name
    what: str
    """``effort 412``, ``exc_4_000, user``, ``draft 2``, ``thought 88``."""
    why: str
    text: str
    """As it is shown."""
    tokens: int
    """Of the text."""
    whole: bool
    """Else only its beginning and end are shown."""


class Block(NamedTuple):
    """How much of one block is used."""

    shown: int
    of: int
    """How many there are to choose from."""
    most: int | None
    """How many could be shown; None where only their length counts."""
    chars: int
    limit: int | None
    """The most characters of all of them; None where tokens are limited."""
    tokens: int
    """Of the whole block, with what stands around its texts."""


class Window(NamedTuple):
    """What of a session stands in one prompt."""

    dialect: str
    parts: tuple[Part, ...]
    """In the order of their blocks, each block in the order of the prompt."""
    left_out: tuple[LeftOut, ...]
    """Artifacts, exchanges and drafts of the state that are not shown."""
    blocks: dict[Name, Block]
    older: int
    """Accepted exchanges that are too old for the state, so that no prompt shows them."""
    recalled: int
    """Thoughts that were called back from beyond the pool."""
    signals: tuple[SignalSeen, ...]
    """Newest first."""
    hard_signals: HardSignals
    chars: int
    """Of the whole prompt."""
    tokens: int
    around: int
    """How many of them are no words of a part: limits, presence, marks, indentation."""
    estimate: int
    """The tokens of the whole prompt by the estimate that limits it."""
    limit: int
    """``context_tokens``; in the compact dialect its own, smaller one."""
    memory_limit: int
    """How many of them artifacts may take."""

    @property
    def exchanges(self) -> int:
        """How many accepted exchanges are shown, or a side of them."""
        names = {part.what.partition(",")[0] for part in self.parts if part.block == "history"}
        return len(names)

    @property
    def shortened(self) -> int:
        """Texts of which only the beginning and the end are shown."""
        return sum(not part.whole for part in self.parts)


class _Shown(NamedTuple):
    """A part before its tokens are counted."""

    block: Name
    what: str
    why: str
    text: str
    whole: bool


def by_estimate(texts: Sequence[str]) -> list[int]:
    """Count tokens where there is no tokenizer."""
    return [estimate(text) for text in texts]


def window(
    session: Session, view: View, invoked: MindInvoked, counted: Counted = by_estimate
) -> Window:
    """Measure what a prompt shows of a state, and say why.

    Args:
        session: the state; while it is idle, all is measured as it would be with a message.
        view: what the mind is shown of it.
        invoked: what is noted of it: the dialect, the sample. The compact dialect shows less than
            the view holds; where even that is too long, it shortens texts further than is said.
        counted: counts tokens.
    """
    compact = invoked.dialect == "compact"
    context = context_of(session, view)
    shown = [
        *_message(view, session),
        *map(_artifact, context.memory),
        *map(_turn, context.turns),
        *_drafts(view),
        *_thoughts(view, invoked),
    ]
    left = [*context.left_out, *_undrafted(session, view)]
    if compact:
        narrow = list(_narrowed(shown, view))
        left += [LeftOut(one.what, _UNSHOWN[one.block]) for one in shown if one not in narrow]
        shown = [_clipped(one) for one in narrow]
    prompt = prompt_text(view, invoked.dialect)
    most, most_memory = session.config.context_tokens, context.memory_room
    if compact:
        most = min(most, tokens_in(TOTAL_SIZE))
        most_memory = min(most_memory, tokens_in(ARTIFACTS * ARTIFACT_SIZE))
    parts, blocks, total = _measured(shown, prompt, counted)
    limits = _limits(view, compact=compact)
    having = {
        "message": 1,
        "memory": len(session.shelf.artifacts),
        "history": 2 * session.dialogue.accepted,
        "drafts": len(session.dialogue.drafts),
        "thoughts": len(session.pool.active),
    }
    return Window(
        invoked.dialect,
        parts,
        tuple(left),
        {
            name: Block(
                sum(part.block == name for part in parts),
                having[name],
                limits[name][0],
                sum(len(part.text) for part in parts if part.block == name),
                limits[name][1],
                blocks.get(name, 0),
            )
            for name in BLOCKS
        },
        session.dialogue.accepted - len(session.dialogue.history),
        sum(
            thought.recalled for thought in (view.thoughts[:THOUGHTS] if compact else view.thoughts)
        ),
        view.signals[:1] if compact else view.signals,
        HardSignals(session.work.consecutive_hard, session.config.hard_signal_threshold),
        len(prompt),
        total,
        total - sum(part.tokens for part in parts),
        estimate(prompt),
        most,
        most_memory,
    )


def _measured(
    shown: Sequence[_Shown], prompt: str, counted: Counted
) -> tuple[tuple[Part, ...], dict[Name, int], int]:
    """The parts with their tokens, the tokens of each block, and of all."""
    blocks = {_BLOCK_OF[name]: text for name, text in sections(prompt).items() if name in _BLOCK_OF}
    texts = [*(one.text for one in shown), *blocks.values(), prompt]
    tokens = list(counted(texts))
    parts = tuple(
        Part(*one[:4], found, one.whole) for one, found in zip(shown, tokens, strict=False)
    )
    return parts, dict(zip(blocks, tokens[len(shown) : -1], strict=True)), tokens[-1]


_BLOCK_OF: dict[str, Name] = {
    "memory": "memory",
    **dict.fromkeys(("awaiting", "message"), "message"),
    **dict.fromkeys(("dialogue", "earlier"), "history"),
    **dict.fromkeys(("drafts", "latest_draft"), "drafts"),
    **dict.fromkeys(("thinking_pool", "pool"), "thoughts"),
}
"""What the dialects call them."""


def _message(view: View, session: Session) -> Iterator[_Shown]:
    asked = session.dialogue.awaiting
    if asked is not None and view.awaiting is not None:
        yield _Shown("message", asked.exchange, "it awaits an answer", view.awaiting.text, True)


def _artifact(held: Held) -> _Shown:
    one = held.artifact
    whole = one.text in held.text and (one.resolution or "") in held.text
    return _Shown("memory", f"{one.type} {one.id}", held.why, held.text, whole)


def _turn(turn: Turn) -> _Shown:
    who = "user" if turn.sender == "user" else "mind"
    return _Shown("history", f"{turn.exchange.id}, {who}", turn.why, turn.text, turn.whole)


def _drafts(view: View) -> Iterator[_Shown]:
    for number, draft in enumerate(view.drafts, 1 - len(view.drafts)):
        why = "one of the newest drafts" if number else "the newest draft"
        yield _Shown("drafts", f"draft {draft.index}", why, draft.text, True)


def _thoughts(view: View, invoked: MindInvoked) -> Iterator[_Shown]:
    callers = {version: caller for version, caller, _ in invoked.recalled}
    for version, thought in zip(invoked.sampled, view.thoughts, strict=True):
        caller = callers.get(version)
        why = "drawn from the pool" if caller is None else f"called back by thought {caller}"
        yield _Shown("thoughts", f"thought {version}", why, thought.text, True)


def _undrafted(session: Session, view: View) -> Iterator[LeftOut]:
    """Drafts that the view leaves out."""
    held = {draft.index for draft in view.drafts}
    full = len(held) >= view.drafts_limit.count
    limit = "draft_display_count" if full else "draft_display_chars"
    for draft in session.dialogue.drafts:
        if draft.index not in held:
            yield LeftOut(f"draft {draft.index}", f"more than {limit} shows")


def _limits(view: View, *, compact: bool) -> dict[Name, tuple[int | None, int | None]]:
    """How many items and characters each block may have."""
    history, drafts, thoughts = view.history_limit, view.drafts_limit, view.thoughts_limit
    if compact:
        history = _tighter(history, TURNS, TURN_SIZE)
        drafts = _tighter(drafts, 1, DRAFT_SIZE)
        thoughts = _tighter(thoughts, THOUGHTS, THOUGHT_SIZE)
    return {
        "message": (1, MESSAGE_SIZE if compact else None),
        "memory": (ARTIFACTS, ARTIFACTS * ARTIFACT_SIZE) if compact else (None, None),
        "history": (history.count, history.chars),
        "drafts": (drafts.count, drafts.chars),
        "thoughts": (thoughts.count, thoughts.chars),
    }


def _tighter(limit: Limit, count: int, size: int) -> Limit:
    return Limit(min(limit.chars, count * size), min(limit.count, count))


# What the compact dialect leaves of a view.

_SIZES: dict[Name, int] = {
    "message": MESSAGE_SIZE,
    "memory": ARTIFACT_SIZE,
    "history": TURN_SIZE,
    "drafts": DRAFT_SIZE,
    "thoughts": THOUGHT_SIZE,
}

_UNSHOWN: dict[Name, str] = {
    "message": "",
    "memory": f"the compact dialect shows {ARTIFACTS} artifacts, open efforts first",
    "history": f"the compact dialect shows the newest {TURNS // 2} exchanges",
    "drafts": "the compact dialect shows the newest draft with content",
    "thoughts": f"the compact dialect shows {THOUGHTS} thoughts",
}


def _narrowed(shown: Sequence[_Shown], view: View) -> Iterator[_Shown]:
    kept = {f"{artifact.type} {artifact.id}" for artifact in remembered(view)}
    of: dict[Name, list[_Shown]] = {name: [] for name in BLOCKS}
    for one in shown:
        of[one.block].append(one)
    yield from of["message"]
    yield from [one for one in of["memory"] if one.what in kept]
    yield from of["history"][-TURNS:]
    yield from [one for one in of["drafts"] if not is_signal(one.text)][-1:]
    yield from of["thoughts"][:THOUGHTS]


def _clipped(one: _Shown) -> _Shown:
    text = clip(one.text, _SIZES[one.block])
    return one._replace(text=text, whole=one.whole and text == one.text)
