"""Where an agent stands, as the protocol tells it: in answers and in notifications."""

from cli.output import iso
from cli.rpc.method import Result
from domain.agents import Agent


class DraftSession(Result):
    """Where a drafted agent stands."""

    session_id: str
    role: str
    project: str
    task_slug: str
    model: str
    turn_count: int
    cost_usd: float
    unknown_costs: int
    """Calls of the model whose cost nobody could say."""
    context_pct: float | None
    """0 to 100; None while nobody knows."""
    last_input_tokens: int
    output_tokens: int
    """Of all turns together."""
    context_window: int
    """Tokens; 0 while nobody knows."""
    working: bool
    waiting: int
    """Prompts that wait for their turn."""
    workers: tuple[str, ...]
    begun: str
    last_activity: str


def draft_session(agent: Agent) -> DraftSession:
    """Where an agent stands, as the protocol tells it."""
    return DraftSession(
        session_id=agent.id,
        role=agent.drafted.role,
        project=agent.drafted.project,
        task_slug=agent.drafted.task,
        model=agent.drafted.model,
        turn_count=agent.completed,
        cost_usd=agent.cost_usd,
        unknown_costs=agent.unknown_costs,
        context_pct=agent.context_pct,
        last_input_tokens=agent.last_tokens_in,
        output_tokens=agent.tokens_out,
        context_window=agent.context_window,
        working=agent.turn is not None,
        waiting=len(agent.queue),
        workers=agent.workers,
        begun=iso(agent.begun),
        last_activity=iso(agent.at),
    )
