"""What the tables of a branch should say, worked out from its events one by one."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from domain.clustering.vectors import unpacked
from domain.events import (
    ClusterFormed,
    ClusterMerged,
    ClusterSplit,
    ConfigChanged,
    DraftAccepted,
    DraftEmitted,
    DraftSeen,
    Event,
    EventRedacted,
    MessageSent,
    MindInvoked,
    MindSignalled,
    NoteAdded,
    SessionForked,
    SessionLabelled,
    SessionRenamed,
    SessionStarted,
    SignalChanged,
    ThoughtAdded,
    ThoughtClustered,
    ThoughtEmbedded,
)
from domain.events.base import Source
from domain.ids import SessionId
from domain.log import Log
from domain.recorded import Recorded

Row = tuple[Any, ...]
Rows = dict[str, list[Row]]
Parents = Mapping[SessionId, tuple[SessionId, int]]
"""What each branch branched off, and where."""
Embedder = tuple[str, int]
"""A model, and how many numbers its vectors have."""


def time_of(at: int) -> datetime:
    """A time as the tables have it: UTC, without saying so."""
    return datetime.fromtimestamp(0, UTC).replace(tzinfo=None) + timedelta(microseconds=at)


def rows_of(parents: Parents, past: Sequence[Recorded]) -> Rows:
    """All rows of all simple tables that a branch with just these events sees."""
    rows: Rows = {name: [] for name in _MADE}
    for recorded in past:
        head = (recorded.position, recorded.session, recorded.version, time_of(recorded.at))
        for name, make in _MADE.items():
            rows[name] += [(*head, *tail) for tail in make(recorded)]
    edits = dict(_edits(past))
    rows["drafts"] = [
        (*row[:14], *edits.get(row[2], (None, None, None)), *row[14:]) for row in rows["drafts"]
    ]
    rows["events"] = [_with_parent(parents, row) for row in rows["events"]]
    return rows


def exchanges(past: Sequence[Recorded]) -> list[Row]:
    """Each message with its number of drafts and signals, and which draft was accepted."""
    made: list[Row] = []
    for recorded in past:
        if not isinstance(recorded.event, MessageSent):
            continue
        exchange = recorded.event.exchange
        drafts = [
            r
            for r in past
            if isinstance(r.event, DraftEmitted)
            and r.event.exchange == exchange
            and not r.event.late
        ]
        content = [r for r in drafts if not _signal(r)]
        accepted = [
            r for r in past if isinstance(r.event, DraftAccepted) and r.event.exchange == exchange
        ]
        end = accepted[0] if accepted else None
        assert len(accepted) < 2
        made.append(
            (
                recorded.version,
                exchange,
                recorded.event.text,
                len(content),
                len(drafts) - len(content),
                time_of(content[0].at) if content else None,
                end and end.version,
                end and getattr(end.event, "index", None),
            )
        )
    return made


def clusters(past: Iterable[Recorded]) -> dict[int, int]:
    """In which cluster each thought is that is in one."""
    homes: dict[int, int] = {}
    for recorded in past:
        event = recorded.event
        match event:
            case ConfigChanged(key="embedding_model"):
                homes.clear()
            case ThoughtClustered(cluster=None):
                homes.pop(event.thought, None)
            case ThoughtClustered(cluster=int() as cluster):
                homes[event.thought] = cluster
            case ClusterFormed():
                homes |= dict.fromkeys(event.members, event.cluster)
            case ClusterSplit():
                homes |= dict.fromkeys(event.members, event.into)
            case ClusterMerged():
                for thought, home in homes.items():
                    if home == event.absorbed:
                        homes[thought] = event.cluster
    return homes


def vectors(log: Log) -> tuple[dict[Embedder, dict[int, Row]], Embedder | None]:
    """The vectors of all thoughts of a store by position, and what made one last."""
    made: dict[Embedder, dict[int, Row]] = {}
    newest: Embedder | None = None
    for recorded in log.feed():
        event = recorded.event
        if not isinstance(event, ThoughtAdded | ThoughtEmbedded) or recorded.redacted:
            continue
        if event.embedding_model is None or not event.dimension:
            continue
        if event.embedding is None and event.embedding_of is None:
            continue
        newest = (event.embedding_model, event.dimension)
        known = made.setdefault(newest, {})
        version = event.thought if isinstance(event, ThoughtEmbedded) else recorded.version
        (thought,) = log.pick(recorded.session, [version])
        if event.embedding is not None:
            vector = tuple(unpacked(event.embedding, event.dimension).tolist())
            known.setdefault(thought.position, vector)
        else:
            (same,) = log.pick(recorded.session, [event.embedding_of or 0])
            if same.position in known:
                known.setdefault(thought.position, known[same.position])
    return made, newest


def _edits(past: Sequence[Recorded]) -> Iterator[tuple[int, Row]]:
    """By version, the content draft before it in its exchange, and how far it is from that."""
    newest: dict[str, Recorded] = {}
    for recorded in past:
        event = recorded.event
        if not isinstance(event, DraftEmitted) or _signal(recorded):
            continue
        before = newest.get(event.exchange)
        newest[event.exchange] = recorded
        if before is None or not isinstance(before.event, DraftEmitted):
            continue
        if recorded.redacted or before.redacted:
            yield recorded.version, (before.version, None, None)
            continue
        was, text = before.event.text, event.text
        edits, longer = distance(was, text), max(len(was), len(text))
        yield recorded.version, (before.version, edits, 1 - edits / longer if longer else 1.0)


@cache
def distance(one: str, other: str) -> int:
    """How many characters to insert, delete or replace; the textbook's table."""
    above = list(range(len(other) + 1))
    for n, a in enumerate(one, 1):
        row = [n]
        for m, b in enumerate(other, 1):
            row.append(min(above[m] + 1, row[-1] + 1, above[m - 1] + (a != b)))
        above = row
    return above[-1]


