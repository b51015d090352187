"""What reports should say, worked out from the events of a branch one by one."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import mean, median
from typing import Any

from domain.events import (
    ClusterFormed,
    ClusterMerged,
    ClusterSplit,
    ConfigChanged,
    DraftAccepted,
    DraftEmitted,
    MessageSent,
    MindInvoked,
    MindSignalled,
    SessionRenamed,
    SessionStarted,
    SignalChanged,
    ThoughtAdded,
    ThoughtClustered,
)
from domain.ids import SessionId
from domain.log import Log
from domain.recorded import Recorded

Rows = list[dict[str, Any]]
Past = Sequence[Recorded]
FAILED = {"failed", "unparseable"}


def events(past: Past, *kinds: type) -> list[Any]:
    """The events of these classes, bare."""
    return [r.event for r in past if isinstance(r.event, kinds)]


def drafts(past: Past) -> list[DraftEmitted]:
    """Candidate answers, in order."""
    return [event for event in events(past, DraftEmitted) if not event.signal]


def cost(call: MindInvoked) -> float | None:
    """What an invocation is known to have cost."""
    known = [c for c in (call.cost_usd, call.embedding_cost_usd) if c is not None]
    return sum(known) if known else None


def total(costs: Iterable[float | None]) -> float | None:
    """The sum of what is known; None where nothing is."""
    known = [one for one in costs if one is not None]
    return sum(known) if known else None


def middle(values: Iterable[float | None]) -> float | None:
    """The median of those that are there."""
    known = [one for one in values if one is not None]
    return median(known) if known else None


def average(values: Iterable[float | None]) -> float | None:
    """The mean of those that are there."""
    known = [one for one in values if one is not None]
    return mean(known) if known else None


def overview(session: SessionId, past: Past) -> dict[str, Any]:
    """The facts of a session but for times."""
    calls = events(past, MindInvoked)
    named = events(past, SessionStarted, SessionRenamed)
    ends = len(events(past, ClusterMerged))
    return {
        "session": session,
        "title": named[-1].title,
        "version": past[-1].version,
        "events": len(past),
        "inherited": sum(r.session != session for r in past),
        "exchanges": len(events(past, MessageSent)),
        "accepted": len(events(past, DraftAccepted)),
        "drafts": len(drafts(past)),
        "iterations": len(calls),
        "failed": sum(call.outcome in FAILED for call in calls),
        "thoughts": len(events(past, ThoughtAdded)),
        "clusters": len(events(past, ClusterFormed, ClusterSplit)) - ends,
        "interventions": len(acts(past)),
        "tokens": sum((call.tokens_in or 0) + (call.tokens_out or 0) for call in calls),
        "cost": total(map(cost, calls)),
        "thinking": sum(call.latency_ms for call in calls) / 1000,
        "redacted": sum(r.redacted for r in past),
    }


def acts(past: Past) -> list[Recorded]:
    """What users did that changed something."""
    return [
        r
        for r in past
        if r.actor.who == "user"
        and r.event.kind != "draft.seen"
        and not r.event.kind.startswith("run.")
    ]


def interventions(past: Past) -> Rows:
    """Each of them, and how far minds went on by themselves."""
    calls = [r for r in past if isinstance(r.event, MindInvoked)]
    did = [r.version for r in acts(past)]
    rows = []
    for version, until in zip(did, [*did[1:], past[-1].version], strict=True):
        before = [r.event.iteration for r in calls if r.version <= version]
        alone = sum(version < r.version <= until for r in calls)
        rows.append({"version": version, "iteration": max(before, default=0), "alone": alone})
    return rows


def drafting(past: Past) -> Rows:
    """How each exchange was drafted."""
    answers = {a.exchange: a.index for a in events(past, DraftAccepted)}
    rows = []
    for message in events(past, MessageSent):
        mine = [d for d in drafts(past) if d.exchange == message.exchange]
        words = [
            d
            for d in events(past, DraftEmitted)
            if d.exchange == message.exchange and d.signal and not d.late
        ]
        rows.append(
            {
                "exchange": message.exchange,
                "drafts": sum(not d.late for d in mine),
                "signals": len(words),
                "repeated": sum(d.repeats is not None for d in mine),
                "late": sum(d.late for d in mine),
                "accepted": answers.get(message.exchange),
                "message": message.text,
            }
        )
    return rows


def acceptance(past: Past) -> Rows:
    """What it took until each answer, and how present the user was."""
    rows = []
    asked = {r.event.exchange: r for r in past if isinstance(r.event, MessageSent)}
    for closing in past:
        event = closing.event
        if not isinstance(event, DraftAccepted):
            continue
        opening, before = asked[event.exchange], [r for r in past if r.version <= closing.version]
        said = events(before, SignalChanged)
        mine = [d for d in drafts(before) if d.exchange == event.exchange]
        between = [r for r in before if r.version > opening.version]
        rows.append(
            {
                "exchange": event.exchange,
                "seconds": (closing.at - opening.at) / 1e6,
                "iterations": len(events(between, MindInvoked)),
                "accepted": event.index,
                "newer": sum(d.index > event.index for d in mine),
                "how": event.by,
                "presence": said[-1].presence if said else "absent",
                "status": said[-1].status if said else "",
            }
        )
    return sorted(rows, key=lambda row: asked[row["exchange"]].version)


def presences(past: Past) -> Rows:
    """The same by presence."""
    by = defaultdict(list)
    for row in acceptance(past):
        by[row["presence"]].append(row)
    found = [
        {
            "presence": presence,
            "exchanges": len(rows),
            "seconds": median(row["seconds"] for row in rows),
            "iterations": median(row["iterations"] for row in rows),
            "accepted": median(row["accepted"] for row in rows),
            "newest": sum(row["newer"] == 0 for row in rows) / len(rows),
            "automatic": sum(row["how"] != "user" for row in rows),
        }
        for presence, rows in by.items()
    ]
    return sorted(found, key=lambda row: (-row["exchanges"], row["presence"]))


def signals(past: Past) -> Rows:
    """What minds said by what they left out."""
    said, calls = events(past, MindSignalled), len(events(past, MindInvoked))
    found = [
        {
            "signal": signal,
            "count": count,
            "share": count / calls,
            "longest": max(s.consecutive for s in said if s.signal == signal),
            "newest": max(s.iteration for s in said if s.signal == signal),
        }
        for signal, count in Counter(s.signal for s in said).items()
    ]
    return sorted(found, key=lambda row: (-row["count"], row["signal"]))


def models(past: Past) -> Rows:
    """What each model took."""
    by = defaultdict(list)
    for call in events(past, MindInvoked):
        by[call.model].append(call)
    return [
        {
            "model": model,
            "iterations": len(calls),
            "failed": sum(call.outcome in FAILED for call in calls),
            "cost": total(map(cost, calls)),
            "median": median(call.latency_ms for call in calls),
        }
        for model, calls in by.items()
    ]


def edges(past: Past) -> list[tuple[int, int]]:
    """Which thought was shown when which one came."""
    had = defaultdict(list)
    for r in past:
        if isinstance(r.event, ThoughtAdded) and r.event.origin == "mind":
            had[r.event.iteration].append(r.version)
    return sorted(
        (thought, shown)
        for call in events(past, MindInvoked)
        for shown in call.sampled
        for thought in had[call.iteration]
    )


def gathered(past: Past) -> dict[int, int]:
    """In which cluster each thought is."""
    held: dict[int, int] = {}
    for r in past:
        match r.event:
            case ConfigChanged(key="embedding_model"):
                held.clear()
            case ThoughtClustered(thought=thought, cluster=None):
                held.pop(thought, None)
            case ThoughtClustered(thought=thought, cluster=int() as cluster):
                held[thought] = cluster
            case ClusterFormed(cluster=cluster, members=members):
                held |= dict.fromkeys(members, cluster)
            case ClusterSplit(into=cluster, members=members):
                held |= dict.fromkeys(members, cluster)
            case ClusterMerged(cluster=cluster, absorbed=absorbed):
                held = {t: cluster if c == absorbed else c for t, c in held.items()}
            case _:
                pass
    return held


def branch(past: Past) -> dict[str, Any]:
    """What a branch came to."""
    calls = events(past, MindInvoked)
    return {
        "version": past[-1].version,
        "exchanges": len(events(past, MessageSent)),
        "accepted": len(events(past, DraftAccepted)),
        "drafts": len(drafts(past)),
        "iterations": len(calls),
        "thoughts": len(events(past, ThoughtAdded)),
        "cost": total(map(cost, calls)),
    }


def family(log: Log, session: SessionId, version: int | None) -> dict[str, dict[str, Any]]:
    """All branches of a store that began with one session, as of a moment of one of them."""
    mine = list(log.read(session, upto=version))
    found: dict[str, dict[str, Any]] = {session: branch(mine)}
    for other in log.sessions():
        past = [r for r in log.read(other) if version is None or r.position <= mine[-1].position]
        if other != session and any(r.session == other for r in past):
            found[other] = branch(past)
    return found
