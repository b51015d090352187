"""What an iteration was shown, what it cost, and what came of it: the receipt of an invocation."""

from typing import NamedTuple

from domain.events import MessageSent, MindInvoked, ThoughtAdded
from domain.ids import ExchangeId, SessionId
from domain.log import Log
from domain.recorded import Recorded
from projections.causes import Picked, at_version, awaiting_at, picked


class Shown(NamedTuple):
    """A thought that a mind was shown."""

    session: SessionId
    """The branch whose stream holds it."""
    version: int
    iteration: int
    text: str
    mind: str
    """The mind that had it, or who put it there."""
    origin: str
    cluster: int | None
    """At that time; of one that was called back, the cluster of its caller."""
    recalled_by: int | None
    """The thought that called it back from beyond the pool."""
    chance: float | None
    """With which just this one was called back."""
    redacted: bool
    similarity: float | None = None
    """Cosine to the thought that is explained; None where one of them has no vector."""


class Message(NamedTuple):
    """What a mind was to answer."""

    session: SessionId
    version: int
    at: int
    actor: str
    exchange: ExchangeId
    text: str
    iteration: int
    """The iteration that saw it first."""
    redacted: bool
    source: Picked | None


class Invocation(NamedTuple):
    """One invocation of a mind."""

    session: SessionId
    version: int
    at: int
    actor: str
    iteration: int
    model: str
    """As configured."""
    answered_by: str | None
    """What the provider calls it."""
    protocol: str
    dialect: str
    system_hash: bytes
    prompt_hash: bytes
    based_on: int
    """The version of the state that it was shown."""
    seed: int
    user_time: str
    presence: str
    """Of the user, in the state that it was shown."""
    status: str
    mode: str | None
    """Of the run; None where none held the session."""
    message: Message | None
    shown: tuple[Shown, ...]
    """Thoughts, in that order."""
    outcome: str
    error: str | None
    finish: str | None
    repairs: tuple[str, ...]
    attempts: int
    latency_ms: int
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    """None where nobody can say."""
    embedding_tokens: int | None
    embedding_cost_usd: float | None
    redacted: bool


def message(log: Log, recorded: Recorded) -> Message:
    """A message that was to be answered.

    Raises:
        TypeError: the event is none.
    """
    event = recorded.event
    if not isinstance(event, MessageSent):
        raise TypeError(event.kind)
    return Message(
        recorded.session,
        recorded.version,
        recorded.at,
        str(recorded.actor),
        event.exchange,
        event.text,
        event.iteration,
        recorded.redacted,
        picked(log, event.source),
    )


def invocation_of(log: Log, session: SessionId, recorded: Recorded) -> Recorded | None:
    """The invocation that an event came from, where its cause is one."""
    cause = at_version(log, session, recorded.cause) if recorded.cause is not None else None
    return cause if cause is not None and isinstance(cause.event, MindInvoked) else None


def invocation(log: Log, session: SessionId, recorded: Recorded) -> Invocation:
    """The receipt of an invocation.

    Raises:
        TypeError: the event is none.
    """
    event = recorded.event
    if not isinstance(event, MindInvoked):
        raise TypeError(event.kind)
    state = log.state(session, event.based_on)
    asked = awaiting_at(log, session, event.based_on)
    return Invocation(
        session=recorded.session,
        version=recorded.version,
        at=recorded.at,
        actor=str(recorded.actor),
        iteration=event.iteration,
        model=event.model,
        answered_by=event.answered_by,
        protocol=event.protocol,
        dialect=event.dialect,
        system_hash=event.system_hash,
        prompt_hash=event.prompt_hash,
        based_on=event.based_on,
        seed=event.seed,
        user_time=event.user_time,
        presence=state.attention.presence,
        status=state.attention.status,
        mode=state.work.run.mode if state.work.run else None,
        message=message(log, asked) if asked is not None else None,
        shown=shown(log, session, event, {t.version: t.cluster for t in state.pool.active}),
        outcome=event.outcome,
        error=event.error,
        finish=event.finish,
        repairs=event.repairs,
        attempts=event.attempts,
        latency_ms=event.latency_ms,
        tokens_in=event.tokens_in,
        tokens_out=event.tokens_out,
        cost_usd=event.cost_usd,
        embedding_tokens=event.embedding_tokens,
        embedding_cost_usd=event.embedding_cost_usd,
        redacted=recorded.redacted,
    )


def shown(
    log: Log, session: SessionId, event: MindInvoked, clusters: dict[int, int | None]
) -> tuple[Shown, ...]:
    """The thoughts that an invocation was shown.

    Args:
        log: where the session lives.
        session: the session that is looked at.
        event: the invocation.
        clusters: those of the pool that it was based on, by thought.
    """
    recalled = {version: (caller, chance) for version, caller, chance in event.recalled}
    found: list[Shown] = []
    for r in log.pick(session, event.sampled):
        if not isinstance(r.event, ThoughtAdded):
            continue
        caller, chance = recalled.get(r.version, (None, None))
        found.append(
            Shown(
                r.session,
                r.version,
                r.event.iteration,
                r.event.text,
                r.event.mind,
                r.event.origin,
                clusters.get(r.version if caller is None else caller),
                caller,
                chance,
                r.redacted,
            )
        )
    return tuple(found)
