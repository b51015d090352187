"""The jobs that are here: sessions, drafts, thoughts, costs."""

from collections.abc import Iterable, Iterator
from math import fsum
from statistics import median

from domain.events import (
    DraftAccepted,
    DraftEmitted,
    MessageSent,
    MindInvoked,
    SignalChanged,
    ThoughtAdded,
)
from domain.ids import ExchangeId
from domain.recorded import Recorded
from projections.fleet.jobs import Branch, Column, Job, Row, Value

_SESSION = Column("session", "text", "its name")
_VERSION = Column("version", "int", "place of the event in the session, from 1")
_POSITION = Column("position", "int", "place of the event in the order of the store")
_TIME = Column("time", "time", "when it happened, UTC")
_ITERATION = Column("iteration", "int", "the iteration that brought it")
_REDACTED = Column("redacted", "bool", "its content was taken away for good")
_TEXT = Column("text", "text", "what was said")
_TOKENS_IN = Column("tokens_in", "int", "tokens of its prompts; none where nobody can say")
_TOKENS_OUT = Column("tokens_out", "int", "tokens of its replies; none where nobody can say")
_COST = Column("cost_usd", "float", "replies and vectors, US dollars; none where nobody can say")


class _Spent:
    """What invocations took, as far as it is known."""

    def __init__(self) -> None:
        self.invocations = 0
        self.unknown = 0
        """Invocations whose cost nobody can say."""
        self._tokens_in: list[int] = []
        self._tokens_out: list[int] = []
        self._costs: list[float] = []

    def add(self, event: MindInvoked) -> None:
        """One more."""
        self.invocations += 1
        if event.tokens_in is not None:
            self._tokens_in.append(event.tokens_in)
        if event.tokens_out is not None:
            self._tokens_out.append(event.tokens_out)
        costs = [c for c in (event.cost_usd, event.embedding_cost_usd) if c is not None]
        self._costs += costs
        self.unknown += event.cost_usd is None

    def row(self) -> dict[str, Value]:
        """The columns of it."""
        return {
            "tokens_in": sum(self._tokens_in) if self._tokens_in else None,
            "tokens_out": sum(self._tokens_out) if self._tokens_out else None,
            "cost_usd": fsum(self._costs) if self._costs else None,
        }


def sessions(branch: Branch, events: Iterator[Recorded]) -> Iterable[Row]:
    """What happened in each session, counted; a branch counts what happened there."""
    counts = {"events": 0, "messages": 0, "drafts": 0, "accepted": 0, "thoughts": 0}
    spent, first, last = _Spent(), None, None
    asked: dict[ExchangeId, int] = {}
    waited: list[int] = []
    for recorded in events:
        first, last = first or recorded.when, recorded.when
        counts["events"] += 1
        match recorded.event:
            case MessageSent() as message:
                counts["messages"] += 1
                asked[message.exchange] = recorded.at
            case DraftEmitted() as draft:
                counts["drafts"] += not draft.signal
            case DraftAccepted() as accepted:
                counts["accepted"] += 1
                if accepted.exchange in asked:
                    waited.append(recorded.at - asked[accepted.exchange])
            case ThoughtAdded():
                counts["thoughts"] += 1
            case MindInvoked() as invoked:
                spent.add(invoked)
    yield {
        "session": branch.session,
        "parent": branch.parent,
        "root": branch.root,
        **counts,
        "iterations": spent.invocations,
        **spent.row(),
        "first": first,
        "last": last,
        "seconds": median(waited) / 1e6 if waited else None,
    }


def drafts(branch: Branch, events: Iterator[Recorded]) -> Iterable[Row]:
    """Each draft, in the session where it came, and whether it was accepted there."""
    presence = "absent"
    rows: dict[tuple[str, int], dict[str, Value]] = {}
    for recorded in events:
        match recorded.event:
            case SignalChanged() as signal:
                presence = signal.presence
            case DraftEmitted() as draft if recorded.version > branch.after:
                rows[draft.exchange, draft.index] = {
                    "session": branch.session,
                    "exchange": draft.exchange,
                    "number": draft.index,
                    "version": recorded.version,
                    "position": recorded.position,
                    "time": recorded.when,
                    "iteration": draft.iteration,
                    "signal": draft.signal,
                    "late": draft.late,
                    "presence": presence,
                    "accepted": False,
                    "seconds": None,
                    "redacted": recorded.redacted,
                    "text": draft.text,
                }
            case DraftAccepted() as accepted:
                row = rows.get((accepted.exchange, accepted.index))
                if row is not None:
                    emitted = row["time"]
                    row["accepted"] = True
                    row["seconds"] = (recorded.when - emitted).total_seconds()  # type: ignore[operator]  # set above
    return rows.values()


