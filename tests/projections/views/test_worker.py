"""What a worker makes of a log: each event exactly once, whoever else works and wherever it was."""

from collections.abc import Iterable
from typing import Any

import pytest

from domain.ids import SessionId
from domain.recorded import Plain
from projections.views.ours import ACTIVITY, VIEWS
from projections.views.shards import Shards
from projections.views.store import Step, Task
from projections.views.view import Added, Column, View
from projections.views.worker import Worker
from tests.commands.eventlog.stores import begin, branch, draw, grow
from tests.projections.views.team import House, Team, recounted, shown


def _kinds(event: Plain) -> Iterable[Added]:
    yield (event.kind,), {"events": 1}


def _view(adds: Any, *, name: str = "kinds", version: int = 1, holds_content: bool = False) -> View:
    columns = (Column("kind", "text", "key", "k"), Column("events", "integer", "sum", "e"))
    return View(name, "Events by kind.", version, columns, adds, holds_content=holds_content)


KINDS = _view(_kinds)


def test_views_say_what_a_recount_says(house: House) -> None:
    """However the log grows and wherever batches end, the views equal a count from the first on."""
    team, worker = Team(house.log), house.worker(batch=7)
    for _ in range(4):
        team.works(12)
        worker.catch_up()
    assert shown(worker.store) == recounted(house.log)
    assert {one.position for one in worker.store.tracked().values()} == {house.log.position()}


def test_three_workers_of_a_shard_each_make_what_one_makes_of_all(house: House) -> None:
    """A shard's worker takes in its families of sessions and nothing else."""
    team, store = Team(house.log), house.views()
    workers = [house.worker(store, shards=3, only=shard, batch=11) for shard in range(3)]
    for worker in (*workers, *reversed(workers)):
        team.works(8)
        worker.catch_up()
        assert all(task.shard == workers.index(worker) for task in worker.tasks)
    for worker in workers:
        worker.catch_up()
    assert shown(store) == recounted(house.log)
    streams = {row[0] for row in shown(store)["activity"]}
    shards = Shards(house.log)
    assert {shards.of(SessionId(stream), 3) for stream in streams} == {0, 1, 2}


def test_a_family_is_in_one_shard(house: House) -> None:
    """Branches, and branches of branches, are where the session is from which they come."""
    begin(house.log, "root", events=5)
    branch(house.log, "root", 4, "child")
    grow(house.log, "child", 3)
    branch(house.log, "child", 2, "grandchild")
    shards = Shards(house.log)
    for count in (2, 3, 64):
        assert len({shards.of(SessionId(s), count) for s in ("root", "child", "grandchild")}) == 1


def test_what_was_worked_out_from_an_old_position_is_refused(house: House) -> None:
    """A worker that was overtaken between reading and writing changes nothing, and goes on."""
    Team(house.log).works(10)
    slow, fast = house.worker(), house.worker()
    steps: list[Step] = []
    advance = slow.store.advance

    def late(some: list[Step], owner: str) -> list[bool]:
        steps.extend(some)
        fast.catch_up()
        return advance(some, owner)

    slow.store.advance = late  # type: ignore[method-assign, assignment]
    slow.catch_up()
    assert {step.expected for step in steps} == {0}
    assert shown(fast.store) == recounted(house.log)
    assert advance(steps, "late:1:1") == [False] * len(steps)
    assert shown(fast.store) == recounted(house.log)


def test_two_workers_of_the_same_shards_count_nothing_twice(house: House) -> None:
    """Whoever's turn it is by chance: each event counts once."""
    team = Team(house.log, seed=3)
    workers = [house.worker(shards=2, batch=size) for size in (5, 9)]
    for _ in range(25):
        team.does()
        chosen = team.chance.choice(workers)
        chosen.step()
        if team.chance.random() < 0.3:
            chosen.settle()
    for worker in workers:
        worker.catch_up()
    assert shown(workers[0].store) == recounted(house.log)


def test_a_view_that_fails_stops_and_says_at_which_event(house: House) -> None:
    """The others go on; what comes before the event is in, and a mended view goes on from there."""
    begin(house.log, "main", events=4)

    def adds(event: Plain) -> Iterable[Added]:
        if event.version == 3:
            raise ZeroDivisionError("none")
        return _kinds(event)

    told: list[str] = []
    views = (_view(adds), ACTIVITY)
    worker = house.worker(views=views, told=told.append)
    worker.catch_up()
    (sentence,) = told
    assert "'kinds' stops at event 3 of 'main' (thought.added, position 3)" in sentence
    assert worker.failed == {Task("kinds", 0): sentence}
    tracked = worker.store.tracked()
    assert (tracked[Task("kinds", 0)].position, tracked[Task("activity", 0)].position) == (2, 4)
    assert tracked[Task("kinds", 0)].trouble == sentence
    mended = house.worker(views=(KINDS, ACTIVITY))
    mended.catch_up()
    assert list(mended.store.rows(KINDS)) == [("session.started", 1), ("thought.added", 3)]
    assert mended.store.tracked()[Task("kinds", 0)].trouble is None


