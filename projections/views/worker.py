"""A worker: brings its shards of views up to the newest event, batch by batch, exactly once."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from domain.errors import LogosphereError
from domain.log import Log
from domain.recorded import Plain
from projections.views.shards import Shards
from projections.views.store import Step, Task, Tracked, ViewStore
from projections.views.view import Row, View, ViewFailed, reduced

BATCH = 1000
"""Events of one transaction at most."""


@dataclass
class _Place:
    """Where a shard is."""

    view: View
    shards: int
    epoch: int
    written: int
    """The position that is tracked."""
    seen: int
    """The one that is looked at; nothing of this shard is between the two."""


class Worker:
    """Works on some shards of some views; to be used by one thread.

    The order of everything: read a batch, work out what it adds, then in one transaction move each
    shard's position on from where this worker believes it to be, and write the rows. Where another
    worker has moved it meanwhile nothing is written, and this one goes on from there.
    """

    def __init__(
        self,
        log: Log,
        store: ViewStore,
        views: Iterable[View],
        owner: str,
        *,
        told: Callable[[str], object] = lambda _: None,
        batch: int = BATCH,
    ) -> None:
        """Nothing is worked on before :meth:`take`.

        Args:
            log: what is followed.
            store: where the rows go.
            views: all that this worker can make.
            owner: who works: ``host:pid:start``.
            told: hears in a sentence what somebody should know.
            batch: how many events a transaction takes in at most.
        """
        self.log, self.store, self.owner = log, store, owner
        self.views = {view.name: view for view in views}
        self.failed: dict[Task, str] = {}
        """What this worker gave up, and why."""
        self.taken = dict.fromkeys(self.views, 0)
        """How many events each view took in, of the shards that this worker worked on."""
        self._told, self._size = told, batch
        self._shards = Shards(log)
        self._places: dict[Task, _Place] = {}
        self._feeds: dict[int, Iterator[Plain]] = {}
        """What is being read, by the position behind which it goes on."""
        self._hash = (0, b"")

    @property
    def tasks(self) -> frozenset[Task]:
        """What it works on."""
        return frozenset(self._places)

    @property
    def position(self) -> int:
        """All events up to it are taken in, as far as they are of its shards."""
        return min((place.seen for place in self._places.values()), default=0)

    def able(self, tracked: Mapping[Task, Tracked]) -> dict[Task, Tracked]:
        """Those that it can go on with: of views and versions that it makes, and not given up."""
        return {
            task: one
            for task, one in tracked.items()
            if task.view in self.views
            and self.views[task.view].version == one.version
            and task not in self.failed
        }

    def take(self, tasks: Collection[Task], tracked: Mapping[Task, Tracked]) -> None:
        """Work on just these from now on, as far as it is able; ``tracked`` is how far they are."""
        wanted = {task: one for task, one in self.able(tracked).items() if task in tasks}
        for task in self._places.keys() - wanted.keys():
            del self._places[task]
        for task, one in wanted.items():
            place = self._places.get(task)
            if place is None or (place.epoch, place.written) != (one.epoch, one.position):
                self._places[task] = self._place(one)

    def step(self) -> int:
        """Take in the next batch for each position at which a shard of ours is.

        Returns:
            How many events were read; 0 when all is caught up.
        """
        self._without_what_is_redacted()
        read = 0
        positions = sorted({place.seen for place in self._places.values()})
        self._feeds = {at: feed for at, feed in self._feeds.items() if at in positions}
        for after in positions:
            behind = [t for t, place in self._places.items() if place.seen == after]
            if not behind:
                continue  # came along with the batch before
            events = self._read(after)
            if events:
                read += len(events)
                self._apply(events, after)
        return read

    def settle(self) -> None:
        """Write positions behind which nothing of a shard came since."""
        quiet = [(t, p) for t, p in sorted(self._places.items()) if p.seen > p.written]
        self._write([self._step(task, place, place.seen, []) for task, place in quiet])

    def catch_up(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Bring all that it works on up to what is the newest event now."""
        goal = self.log.position()
        self._without_what_is_redacted()  # also where the log was put back to this very position
        while not stopped() and any(place.seen < goal for place in self._places.values()):
            if not self.step():
                break
        self.settle()

    def _place(self, tracked: Tracked) -> _Place:
        """Where to go on from; a shard that was made of another log begins again."""
        view, at = self.views[tracked.task.view], tracked.position
        if at and self.log.hash_at(at) != tracked.hash:
            self._told(f"{_name(tracked.task)} was made of another log: it is made anew.")
            self.store.restart(view, tracked.task, self.log.mark())
            tracked = self.store.tracked()[tracked.task]
        return _Place(view, tracked.shards, tracked.epoch, tracked.position, tracked.position)

    def _read(self, after: int) -> list[Plain]:
        """Events behind a position; what comes before an unreadable one, by itself."""
        feed = self._feeds.pop(after, None) or iter(self.log.plain(after))
        events: list[Plain] = []
        try:
            for event in feed:
                events.append(event)
                if len(events) == self._size:
                    self._feeds[event.position] = feed
                    break
        except LogosphereError:
            if not events:
                raise
        return events

    def _apply(self, batch: Sequence[Plain], after: int) -> None:
        newest = batch[-1].position
        tasks = [t for t, place in self._places.items() if after <= place.seen < newest]
        parts: dict[int, dict[int, list[Plain]]] = {}
        steps: list[Step] = []
        read: dict[Task, int] = {}
        for task in sorted(tasks):
            place = self._places[task]
            if place.shards not in parts:
                parts[place.shards] = self._divided(batch, place.shards)
            events = parts[place.shards].get(task.shard, [])
            if place.seen > after:
                events = [event for event in events if event.position > place.seen]
            try:
                rows = reduced(place.view, events)
            except ViewFailed as failure:
                steps.append(self._given_up(task, place, batch, failure))
                continue
            read[task] = len(events)
            if rows:
                steps.append(self._step(task, place, newest, rows))
            else:
                place.seen = newest
        lost = self._write(steps)
        for task in read.keys() - lost:
            self.taken[task.view] += read[task]

    def _divided(self, events: Sequence[Plain], shards: int) -> dict[int, list[Plain]]:
        divided: dict[int, list[Plain]] = {}
        for event in events:
            divided.setdefault(self._shards.of(event.session, shards), []).append(event)
        return divided

    def _given_up(
        self, task: Task, place: _Place, batch: Sequence[Plain], failure: ViewFailed
    ) -> Step:
        """Take in what comes before the event that a view can't take in, and stop there."""
        sentence = self.failed[task] = str(failure)
        before = [e.position for e in batch if e.position < failure.event.position]
        upto = max(place.seen, before[-1] if before else 0)
        return self._step(task, place, upto, failure.rows)._replace(trouble=sentence)

    def _step(self, task: Task, place: _Place, position: int, rows: Sequence[Row]) -> Step:
        if self._hash[0] != position:
            self._hash = (position, self.log.hash_at(position) or b"")
        return Step(task, place.epoch, place.written, position, self._hash[1], rows)

    def _write(self, steps: Sequence[Step]) -> set[Task]:
        """Write the steps, but for those that another worker took meanwhile, which come back."""
        if not steps:
            return set()
        done = self.store.advance(steps, self.owner)
        for step, applied in zip(steps, done, strict=True):
            if applied:
                place = self._places[step.task]
                place.written = place.seen = step.position
                if step.trouble is not None:
                    self._told(step.trouble)
                    del self._places[step.task]
        lost = {step.task for step, applied in zip(steps, done, strict=True) if not applied}
        if lost:
            self._reload(lost)
        return lost

    def _reload(self, tasks: Iterable[Task]) -> None:
        """Go on from where another worker has brought a shard."""
        again = set(tasks)
        for task in again:
            self._places.pop(task, None)
            self.failed.pop(task, None)
        self.take(self._places.keys() | again, self.store.tracked())

    def _without_what_is_redacted(self) -> None:
        """Begin again with what holds words that were taken out of the log."""
        holding = [t for t, place in self._places.items() if place.view.holds_content]
        if not holding:
            return
        mark, tracked = self.log.mark(), self.store.tracked()
        for task in holding:
            if task in tracked and tracked[task].mark != mark:
                self.store.restart(self._places[task].view, task, mark)
                self._reload([task])


def _name(task: Task) -> str:
    return f"Shard {task.shard} of view {task.view!r}"
