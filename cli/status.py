"""Where a session stands: status."""

from typing import TYPE_CHECKING, Any

import typer

from cli import output as out
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk
from commands.holder import is_alive
from domain.runs import Run
from domain.sentences import cost
from domain.session import Session

if TYPE_CHECKING:
    from projections.diversity import Thinking


def status(
    store: StoreOption = None, session: SessionOption = None, json: JsonFlag = False
) -> None:
    """Show where the session stands.

    Example: mind status
    """
    with desk(store, session) as at:
        facts, state = _standing(at), at.state
    if json:
        out.as_json(facts)
        return
    facts["updated"] = out.when(state.at)
    facts["state"] = out.drafted(len(state.dialogue.drafts), open_=facts["awaiting"] is not None)
    warning = facts.pop("warning")
    for key, value in facts.items():
        out.answer(f"{out.shade(key.replace('_', ' ').rjust(12), 'faint')}  {_shown(value)}")
    if warning:
        out.talk(f"! {warning}")


def _shown(value: Any) -> str:
    return "–" if value is None else out.safe(str(value))


def _standing(at: Desk) -> dict[str, Any]:
    state = at.state
    dialogue, work = state.dialogue, state.work
    facts: dict[str, Any] = {
        "store": str(at.log.place),
        "session": state.id,
        "title": state.title,
        "version": state.version,
        "updated": out.iso(state.at),
        "state": "drafting" if dialogue.awaiting else "idle",
        "awaiting": dialogue.awaiting.exchange if dialogue.awaiting else None,
        "drafts": len(dialogue.drafts),
        "unseen": sum(not d.seen for d in dialogue.drafts),
        "exchanges": dialogue.accepted,
        "iterations": state.iteration,
        "thoughts": _thoughts(state),
        "clusters": f"{len(state.pool.sizes)} in the pool" if state.pool.sizes else None,
        **_diversity(at, state),
        "hard_signals": f"{work.consecutive_hard} of {state.config.hard_signal_threshold}",
        "presence": state.attention.presence,
        "status": state.attention.status or None,
        "model": state.config.model,
        "tokens": f"{work.tokens_in} in, {work.tokens_out} out",
        "cost": _cost(state),
        "running": _running(work.run) if work.run else None,
    }
    return facts


def _thoughts(state: Session) -> str:
    pool = state.pool
    size = state.config.active_pool_size
    waiting = f", {len(pool.waiting)} waiting for a vector" if pool.waiting else ""
    return f"{len(pool.active)} of {size} in the pool, {pool.total} in all{waiting}"


def _diversity(at: Desk, state: Session) -> dict[str, Any]:
    if state.pool.dimension is None:
        return {"diversity": None, "warning": None}
    from projections.diversity import thinking  # noqa: PLC0415 — brings numpy along

    measured = thinking(at.log, state)
    return {"diversity": _told(measured), "warning": measured.warning}


def _told(measured: "Thinking") -> str | None:
    now, beginning = measured.now, measured.beginning
    if now is None:
        return None
    before = f" ({beginning.similarity:.2f} in the beginning)" if beginning else ""
    return (
        f"similarity {now.similarity:.2f}{before}, {now.directions:.1f} directions,"
        f" largest cluster {measured.largest_share:.0%}"
    )


def _running(run: Run) -> str:
    host, _, process = run.holder.rpartition(":")[0].rpartition(":")
    gone = " (gone: the next run takes over)" if is_alive(run.holder) is False else ""
    return f"process {process} on {host}, {run.mode}{gone}"


def _cost(state: Session) -> str:
    return cost(state.work.cost_usd, state.work.unknown_costs)


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(status)
