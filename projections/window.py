"""What of a session fits into its next prompt: how much of each block is used, what is left out."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeVar

from domain.dialogue import Exchange, is_signal
from domain.ids import ExchangeId
from domain.protocol.compact import (
    DRAFT_SIZE,
    MESSAGE_SIZE,
    THOUGHT_SIZE,
    THOUGHTS,
    TURN_SIZE,
    TURNS,
    clip,
)
from domain.protocol.dialects import prompt_text
from domain.protocol.view import (
    DraftSeen,
    HardSignals,
    Limit,
    SignalSeen,
    ThoughtSeen,
    TurnSeen,
    View,
)
from domain.session import Session

Standing = Literal["shown", "in part", "no room", "pruned"]
"""What of an exchange is shown: both its turns, one of them, none, none on purpose."""

_Text = TypeVar("_Text", ThoughtSeen, TurnSeen, DraftSeen)

BYTES_A_TOKEN = 4
"""A rule of thumb, about right for English."""


class Block(NamedTuple):
    """How much of one block is used."""

    shown: int
    of: int
    """How many there are to choose from."""
    most: int
    """How many could be shown."""
    chars: int
    limit: int
    """The most characters of all of them; the newest is shown even if it alone is longer."""


class Window(NamedTuple):
    """What of a session fits into one prompt."""

    dialect: str
    message: int | None
    """Characters of the message, as shown; None while the session is idle."""
    history: Block
    """Of turns, two an exchange."""
    exchanges: tuple[tuple[ExchangeId, Standing], ...]
    """The newest accepted exchanges, oldest first."""
    older: int
    """Accepted exchanges before those: so long ago that no prompt shows them."""
    drafts: Block
    thoughts: Block
    """Of the pool; those that were called back come from beyond it."""
    recalled: int
    signals: tuple[SignalSeen, ...]
    """Newest first."""
    hard_signals: HardSignals
    shortened: int
    """Texts of which only the beginning and the end are shown."""
    chars: int
    """Of the whole prompt."""
    tokens: int
    """The same, estimated in tokens."""


def window(session: Session, view: View, dialect: str) -> Window:
    """Measure what a prompt shows of a state.

    Args:
        session: the state; while it is idle, all is measured as it would be with a message.
        view: what the mind is shown of it.
        dialect: the form in which it is told. The compact one shows less than the view holds;
            where even that is too long, it shortens texts further than is counted here.
    """
    compact = dialect == "compact"
    chosen = _chosen(view) if compact else view
    shown = _clipped(chosen) if compact else chosen
    pool, dialogue, asked = session.pool, session.dialogue, shown.awaiting
    prompt = prompt_text(view, dialect)
    return Window(
        dialect,
        len(asked.text) if asked and dialogue.awaiting else None,
        _block(shown.history, 2 * dialogue.accepted, shown.history_limit),
        tuple(_standings(dialogue.history, chosen.history, session.upcoming)),
        dialogue.accepted - len(dialogue.history),
        _block(shown.drafts, len(dialogue.drafts), shown.drafts_limit),
        _block(shown.thoughts, len(pool.active), shown.thoughts_limit),
        sum(thought.recalled for thought in shown.thoughts),
        shown.signals,
        HardSignals(session.work.consecutive_hard, session.config.hard_signal_threshold),
        sum(a != b for a, b in zip(_texts(chosen), _texts(shown), strict=True)),
        len(prompt),
        tokens(prompt),
    )


def tokens(*texts: str) -> int:
    """An estimate of how many tokens these texts are; no model is asked."""
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return -(-size // BYTES_A_TOKEN)


def _block(items: Sequence[ThoughtSeen | TurnSeen | DraftSeen], total: int, limit: Limit) -> Block:
    return Block(len(items), total, limit.count, sum(len(item.text) for item in items), limit.chars)


def _standings(
    history: Sequence[Exchange], shown: Sequence[TurnSeen], now: int
) -> Iterator[tuple[ExchangeId, Standing]]:
    """What of each exchange is shown: turns are only ever left out, never put in another order."""
    rest = list(shown)
    found: list[tuple[ExchangeId, Standing]] = []
    for exchange in reversed(history):
        if exchange.pruned or exchange.answer is None:
            found.append((exchange.id, "pruned" if exchange.pruned else "no room"))
            continue
        turns = (
            TurnSeen("self", exchange.answer, now - exchange.answered),
            TurnSeen("user", exchange.question, now - exchange.asked),
        )
        held = 0
        for turn in turns:
            if rest and rest[-1] == turn:
                rest.pop()
                held += 1
        found.append((exchange.id, ("no room", "in part", "shown")[held]))
    yield from reversed(found)


# What the compact dialect leaves of a view.


def _chosen(view: View) -> View:
    contents = [draft for draft in view.drafts if not is_signal(draft.text)]
    return view._replace(
        thoughts=view.thoughts[:THOUGHTS],
        history=view.history[-TURNS:],
        drafts=tuple(contents[-1:]),
        signals=view.signals[:1],
        thoughts_limit=_tighter(view.thoughts_limit, THOUGHTS, THOUGHT_SIZE),
        history_limit=_tighter(view.history_limit, TURNS, TURN_SIZE),
        drafts_limit=_tighter(view.drafts_limit, 1, DRAFT_SIZE),
    )


def _tighter(limit: Limit, count: int, size: int) -> Limit:
    return Limit(min(limit.chars, count * size), min(limit.count, count))


def _clipped(view: View) -> View:
    def clipped(item: _Text, size: int) -> _Text:
        return item._replace(text=clip(item.text, size))

    return view._replace(
        thoughts=tuple(clipped(thought, THOUGHT_SIZE) for thought in view.thoughts),
        history=tuple(clipped(turn, TURN_SIZE) for turn in view.history),
        drafts=tuple(clipped(draft, DRAFT_SIZE) for draft in view.drafts),
        awaiting=clipped(view.awaiting, MESSAGE_SIZE) if view.awaiting else None,
    )


def _texts(view: View) -> list[str]:
    items = (
        *view.thoughts,
        *view.history,
        *view.drafts,
        *([view.awaiting] if view.awaiting else ()),
    )
    return [item.text for item in items]
