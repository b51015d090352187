"""Whether thinking still goes anywhere: the newest thoughts beside the first ones."""

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from domain.clustering.fold import stored_in
from domain.clustering.measures import WINDOW, Diversity, alarms, diversity
from domain.clustering.vectors import Stored, matrix
from domain.events import ConfigChanged, ThoughtAdded, ThoughtEmbedded
from domain.log import Log
from domain.recorded import Recorded
from domain.session import Session


class Thinking(NamedTuple):
    """How diverse the thoughts of a session are."""

    now: Diversity | None
    """The newest ones; None before there are two."""
    beginning: Diversity | None
    """The first ones; None while these are among the newest."""
    largest_share: float
    """The part of the pool that its largest cluster has, 0 to 1."""
    alarms: tuple[str, ...]

    @property
    def warning(self) -> str | None:
        """What is wrong and what to do about it, in one sentence; None while all is well."""
        if not self.alarms:
            return None
        return (
            f"Thinking narrows: {'; '.join(self.alarms)}. Put in another angle (mind think),"
            " enlarge the pool (mind config --set active_pool_size=…), or change the mind"
            " (mind config --set model=…)."
        )


def thinking(log: Log, session: Session) -> Thinking:
    """Measure the thoughts of a session, reading no more than those that are measured."""
    kinds, upto = ["thought.added", "thought.embedded"], session.version
    since = _model_since(log, session)
    backwards = log.read(session.id, after=since, upto=upto, kinds=kinds, newest_first=True)
    now = _measured(log, session, islice(backwards, WINDOW))
    beginning = None
    if session.pool.total >= 2 * WINDOW:
        forwards = log.read(session.id, after=since, upto=upto, kinds=kinds)
        beginning = _measured(log, session, islice(forwards, WINDOW))
    largest = max(session.pool.sizes.values(), default=0)
    share = largest / len(session.pool.active) if session.pool.active else 0.0
    return Thinking(now, beginning, share, tuple(alarms(now, beginning, share)))


def _model_since(log: Log, session: Session) -> int:
    """The version from which on one model made all vectors."""
    changes = log.read(
        session.id, upto=session.version, kinds=["config.changed"], newest_first=True
    )
    for recorded in changes:
        event = recorded.event
        if isinstance(event, ConfigChanged) and event.key == "embedding_model":
            return recorded.version
    return 0


def _measured(log: Log, session: Session, history: Iterable[Recorded]) -> Diversity | None:
    events = [r.event for r in history if isinstance(r.event, ThoughtAdded | ThoughtEmbedded)]
    vectors = [stored for event in events if (stored := stored_in(event)) is not None]
    holders = {holder for holder in vectors if isinstance(holder, int)}
    held = {
        recorded.version: stored_in(recorded.event)
        for recorded in log.pick(session.id, holders)
        if isinstance(recorded.event, ThoughtAdded)
    }
    found = [held.get(v) if isinstance(v, int) else v for v in vectors]
    rows = [stored for stored in found if isinstance(stored, Stored)]
    return diversity(matrix(rows)) if rows else None
