"""Who holds the session, and how the mind has been doing."""

from typing import NamedTuple

from domain.events import MindInvoked, MindSignalled, RunStarted
from domain.events.runs import Mode
from domain.ids import RunId


class Run(NamedTuple):
    """The run that holds the session."""

    id: RunId
    mode: Mode
    limit: int
    exact: bool
    holder: str
    patience: int
    version: int
    iterations: int = 0
    hard: int = 0
    """Hard signals in a row since it began."""
    failures: int = 0
    """Failed or unreadable iterations in a row since it began."""


class Work(NamedTuple):
    """What the mind's work has come to."""

    run: Run | None = None
    consecutive_hard: int = 0
    """Hard signals in a row in the open exchange."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    """Sum of the known costs."""
    unknown_costs: int = 0
    """Invocations whose cost nobody could say."""


def started(state: Work, event: RunStarted, version: int) -> Work:
    """A runner takes the session."""
    return state._replace(
        run=Run(
            event.run,
            event.mode,
            event.limit,
            event.exact,
            event.holder,
            event.patience,
            version,
        )
    )


def invoked(state: Work, event: MindInvoked) -> Work:
    """One more iteration, its tokens and its cost."""
    run = state.run
    if run is not None:
        failed = event.outcome in {"failed", "unparseable"}
        run = run._replace(
            iterations=run.iterations + 1, failures=run.failures + 1 if failed else 0
        )
    return state._replace(
        run=run,
        tokens_in=state.tokens_in + (event.tokens_in or 0),
        tokens_out=state.tokens_out + (event.tokens_out or 0),
        cost_usd=state.cost_usd + (event.cost_usd or 0.0) + (event.embedding_cost_usd or 0.0),
        unknown_costs=state.unknown_costs + (event.cost_usd is None),
    )


def signalled(state: Work, event: MindSignalled) -> Work:
    """Hard signals add up; a ``+1`` is a draft and ends the row."""
    run, hard = state.run, event.signal != "soft"
    if run is not None:
        run = run._replace(hard=run.hard + 1 if hard else 0)
    return state._replace(run=run, consecutive_hard=event.consecutive)


def drafted(state: Work) -> Work:
    """Any draft ends a row of hard signals."""
    run = state.run
    if not state.consecutive_hard and (run is None or not run.hard):
        return state
    if run is not None:
        run = run._replace(hard=0)
    return state._replace(run=run, consecutive_hard=0)
