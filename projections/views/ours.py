"""The views that are built in: what a team asks of its store every day.

Neither holds a word of what people or minds said, so that a redaction changes nothing in them.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any

from domain.recorded import Plain
from projections.views.view import Added, Column, View

_DAY = 86_400_000_000
_UNIX_DAY = date(1970, 1, 1).toordinal()
_LAST_DAY = date.max.toordinal()

_CALLS = frozenset({"mind.invoked", "detector.invoked", "turn.completed", "turn.failed"})
"""Events that say what a call of a model took."""

UNKNOWN = "unknown"
"""The model of a turn that failed, which does not say who was to answer."""


def _activity(event: Plain) -> Iterable[Added]:
    counted = _COUNTED.get(event.kind)
    values: dict[str, Any] = {
        "events": 1,
        "first_at": event.at,
        "last_at": event.at,
        "last_actor": event.actor,
    }
    if counted is not None:
        values |= counted(event)
    if event.kind in _CALLS:
        values |= _taken(event.data)
    yield (event.session,), values


def _draft(event: Plain) -> Mapping[str, int]:
    return {"signals" if event.data.get("signal") else "drafts": 1}


def _one(name: str) -> Callable[[Plain], Mapping[str, int]]:
    return lambda _: {name: 1}


_COUNTED: dict[str, Callable[[Plain], Mapping[str, int]]] = {
    "message.sent": _one("messages"),
    "prompt.submitted": _one("messages"),
    "draft.emitted": _draft,
    "draft.accepted": _one("accepted"),
    "thought.added": _one("thoughts"),
    "mind.invoked": _one("iterations"),
    "turn.started": _one("iterations"),
}


def _spending(event: Plain) -> Iterable[Added]:
    if event.kind not in _CALLS:
        return
    get = event.data.get
    model, calls, unknown = get("model"), 1, int(get("cost_usd") is None)
    if event.kind == "detector.invoked" and model is None:
        return  # the rules looked, which costs nothing
    if event.kind.startswith("turn."):  # which may have taken several calls, or none
        calls, unknown = get("calls", 0), get("unknown_costs", 0)
    if calls or any(taken for taken in _taken(event.data).values()):
        key = (_day(event.at), model or UNKNOWN)
        yield key, {"calls": calls, "unknown_costs": unknown, **_taken(event.data)}


def _taken(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tokens_in": data.get("tokens_in"),
        "tokens_out": data.get("tokens_out"),
        "cost_usd": _cost(data),
    }


def _cost(data: Mapping[str, Any]) -> float | None:
    """What a call cost, with the vectors of its thoughts; None where nobody can say."""
    known = [data[name] for name in ("cost_usd", "embedding_cost_usd") if data.get(name)]
    return sum(known) if known or data.get("cost_usd") is not None else None


def _day(at: int) -> str:
    day = min(max(_UNIX_DAY + at // _DAY, 1), _LAST_DAY)
    return date.fromordinal(day).isoformat()


_TAKEN = (
    Column("tokens_in", "integer", "sum", "of prompts, as far as they are known"),
    Column("tokens_out", "integer", "sum", "of replies, as far as they are known"),
    Column("cost_usd", "usd", "sum", "of replies and vectors, as far as it is known"),
)

ACTIVITY = View(
    "activity",
    "What happened in each session, and in each stream of an agent, a project or a task.",
    1,
    (
        Column("session", "text", "key", "its name; what a branch inherited counts for its parent"),
        Column("events", "integer", "sum", "all of them"),
        Column("messages", "integer", "sum", "messages of the user, prompts to an agent"),
        Column("iterations", "integer", "sum", "times that the mind was asked, turns of an agent"),
        Column("drafts", "integer", "sum", "drafts that are no mere signals"),
        Column("signals", "integer", "sum", "drafts such as +1"),
        Column("accepted", "integer", "sum", "drafts that became answers"),
        Column("thoughts", "integer", "sum", "thoughts that entered the pool"),
        *_TAKEN,
        Column("first_at", "time", "least", "when the first of its events happened"),
        Column("last_at", "time", "greatest", "when the newest of its events happened"),
        Column("last_actor", "text", "latest", "who did that: user:NAME, mind:MODEL and so on"),
    ),
    _activity,
    by_stream=True,
)

SPENDING = View(
    "spending",
    "What models took by day (UTC) and model: minds, detectors and agents.",
    1,
    (
        Column("day", "text", "key", "the day, UTC"),
        Column("model", "text", "key", "the model as configured; of an agent, who answered"),
        Column("calls", "integer", "sum", "times that it was asked"),
        Column("unknown_costs", "integer", "sum", "calls whose cost nobody can say"),
        *_TAKEN,
    ),
    _spending,
)

VIEWS = (ACTIVITY, SPENDING)
"""All that workers keep."""