def _signal(recorded: Recorded) -> bool:
    return isinstance(recorded.event, DraftEmitted) and recorded.event.signal


def _source(source: Source | None) -> Row:
    return (source.session, source.version) if source else (None, None)


def _with_parent(parents: Parents, row: Row) -> Row:
    """A parent under the name that it has here."""
    *head, data = row
    if row[4] != "session.forked":
        return row
    return (*head, data | {"parent": parents[row[1]][0]})


def _data(event: Event) -> Any:
    kept = {k: v for k, v in event.wire().items() if k not in {"embedding", "raw"}}
    return json.loads(json.dumps(kept, default=bytes.hex))


def _events(r: Recorded) -> Iterator[Row]:
    yield r.event.kind, str(r.actor), r.command.hex(), r.cause, r.redacted, _data(r.event)


def _messages(r: Recorded) -> Iterator[Row]:
    if isinstance(e := r.event, MessageSent):
        yield e.exchange, e.text, e.iteration, str(r.actor), r.redacted, *_source(e.source)


def _drafts(r: Recorded) -> Iterator[Row]:
    if isinstance(e := r.event, DraftEmitted):
        said = (e.exchange, e.index, e.text, e.iteration, str(r.actor), e.signal, e.repeats)
        yield *said, e.late, e.confidence, e.working, r.redacted, *_source(e.source)


def _views(r: Recorded) -> Iterator[Row]:
    if isinstance(e := r.event, DraftSeen):
        for index in e.indexes:
            yield e.exchange, index, str(r.actor)


def _acceptances(r: Recorded) -> Iterator[Row]:
    if isinstance(e := r.event, DraftAccepted):
        yield e.exchange, e.index, e.by, str(r.actor)


def _thoughts(r: Recorded) -> Iterator[Row]:
    if isinstance(e := r.event, ThoughtAdded):
        yield e.text, e.iteration, e.mind, e.origin, r.redacted, *_source(e.source)


def _invocations(r: Recorded) -> Iterator[Row]:
    if isinstance(e := r.event, MindInvoked):
        reply = None if e.raw is None else e.output.encode("utf-8", "replace").decode()
        cost = (e.cost_usd or 0.0) + (e.embedding_cost_usd or 0.0)
        unknown = e.cost_usd is None and e.embedding_cost_usd is None
        yield e.iteration, e.based_on, e.outcome, None if unknown else cost, reply, r.redacted


def _samples(r: Recorded) -> Iterator[Row]:
    if isinstance(e := r.event, MindInvoked):
        for place, thought in enumerate(e.sampled, 1):
            yield e.iteration, thought, place


def _signals(r: Recorded) -> Iterator[Row]:
    if isinstance(e := r.event, MindSignalled):
        yield e.signal, e.iteration, e.consecutive


def _presence(r: Recorded) -> Iterator[Row]:
    if isinstance(e := r.event, SignalChanged):
        yield e.presence, e.status, e.time, e.iteration, str(r.actor)


def _configs(r: Recorded) -> Iterator[Row]:
    if isinstance(e := r.event, SessionStarted):
        for key, value in e.config.items():
            yield key, value, None
    elif isinstance(e, ConfigChanged):
        yield e.key, e.new, e.old


def _notes(r: Recorded) -> Iterator[Row]:
    if isinstance(e := r.event, NoteAdded):
        yield e.text, list(e.about), e.iteration, str(r.actor)


def _labels(r: Recorded) -> Iterator[Row]:
    if isinstance(e := r.event, SessionLabelled):
        yield e.label, e.version


def _redactions(r: Recorded) -> Iterator[Row]:
    if isinstance(e := r.event, EventRedacted):
        yield e.version, e.what, e.reason, str(r.actor)


def _interventions(r: Recorded) -> Iterator[Row]:
    e = r.event
    if r.actor.who != "user" or e.kind == "draft.seen" or e.kind.startswith("run."):
        return
    what = None
    match e:
        case MessageSent() | ThoughtAdded() | DraftEmitted() | NoteAdded():
            what = e.text
        case DraftAccepted():
            what = f"draft {e.index} of {e.exchange}"
        case SignalChanged():
            what = e.presence
        case ConfigChanged():
            what = e.key
        case SessionRenamed():
            what = e.title
        case SessionLabelled():
            what = e.label
        case EventRedacted():
            what = e.reason
        case SessionForked():
            return  # which names its parent as it is called here
    yield str(r.actor), e.kind, what, r.cause, r.redacted


_MADE: dict[str, Callable[[Recorded], Iterator[Row]]] = {
    "events": _events,
    "messages": _messages,
    "drafts": _drafts,
    "draft_views": _views,
    "acceptances": _acceptances,
    "thoughts": _thoughts,
    "invocations": _invocations,
    "samples": _samples,
    "signals": _signals,
    "presence": _presence,
    "configs": _configs,
    "notes": _notes,
    "labels": _labels,
    "redactions": _redactions,
    "interventions": _interventions,
}

SOME: dict[str, str] = {
    "events": "kind, actor, command, cause, redacted, data::JSON",
    "thoughts": "text, iteration, mind, origin, redacted, source_session, source_version",
    "invocations": "iteration, based_on, outcome, cost_usd, reply, redacted",
    "samples": "iteration, thought, place",
    "interventions": "actor, kind, what, cause, redacted",
}
"""Columns to look at, of tables of which not all are."""
