"""How thinking went: clusters and diversity iteration by iteration."""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from domain.clustering.fold import KINDS, fold_into, shelf_of
from domain.clustering.measures import WINDOW, Diversity, diversity
from domain.clustering.partition import Partition
from domain.events import (
    ClusterFormed,
    ClusterMerged,
    ClusterSplit,
    DraftEmitted,
    MindInvoked,
    ThoughtAdded,
)
from domain.log import Log
from domain.recorded import Recorded
from domain.session import Session
from projections.clusters import sizes


class Stage(NamedTuple):
    """Where thinking stood when an iteration was over, or before the first one."""

    iteration: int
    version: int
    thoughts: int
    """In all, with a vector or without."""
    active: dict[int, int]
    """Thoughts of the pool by cluster, the largest first."""
    alone: int
    """Thoughts of the pool that stand alone."""
    diversity: Diversity | None
    """Of the newest :data:`~domain.clustering.measures.WINDOW` thoughts."""
    drafts: int
    """That the iteration emitted."""
    formed: int
    merged: int
    split: int
    """Clusters, in this iteration."""


class Trajectory:
    """The stages of a session up to a moment."""

    def __init__(self, log: Log, session: Session) -> None:
        self._log, self._session = log, session

    def stages(self) -> Iterator[Stage]:
        """One after each iteration, in order."""
        log, session = self._log, self._session
        partition = Partition(shelf_of(log, session.id))
        pool: deque[int] = deque(maxlen=session.config.active_pool_size)
        kinds = {*KINDS, "mind.invoked", "draft.emitted"}
        iteration, counted, total, version = 0, _Count(), 0, 0
        for recorded in log.read(session.id, upto=session.version, kinds=kinds):
            event = recorded.event
            if isinstance(event, MindInvoked):
                if iteration:
                    yield _stage(iteration, version, total, partition, pool, counted)
                iteration, counted = event.iteration, _Count()
            elif isinstance(event, ThoughtAdded):
                pool.append(recorded.version)
                total += 1
            counted.add(recorded)
            fold_into(partition, [recorded])
            version = recorded.version
        if iteration:
            yield _stage(iteration, version, total, partition, pool, counted)


class _Count:
    """What happened within an iteration."""

    def __init__(self) -> None:
        self.drafts = self.formed = self.merged = self.split = 0

    def add(self, recorded: Recorded) -> None:
        """One more event."""
        match recorded.event:
            case DraftEmitted():
                self.drafts += 1
            case ClusterFormed():
                self.formed += 1
            case ClusterMerged():
                self.merged += 1
            case ClusterSplit():
                self.split += 1


def _stage(
    iteration: int,
    version: int,
    total: int,
    partition: Partition,
    pool: deque[int],
    counted: _Count,
) -> Stage:
    newest = sorted(partition.versions[-WINDOW:])
    active = sizes(partition, list(pool))
    return Stage(
        iteration=iteration,
        version=version,
        thoughts=total,
        active=dict(active.most_common()),
        alone=len(pool) - active.total(),
        diversity=diversity(partition.vectors(newest)) if newest else None,
        drafts=counted.drafts,
        formed=counted.formed,
        merged=counted.merged,
        split=counted.split,
    )
