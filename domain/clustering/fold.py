"""From the log to a partition: what was decided is read, never decided again."""

from collections.abc import Iterable, Iterator, Sequence

from domain.clustering.partition import ClusterEvent, Partition
from domain.clustering.vectors import Shelf, Stored
from domain.events import ConfigChanged, Event, ThoughtAdded, ThoughtEmbedded
from domain.ids import SessionId
from domain.log import Log
from domain.recorded import Recorded

KINDS = (
    "thought.added",
    "thought.embedded",
    "thought.clustered",
    "cluster.formed",
    "cluster.merged",
    "cluster.split",
    "clustering.calibrated",
    "config.changed",
)
"""All that a partition is folded from."""


def partition_at(log: Log, session: SessionId, version: int | None = None) -> Partition:
    """The partition of a session, now or as of a version."""
    partition = Partition(shelf_of(log, session))
    fold_into(partition, log.read(session, upto=version, kinds=KINDS))
    return partition


def fold_into(partition: Partition, history: Iterable[Recorded]) -> None:
    """Bring a partition forward by what has happened since."""
    for recorded in history:
        fold_event(partition, recorded.version, recorded.event)


def fold_event(partition: Partition, version: int, event: Event) -> None:
    """Bring a partition forward by one event, of any kind."""
    match event:
        case ThoughtAdded(embedding=None, embedding_of=None):
            pass
        case ThoughtAdded():
            partition.add(version, _vector(partition, event))
        case ThoughtEmbedded():
            partition.add(event.thought, _vector(partition, event), lasting=True)
        case ConfigChanged(key="embedding_model"):
            partition.restart()
        case _ if isinstance(event, ClusterEvent):
            partition.apply(event)


def _vector(partition: Partition, event: ThoughtAdded | ThoughtEmbedded) -> Stored:
    stored = stored_in(event)
    if isinstance(stored, Stored):
        return stored
    if stored is None:
        raise ValueError(f"{event.kind} without a vector")
    return partition.shelf.stored(stored)


def stored_in(event: ThoughtAdded | ThoughtEmbedded) -> Stored | int | None:
    """The vector that an event holds, or the thought that has the very same; None without."""
    if event.embedding is not None and event.dimension:
        return Stored(event.embedding, event.dimension)
    return event.embedding_of


def shelf_of(log: Log, session: SessionId) -> Shelf:
    """A shelf that fetches from the log what it has not at hand."""

    def fetch(thoughts: Sequence[int]) -> Iterator[Stored | int]:
        for recorded in log.pick(session, thoughts):
            if isinstance(recorded.event, ThoughtAdded):
                found = stored_in(recorded.event)
                if found is not None:
                    yield found

    return Shelf(fetch)
