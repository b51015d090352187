"""From a state to what a mind is shown of it: limits applied, ages counted."""

from collections.abc import Iterator

from domain.context import Context, Turn, assemble
from domain.dialogue import Dialogue
from domain.protocol.render import render
from domain.protocol.view import (
    ClusterMark,
    DraftSeen,
    HardSignals,
    Limit,
    SignalSeen,
    ThoughtSeen,
    TurnSeen,
    View,
)
from domain.sampling import Sample
from domain.session import Session
from domain.tokens import estimate

HEADS = 30
"""Tokens of what heads artifacts and history, where there are any."""


def observe(session: Session, drawn: Sample, user_time: str, name: str = "mind_0") -> View:
    """What the coming iteration shows to the mind.

    Args:
        session: the state that it is based on.
        drawn: the thoughts that it shows.
        user_time: the user's local time, ISO 8601 with offset.
        name: what the mind is called.
    """
    now, config, dialogue = session.upcoming, session.config, session.dialogue
    drafts_limit = Limit(config.draft_display_chars, config.draft_display_count)
    history_limit = Limit(config.history_display_chars, config.history_display_count)
    asked = dialogue.awaiting
    view = View(
        name=name,
        iteration=now,
        user_time=user_time,
        thoughts_limit=thoughts_limit(session),
        history_limit=history_limit,
        drafts_limit=drafts_limit,
        signals=tuple(
            SignalSeen(s.presence, s.status, s.time, now - s.iteration)
            for s in session.attention.signals
        ),
        hard_signals=HardSignals(session.work.consecutive_hard, config.hard_signal_threshold),
        thoughts=tuple(_thoughts(session, drawn)),
        awaiting=TurnSeen("user", asked.text, now - asked.iteration) if asked else None,
        drafts=_drafts(dialogue, drafts_limit, now),
        drafts_total=len(dialogue.drafts),
    )
    context = context_of(session, view)
    return view._replace(
        memory=tuple(held.seen for held in context.memory),
        history=tuple(_turn(turn, now) for turn in context.turns),
    )


def context_of(session: Session, view: View) -> Context:
    """The artifacts and turns that stand in a view of a state, and why; what does not, and why."""
    rest = render(view._replace(memory=(), history=()))
    return assemble(session, view.user_time, estimate(rest) + HEADS)


def thoughts_limit(session: Session) -> Limit:
    """How much of the pool one iteration shows."""
    return Limit(session.config.thought_display_chars, session.config.thought_display_count)


def _thoughts(session: Session, drawn: Sample) -> Iterator[ThoughtSeen]:
    """The sample, each with its cluster; what was called back has the cluster of its caller."""
    pool, now = session.pool, session.upcoming
    clusters = {thought.version: thought.cluster for thought in pool.active}
    callers = {recalled.thought.version: recalled.caller for recalled in drawn.recalled}
    sizes = pool.sizes
    for thought in drawn.thoughts:
        caller = callers.get(thought.version)
        cluster = clusters.get(caller or thought.version)
        mark = None if cluster is None else ClusterMark(cluster, sizes[cluster])
        yield ThoughtSeen(thought.text, now - thought.iteration, mark, recalled=caller is not None)


def _drafts(dialogue: Dialogue, limit: Limit, now: int) -> tuple[DraftSeen, ...]:
    """The newest drafts, oldest first; the latest is shown however long it is."""
    shown: list[DraftSeen] = []
    room = limit.chars
    for draft in reversed(dialogue.drafts):
        if len(shown) == limit.count or draft.text is None:
            break
        if len(draft.text) <= room or not shown:
            shown.append(DraftSeen(draft.index, draft.text, now - draft.iteration, draft.seen))
            room -= len(draft.text)
    return tuple(reversed(shown))


def _turn(turn: Turn, now: int) -> TurnSeen:
    since = turn.exchange.asked if turn.sender == "user" else turn.exchange.answered
    return TurnSeen(turn.sender, turn.text, now - since)