def thoughts(branch: Branch, events: Iterator[Recorded]) -> Iterable[Row]:
    """Each thought, in the session where it was thought."""
    for recorded in events:
        if isinstance(thought := recorded.event, ThoughtAdded):
            yield {
                "session": branch.session,
                "version": recorded.version,
                "position": recorded.position,
                "time": recorded.when,
                "iteration": thought.iteration,
                "mind": thought.mind,
                "origin": thought.origin,
                "redacted": recorded.redacted,
                "text": thought.text,
            }


def costs(_: Branch, events: Iterator[Recorded]) -> Iterable[Row]:
    """What minds took, by day and model, over all sessions."""
    found: dict[tuple[str, str], _Spent] = {}
    for recorded in events:
        if isinstance(invoked := recorded.event, MindInvoked):
            key = f"{recorded.when:%Y-%m-%d}", invoked.model
            found.setdefault(key, _Spent()).add(invoked)
    for (day, model), spent in found.items():
        yield {
            "day": day,
            "model": model,
            "invocations": spent.invocations,
            **spent.row(),
            "unknown_costs": spent.unknown,
        }


def _job(job: Job) -> tuple[str, Job]:
    return job.name, job._replace(about=(job.rows.__doc__ or "").strip())


BUILT_IN = dict(
    map(
        _job,
        (
            Job(
                "sessions",
                sessions,
                "",
                (
                    _SESSION,
                    Column("parent", "text", "whose event it branched off; none for a root"),
                    Column("root", "text", "where its history begins"),
                    Column("events", "int", "how many happened there"),
                    Column("messages", "int", "what users asked"),
                    Column("drafts", "int", "candidate answers, without words about them (+1)"),
                    Column("accepted", "int", "drafts that became answers"),
                    Column("thoughts", "int", "thoughts of minds and of others"),
                    Column("iterations", "int", "times that a mind was asked"),
                    _TOKENS_IN,
                    _TOKENS_OUT,
                    _COST,
                    Column("first", "time", "when its first event happened, UTC"),
                    Column("last", "time", "when its newest event happened, UTC"),
                    Column(
                        "seconds",
                        "float",
                        "from message to acceptance, the median of those that have both there",
                    ),
                ),
            ),
            Job(
                "drafts",
                drafts,
                "",
                (
                    _SESSION,
                    Column("exchange", "text", "the exchange that it may answer"),
                    Column("number", "int", "its number there, from 1"),
                    _VERSION,
                    _POSITION,
                    _TIME,
                    _ITERATION,
                    Column("signal", "bool", "a word about the drafts (+1), not an answer"),
                    Column("late", "bool", "came when the exchange was closed"),
                    Column("presence", "text", "how present the user had said to be"),
                    Column("accepted", "bool", "became the answer, in this very session"),
                    Column("seconds", "float", "from the draft to that"),
                    _REDACTED,
                    _TEXT,
                ),
                whole=True,  # the presence may be inherited
                kinds=("signal.changed", "draft.emitted", "draft.accepted"),
            ),
            Job(
                "thoughts",
                thoughts,
                "",
                (
                    _SESSION,
                    _VERSION,
                    _POSITION,
                    _TIME,
                    _ITERATION,
                    Column("mind", "text", "the mind that had it, or who put it there"),
                    Column("origin", "text", "mind, injected or imported"),
                    _REDACTED,
                    _TEXT,
                ),
                kinds=("thought.added",),
            ),
            Job(
                "costs",
                costs,
                "",
                (
                    Column("day", "text", "the day, UTC"),
                    Column("model", "text", "the mind as configured"),
                    Column("invocations", "int", "times that it was asked"),
                    _TOKENS_IN,
                    _TOKENS_OUT,
                    _COST,
                    Column("unknown_costs", "int", "invocations whose cost nobody can say"),
                ),
                kinds=("mind.invoked",),
                by=("day", "model"),
            ),
        ),
    )
)
"""By name."""