def test_kinds_of_a_newer_version_are_counted(house: House) -> None:
    """An event that this version does not know is one all the same."""
    begin(house.log, "main", events=2)
    worker = house.worker()
    strange = Plain(SessionId("main"), 3, 3, "new.kind", 1, "user:ann", b"", None, {}, False)
    worker.log = _Fed(house.log, [*house.log.plain(), strange])  # type: ignore[assignment]
    worker.step()
    assert shown(worker.store)["activity"][0][:2] == ("main", 3)


class _Fed:
    """A log that holds other events."""

    def __init__(self, log: Any, events: list[Plain]) -> None:
        self._log, self._events = log, events

    def plain(self, after: int = 0) -> Iterable[Plain]:
        return [event for event in self._events if event.position > after]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)


def test_a_view_with_words_is_made_anew_after_a_redaction(house: House) -> None:
    """What was taken out of the log goes from such a view, too; others are left as they are."""

    def adds(event: Plain) -> Iterable[Added]:
        yield (event.data.get("text", "-"),), {"events": 1}

    begin(house.log, "main", events=3)
    texts = _view(adds, name="texts", holds_content=True)
    worker = house.worker(views=(texts, KINDS))
    worker.catch_up()
    assert ("t2", 1) in list(worker.store.rows(texts))
    kept = worker.store.tracked()[Task("kinds", 0)].epoch
    house.log.redact({SessionId("main"): [2]}, "named a patient", draw())
    worker.catch_up()
    assert [row[0] for row in worker.store.rows(texts)] == ["-", "[redacted]", "t3"]
    assert worker.store.tracked()[Task("kinds", 0)].epoch == kept


def test_views_of_another_log_are_made_anew(house: House) -> None:
    """A log that was put back from a backup, or another one, is followed from its first event."""
    Team(house.log).works(5)
    worker = house.worker()
    worker.catch_up()
    told: list[str] = []
    restored = house.views()
    task = Task("activity", 0)
    at = restored.tracked()[task]
    foreign = Step(task, at.epoch, at.position, at.position, b"another", [])
    assert restored.advance([foreign], "here:1:1") == [True]
    house.worker(restored, told=told.append).catch_up()
    assert told == ["Shard 0 of view 'activity' was made of another log: it is made anew."]
    assert shown(restored) == recounted(house.log)
    worker.catch_up()
    assert shown(restored) == recounted(house.log)


def test_what_is_rebuilt_meanwhile_is_made_from_the_first_event_on(house: House) -> None:
    """A worker that sits at the end notices, though nothing new has happened."""
    Team(house.log).works(6)
    worker = house.worker()
    worker.catch_up()
    house.views().rebuild(ACTIVITY)
    assert shown(worker.store)["activity"] == []
    worker.take(worker.tasks, worker.store.tracked())
    worker.catch_up()
    assert shown(worker.store) == recounted(house.log)


def test_the_built_in_views_hold_no_words() -> None:
    """So that a redaction leaves them as they are."""
    assert not any(view.holds_content for view in VIEWS)
    content = ("text", "title", "reason", "goal", "raw", "detail", "arguments")
    said = dict.fromkeys(content, "SECRET")
    for kind in ("message.sent", "draft.emitted", "session.started", "mind.invoked", "tool.called"):
        event = Plain(SessionId("s"), 1, 1, kind, 1, "user:ann", b"", None, said, False)
        assert "SECRET" not in str([list(view.adds(event)) for view in VIEWS])


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_is_divided_only_where_its_rows_can_be_put_together(view: View) -> None:
    """The latest of several shards can't be told; only rows of one stream may hold such a value."""
    assert view.by_stream or all(column.merge != "latest" for column in view.columns)


def test_a_worker_that_takes_nothing_does_nothing(house: House) -> None:
    """Between losing its shards and getting others it reads nothing."""
    Team(house.log).works(2)
    worker: Worker = house.worker()
    worker.take([], worker.store.tracked())
    assert (worker.step(), worker.position) == (0, 0)
    worker.settle()
    assert {one.position for one in worker.store.tracked().values()} == {0}
