"""Where a session stands: status."""

from typing import Literal

from cli.output import iso
from cli.rpc.functions import Look, in_store
from cli.rpc.method import Method, Result
from cli.rpc.service import Service
from commands.holder import is_alive
from domain.log import Log
from domain.session import Session


class StatusOf(Look):
    """Where a session stands."""

    diversity: bool = False
    """Whether to measure how diverse its thoughts are, which takes longer."""


class Awaiting(Result):
    """The message that awaits its answer."""

    exchange: str
    text: str


class Diversity(Result):
    """How diverse thoughts are."""

    similarity: float
    """The mean cosine of the newest ones: 1 is all the same."""
    directions: float
    """How many directions they spread in."""
    largest_share: float
    """The part of the pool that its largest cluster has, 0 to 1."""
    warning: str | None


class Status(Result):
    """Where a session stands."""

    session: str
    title: str
    version: int
    position: int
    """The newest position of the whole store."""
    at: str
    """When the newest event happened, ISO 8601 in UTC."""
    iteration: int
    """How many times the mind has been asked."""
    state: Literal["idle", "drafting", "running"]
    exchange: str | None
    """The newest one."""
    awaiting: Awaiting | None
    drafts: int
    """Of the open exchange."""
    unseen: int
    exchanges: int
    """How many were accepted."""
    presence: str
    status_text: str
    model: str
    thoughts: int
    """In the pool."""
    clusters: int
    tokens_in: int
    tokens_out: int
    cost_usd: float
    unknown_costs: int
    """Calls whose cost nobody could say."""
    consecutive_hard: int
    hard_signal_threshold: int
    diversity: Diversity | None = None


def status(service: Service, asked: StatusOf) -> Status:
    """Tell where a session stands."""
    at = service.desk(asked.session, asked.at)
    state = at.state
    dialogue, work = state.dialogue, state.work
    open_ = dialogue.awaiting
    return Status(
        session=state.id,
        title=state.title,
        version=state.version,
        position=at.log.position(),
        at=iso(state.at),
        iteration=state.iteration,
        state=_doing(state, past=at.version is not None),
        exchange=dialogue.newest,
        awaiting=Awaiting(exchange=open_.exchange, text=open_.text) if open_ else None,
        drafts=len(dialogue.drafts),
        unseen=sum(not draft.seen for draft in dialogue.drafts),
        exchanges=dialogue.accepted,
        presence=state.attention.presence,
        status_text=state.attention.status,
        model=state.config.model,
        thoughts=len(state.pool.active),
        clusters=len(state.pool.sizes),
        tokens_in=work.tokens_in,
        tokens_out=work.tokens_out,
        cost_usd=work.cost_usd,
        unknown_costs=work.unknown_costs,
        consecutive_hard=work.consecutive_hard,
        hard_signal_threshold=state.config.hard_signal_threshold,
        diversity=_diversity(at.log, state) if asked.diversity else None,
    )


def _doing(state: Session, *, past: bool) -> Literal["idle", "drafting", "running"]:
    run = state.work.run
    if run is not None and (past or is_alive(run.holder) is not False):
        return "running"
    return "drafting" if state.dialogue.awaiting else "idle"


def _diversity(log: Log, state: Session) -> Diversity | None:
    if state.pool.dimension is None:
        return None
    from projections.diversity import thinking  # noqa: PLC0415 — brings numpy along

    measured = thinking(log, state)
    if measured.now is None:
        return None
    return Diversity(
        similarity=measured.now.similarity,
        directions=measured.now.directions,
        largest_share=measured.largest_share,
        warning=measured.warning,
    )


def methods(service: Service) -> list[Method]:
    """The methods of this file."""
    return [in_store(service, status)]
