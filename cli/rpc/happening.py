"""What was thought and what happened, now or as of a moment: thoughts, timeline."""

from itertools import islice
from typing import Any

from pydantic import Field

from cli.log import line
from cli.output import iso
from cli.rpc.functions import Look, in_store
from cli.rpc.method import Method, Result
from cli.rpc.service import Service
from domain.ids import SessionId
from domain.log import Log
from domain.recorded import Recorded

SUMMARY = 400
"""Characters of an event's line; its whole texts are in the events."""

# thoughts


class ThoughtsOf(Look):
    """The newest thoughts of the pool."""

    count: int = Field(10, ge=1, le=1000)


class Thought(Result):
    """A thought."""

    id: int
    """The version of its event."""
    text: str
    age: int
    """Iterations since."""
    iteration: int
    cluster: int | None
    cluster_size: int
    """How many thoughts of the pool are in that cluster."""
    origin: str
    """`mind`, `injected` or `imported`."""


class Thoughts(Result):
    """Thoughts, newest first."""

    thoughts: tuple[Thought, ...]
    total: int
    """How many there ever were."""


def thoughts(service: Service, asked: ThoughtsOf) -> Thoughts:
    """Tell the newest thoughts of the mind's pool, newest first."""
    state = service.desk(asked.session, asked.at).state
    newest, sizes = tuple(reversed(state.pool.active))[: asked.count], state.pool.sizes
    return Thoughts(
        thoughts=tuple(
            Thought(
                id=thought.version,
                text=thought.text,
                age=max(state.upcoming - thought.iteration, 0),
                iteration=thought.iteration,
                cluster=thought.cluster,
                cluster_size=sizes[thought.cluster] if thought.cluster is not None else 0,
                origin=thought.origin,
            )
            for thought in newest
        ),
        total=state.pool.total,
    )


# timeline


class TimelineOf(Look):
    """A stretch of the events of a session, or of `agent:NAME` and its like."""

    after: int | None = Field(None, ge=0)
    """Only behind this version; alone, the first events behind it."""
    before: int | None = Field(None, ge=1)
    """Only before this version: its newest events, as without either."""
    count: int = Field(100, ge=1, le=2000)


class Happened(Result):
    """An event on one line."""

    version: int
    position: int
    at: str
    """ISO 8601 in UTC."""
    actor: str
    kind: str
    summary: str
    """A text of the event that is longer is cut."""
    iteration: int | None
    redacted: bool


class Timeline(Result):
    """Events in their order."""

    events: tuple[Happened, ...]
    first: int
    """The first version that there is."""
    last: int
    """The last version that there is, at the moment that is looked at."""


def timeline(service: Service, asked: TimelineOf) -> Timeline:
    """Tell a stretch of the events of a session, each on one line, in their order."""
    at = service.desk(asked.session, asked.at, any_stream=True)
    last = at.log.head(at.session, at.version).version
    upto = last if asked.before is None else min(last, asked.before - 1)
    forwards = asked.after is not None and asked.before is None
    found = _stretch(at.log, at.session, asked.after or 0, upto, asked.count, forwards=forwards)
    return Timeline(events=tuple(map(_happened, found)), first=1, last=last)


def _stretch(
    log: Log, session: SessionId, after: int, upto: int, count: int, *, forwards: bool
) -> list[Recorded]:
    if upto <= after:
        return []
    page = min(count, 512)
    events = log.read(session, after=after, upto=upto, newest_first=not forwards, page=page)
    found = list(islice(events, count))
    return found if forwards else found[::-1]


def _happened(recorded: Recorded) -> Happened:
    told = line(recorded)
    iteration: Any = getattr(recorded.event, "iteration", None)
    return Happened(
        version=recorded.version,
        position=recorded.position,
        at=iso(recorded.at),
        actor=str(recorded.actor),
        kind=recorded.event.kind,
        summary=told if len(told) <= SUMMARY else told[: SUMMARY - 1] + "…",
        iteration=iteration,
        redacted=recorded.redacted,
    )


def methods(service: Service) -> list[Method]:
    """The methods of this file."""
    return [in_store(service, thoughts), in_store(service, timeline)]
