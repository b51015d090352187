"""Thoughts looked up: of a cluster, like a text, since a moment, as an iteration was shown them."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from domain.clustering.fold import partition_at
from domain.clustering.partition import Partition
from domain.clustering.vectors import Stored, unpacked
from domain.errors import NoSuchMoment
from domain.events import MindInvoked, ThoughtAdded
from domain.log import Log
from domain.recorded import Recorded
from domain.session import Session


class Found(NamedTuple):
    """A thought."""

    version: int
    iteration: int
    text: str
    mind: str
    origin: str
    cluster: int | None
    active: bool
    """Whether it is in the pool."""
    similarity: float | None = None
    """To what was looked for: a cosine."""


class Thoughts:
    """All thoughts of a session up to a moment."""

    def __init__(self, log: Log, session: Session) -> None:
        self._log, self._session = log, session
        self._active = frozenset(thought.version for thought in session.pool.active)

    def pool(self) -> list[Found]:
        """Those of the pool, oldest first."""
        return [
            Found(t.version, t.iteration, t.text, t.mind, t.origin, t.cluster, active=True)
            for t in self._session.pool.active
        ]

    @cached_property
    def _partition(self) -> Partition:
        return partition_at(self._log, self._session.id, self._session.version)

    def since(self, version: int) -> list[Found]:
        """Those behind a version, oldest first."""
        recorded = self._log.read(
            self._session.id, after=version, upto=self._session.version, kinds=["thought.added"]
        )
        return [found for r in recorded if (found := self._told(r)) is not None]

    def of_cluster(self, cluster: int) -> list[Found]:
        """Those of a cluster, or of the one that it became part of, oldest first."""
        living = self._partition.living(cluster)
        members = self._partition.clusters.get(living)
        return self._found(sorted(members.members) if members else [])

    def sampled(self, iteration: int) -> list[Found]:
        """Those that an iteration was shown, in that order.

        Raises:
            NoSuchMoment: there is no such iteration.
        """
        for recorded in self._log.read(
            self._session.id,
            upto=self._session.version,
            kinds=["mind.invoked"],
            newest_first=True,
        ):
            event = recorded.event
            if isinstance(event, MindInvoked) and event.iteration == iteration:
                return self._found(event.sampled)
        newest = self._session.iteration
        raise NoSuchMoment(self._session.id, f"iter:{iteration}", [f"iter:{newest}"])

    def like(self, stored: Stored, among: Sequence[Found]) -> list[Found]:
        """Those that have a vector, the most similar first."""
        having = sorted(found for found in among if self._partition.has(found.version))
        if not having:
            return []
        rows = self._partition.vectors([found.version for found in having])
        wanted = unpacked(*stored)
        if rows.shape[1] != len(wanted):
            return []
        cosines = rows @ wanted
        # sorted by version already: of equal ones the oldest comes first
        order = np.argsort(-cosines, kind="stable")
        return [having[int(p)]._replace(similarity=round(float(cosines[int(p)]), 4)) for p in order]

    def _found(self, versions: Sequence[int]) -> list[Found]:
        picked = self._log.pick(self._session.id, versions)
        return [found for r in picked if (found := self._told(r)) is not None]

    def _told(self, recorded: Recorded) -> Found | None:
        event, version = recorded.event, recorded.version
        if not isinstance(event, ThoughtAdded):
            return None
        return Found(
            version,
            event.iteration,
            event.text,
            event.mind,
            event.origin,
            self._partition.label(version),
            version in self._active,
        )
