"""Working until somebody says stop: claims every second, batches in between, waits for news."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from domain.errors import Broken
from projections.views.store import Leases, OtherShards, Task, Tracked, ViewStore
from projections.views.worker import Worker

TICK = 1.0
"""Seconds between two looks at what is ours."""

News = Callable[[int, float], object]
"""Waits until there may be an event behind a position, for so many seconds at most."""


class Claims(Protocol):
    """Which shards a worker is to work on."""

    def refresh(self, tracked: Mapping[Task, Tracked]) -> frozenset[Task]:
        """Those that are ours now, of those that are kept."""
        ...

    def close(self) -> None:
        """Leave them to others."""
        ...


class OneShard(NamedTuple):
    """Shard ``shard`` of all views, whoever else may work on it."""

    shard: int
    shards: int

    def refresh(self, tracked: Mapping[Task, Tracked]) -> frozenset[Task]:
        """Those of our number.

        Raises:
            OtherShards: a view was divided otherwise meanwhile.
        """
        for one in tracked.values():
            if one.shards != self.shards:
                raise OtherShards(one.task.view, one.shards, self.shards)
        return frozenset(task for task in tracked if task.shard == self.shard)

    def close(self) -> None:
        """Nobody waits for us to."""


class Leased(NamedTuple):
    """Whatever is free, up to a fair share."""

    leases: Leases

    def refresh(self, tracked: Mapping[Task, Tracked]) -> frozenset[Task]:
        """Those that are leased to us."""
        return self.leases.refresh(tracked.keys())

    def close(self) -> None:
        """Give them back."""
        self.leases.close()


def work(
    worker: Worker,
    claims: Claims,
    store: ViewStore,
    news: News,
    stop: threading.Event,
    *,
    once: bool = False,
    changed: Callable[[frozenset[Task]], object] | None = None,
) -> None:
    """Bring views up to the newest event, and then every new one in as it comes.

    Args:
        worker: does it.
        claims: says for which shards.
        store: where the views are.
        news: waits.
        stop: set by whoever wants the end; a batch that is begun is finished.
        once: end where the log ended when this began.
        changed: told what is worked on, whenever that is something else.

    Raises:
        Broken: nothing is left that this worker could go on with.
        OtherShards: a view was divided otherwise meanwhile.
        StoreIsUnreachable: a server went away; what was written is whole.
    """
    goal, due = worker.log.position(), time.monotonic()
    known: frozenset[Task] | None = None
    try:
        while not stop.is_set():
            if time.monotonic() >= due:
                worker.settle()
                _claim(worker, claims, store)
                due = time.monotonic() + TICK
                if changed is not None and worker.tasks != known:
                    changed(worker.tasks)
                known = worker.tasks
            if worker.failed and not worker.tasks:
                raise Broken(next(iter(worker.failed.values())))
            if once and worker.position >= goal:
                break
            if worker.step() == 0:
                if once:
                    break
                wait = max(due - time.monotonic(), 0.0)
                if worker.tasks:
                    news(worker.position, wait)
                else:
                    stop.wait(wait)
        worker.settle()
    finally:
        claims.close()


def _claim(worker: Worker, claims: Claims, store: ViewStore) -> None:
    tracked = worker.able(store.tracked())
    worker.take(claims.refresh(tracked), tracked)
