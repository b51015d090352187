"""Agents as the command line shows them."""

from typing import Any

from cli import output as out
from domain.sentences import cost
from projections.agents import AgentRow, TurnRow


def tell_status(session: dict[str, Any], *, active: bool) -> None:
    """Print where a drafted agent stands, as ``get_draft_status`` tells it."""
    context, window = session["contextPct"], session["contextWindow"]
    full = "unknown" if context is None else f"{context:.0f}% of {window:,} tokens"
    out.answer(f"{session['sessionId']}, for {session['project']}/{session['taskSlug']}")
    out.answer(f"  state    {_state(session) if active else 'ended'}")
    out.answer(f"  model    {out.safe(session['model'])}")
    out.answer(f"  turns    {session['turnCount']}")
    out.answer(f"  cost     {cost(session['costUsd'], session['unknownCosts'])}")
    out.answer(f"  context  {full}")
    if session["workers"]:
        out.answer(f"  workers  {', '.join(session['workers'])}")


def _state(session: dict[str, Any]) -> str:
    waiting = f", {session['waiting']} waiting" if session["waiting"] else ""
    return f"{'working' if session['working'] else 'idle'}{waiting}"


def tell_report(report: dict[str, Any]) -> None:
    """Print what came of a worker, as ``await_agent`` tells it."""
    out.answer(f"{report['agentId']}: {report['status']}")
    out.answer(out.block(report["summary"] or report["detail"]))
    for name in ("changes", "issues", "questions"):
        for line in report[name]:
            out.answer(f"  {name[:-1]}: {out.one_line(line, 300)}")


def line(row: AgentRow) -> tuple[str, ...]:
    """An agent as a row of a table."""
    context = "" if row.context_pct is None else f"{row.context_pct:.0f}%"
    return (
        row.agent,
        f"{row.project}/{row.task}",
        row.state,
        f"{row.turns}",
        f"${row.cost_usd:.4f}" + (" + ?" if row.unknown_costs else ""),
        context,
        out.when(row.at),
    )


def data(row: AgentRow) -> dict[str, Any]:
    """An agent as plain data."""
    return {
        **row._asdict(),
        "begun": out.iso(row.begun),
        "at": out.iso(row.at),
        "ended": row.ended._asdict() | {"at": out.iso(row.ended.at)} if row.ended else None,
    }


def turn_data(turn: TurnRow) -> dict[str, Any]:
    """A turn as plain data."""
    return {
        **turn._asdict(),
        "asked_at": out.iso(turn.asked_at),
        "begun_at": out.iso(turn.begun_at) if turn.begun_at is not None else None,
        "ended_at": out.iso(turn.ended_at) if turn.ended_at is not None else None,
        "tools": [tool._asdict() for tool in turn.tools],
        "asides": [{**aside._asdict(), "at": out.iso(aside.at)} for aside in turn.asides],
    }


def tell_turn(turn: TurnRow) -> None:
    """Print a prompt, what was done about it, and the answer."""
    out.answer()
    who = turn.sender or "you"
    out.answer(f"{turn.turn or '-'}  {who}, {out.when(turn.asked_at)}")
    out.answer(out.block(turn.prompt_text, indent="   "))
    for tool in turn.tools:
        mark = "failed" if tool.failed else "done"
        shown = out.one_line(f"{tool.name} {tool.arguments}", 120)
        out.answer(out.shade(f"   · {shown} ({mark})", "faint"))
    for aside in turn.asides:
        out.answer(out.shade(f"   · {out.one_line(aside.text, 200)}", "faint"))
    if turn.answer:
        out.answer(out.block(turn.answer, indent="   > "))
    if turn.outcome != "completed":
        out.answer(f"   {turn.outcome}" + (f": {out.safe(turn.detail)}" if turn.detail else ""))
