"""Where views are kept: how they are begun and divided, and who works on what."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from commands.eventlog.postgres.layout import migrate
from domain.errors import Broken, StoreIsReadOnly
from domain.server_errors import StoreIsUnreachable
from projections.views.ours import ACTIVITY, SPENDING
from projections.views.postgres import PostgresViews
from projections.views.sqlite import FILE, SqliteViews
from projections.views.store import (
    Leases,
    OfANewerVersion,
    OtherShards,
    Step,
    Task,
    ViewStore,
    fair_share,
)
from projections.views.work import OneShard
from tests.commands.eventlog.stores import begin, raw
from tests.postgres.servers import Server
from tests.projections.views.crew import wait_for
from tests.projections.views.team import House, Team, house_at, recounted, shown

NEWER = ACTIVITY._replace(version=2)
WANTED = [Task(view, shard) for view in ("activity", "spending") for shard in range(3)]


def test_a_view_is_begun_once_in_as_many_shards_as_asked(house: House) -> None:
    """Who comes later finds it; another number of shards is refused, and another view follows."""
    store = house.views()
    store.prepare(ACTIVITY, 3)
    begun = store.tracked()
    store.prepare(ACTIVITY, None)
    store.prepare(ACTIVITY, 3)
    assert store.tracked() == begun
    with pytest.raises(OtherShards, match=r"kept in 3 shards: .* --shards 3, .* --shards 2"):
        store.prepare(ACTIVITY, 2)
    store.prepare(SPENDING, None)
    assert list(store.tracked()) == WANTED


def test_another_number_of_shards_begins_anew(house: House) -> None:
    """Whoever still works on the old ones is refused, and the rows are those of a recount."""
    Team(house.log).works(8)
    old = house.worker(shards=2)
    old.catch_up()
    store = house.views()
    for view in (ACTIVITY, SPENDING):
        store.rebuild(view, 3)
    with pytest.raises(OtherShards, match="kept in 3 shards"):
        OneShard(1, 2).refresh(store.tracked())
    Team(house.log, seed=2, name="x").works(1)
    old.catch_up()
    house.worker().catch_up()
    assert shown(store) == recounted(house.log)


def test_a_new_version_is_made_anew_and_an_old_one_leaves_it_alone(house: House) -> None:
    """So that workers can be brought up to date one after the other."""
    begin(house.log, "main", events=3)
    house.worker(shards=2).catch_up()
    new = house.worker(views=(NEWER,))
    assert new.tasks == {Task("activity", 0), Task("activity", 1)}
    assert all(t.position == 0 for task, t in new.store.tracked().items() if task in new.tasks)
    new.catch_up()
    with pytest.raises(OfANewerVersion, match="kept in version 2 here"):
        house.views().prepare(ACTIVITY, None)
    assert [row[:2] for row in new.store.rows(NEWER)] == [("main", 3)]


def test_a_step_from_elsewhere_changes_nothing(house: House) -> None:
    """It must be of the same epoch and from the very position; others in the batch are applied."""
    one, other = house.views(), house.views()
    one.prepare(SPENDING, 2)
    at = {task.shard: tracked for task, tracked in one.tracked().items()}
    row = ("2026-05-02", "big", 1, 0, 10, 5, 2_500_000_000)
    first = Step(Task("spending", 0), at[0].epoch, 0, 7, b"h", [row])
    assert one.advance([first], "one:1:1") == [True]
    second = Step(Task("spending", 1), at[1].epoch, 0, 7, b"h", [row])
    assert other.advance([first, second], "two:1:1") == [False, True]
    elsewhere = [second._replace(expected=8), second._replace(expected=7, epoch=1)]
    assert other.advance(elsewhere, "two:1:1") == [False, False]
    assert list(one.rows(SPENDING)) == [("2026-05-02", "big", 2, 0, 20, 10, 5.0)]
    owners = {task.shard: tracked.owner for task, tracked in one.tracked().items()}
    assert owners == {0: "one:1:1", 1: "two:1:1"}


def test_whoever_goes_on_alone_is_said_to_have_done_so_since_the_first_time(house: House) -> None:
    """Until somebody else writes."""
    store = house.views()
    store.prepare(SPENDING, 1)
    task = Task("spending", 0)

    def wrote(owner: str) -> int | None:
        at = store.tracked()[task]
        step = Step(task, at.epoch, at.position, at.position + 1, b"h", [])
        assert store.advance([step], owner) == [True]
        return store.tracked()[task].since

    since = wrote("one:1:1")
    assert wrote("one:1:1") == since
    assert wrote("two:1:1") != since


def _leases(store: ViewStore, *names: str, gone: set[str]) -> list[Leases]:
    return [store.leases(f"{name}:1:1", lambda h: h.split(":")[0] not in gone) for name in names]


def test_workers_share_what_there_is(house: House) -> None:
    """One has all; the next one gets half of it, and gives it back when it ends."""
    store = house.views()
    store.prepare(ACTIVITY, 3)
    store.prepare(SPENDING, 3)
    (one,) = _leases(store, "one", gone=set())
    assert one.refresh(WANTED) == frozenset(WANTED)
    (two,) = _leases(store, "two", gone=set())
    assert two.refresh(WANTED) == frozenset()
    kept = one.refresh(WANTED)
    assert {task.shard for task in kept} == {0, 1}
    assert len(kept) == 3
    assert two.refresh(WANTED) == frozenset(WANTED) - kept
    held = store.held(lambda _: True)
    assert held == {t: "one:1:1" if t in kept else "two:1:1" for t in WANTED}
    two.close()  # which a server hears of a moment later
    wait_for(lambda: one.refresh(WANTED) == frozenset(WANTED))
    assert one.refresh(WANTED[:1]) == frozenset(WANTED[:1])
    one.close()
    wait_for(lambda: store.held(lambda _: True) == {})


def test_what_a_dead_process_had_is_free_at_once(tmp_path: Path) -> None:
    """On one machine others can tell; nobody waits for its patience to end."""
    store = SqliteViews(tmp_path, [ACTIVITY])
    gone: set[str] = set()
    one, two = _leases(store, "one", "two", gone=gone)
    assert one.refresh(WANTED) == frozenset(WANTED)
    two.refresh(WANTED)
    gone.add("one")
    assert store.held(lambda h: h.split(":")[0] not in gone) == {}
    assert two.refresh(WANTED) == frozenset(WANTED)
    store.close()


def test_who_was_silent_for_too_long_has_lost_its_shards(tmp_path: Path) -> None:
    """A worker that was stopped learns so from its next look."""
    store = SqliteViews(tmp_path, [ACTIVITY])
    one, two = _leases(store, "one", "two", gone=set())
    assert one.refresh(WANTED) == frozenset(WANTED)
    with raw(tmp_path, FILE) as connection:
        connection.execute("UPDATE view_workers SET seen = seen - 60")
    assert two.refresh(WANTED) == frozenset(WANTED)
    assert one.refresh(WANTED) == frozenset()
    store.close()


def test_who_loses_the_connection_has_lost_its_shards(
    pg_url: str, postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server gives them to the next one, and the first one is told."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with house_at(pg_url) as house:
        store = house.views()
        (one,) = _leases(store, "one", gone=set())
        assert one.refresh(WANTED) == frozenset(WANTED)
        postgres.admin(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name = 'mind work one:1:1'"
        )
        (two,) = _leases(store, "two", gone=set())
        assert two.refresh(WANTED) == frozenset(WANTED)
        with pytest.raises(StoreIsUnreachable):
            one.refresh(WANTED)
        one.close()
        two.close()


def test_a_server_that_went_away_is_said_to_be_away(
    own_postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After it is back, what was tracked says whether the last step came through."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with house_at(own_postgres.database()) as house:
        Team(house.log).works(5)
        worker = house.worker()
        own_postgres.kill()
        with pytest.raises(StoreIsUnreachable):
            worker.store.tracked()
        own_postgres.start()
        house.worker().catch_up()
        assert shown(house.views()) == recounted(house.log)


def test_a_file_that_was_removed_is_not_written_any_more(tmp_path: Path) -> None:
    """Nobody would ever read it."""
    store = SqliteViews(tmp_path, [ACTIVITY])
    store.prepare(ACTIVITY, 1)
    (tmp_path / FILE).unlink()
    with pytest.raises(Broken, match="was removed or replaced"):
        store.advance([], "one:1:1")
    store.close()


def test_who_looks_waits_for_nobody_who_writes(tmp_path: Path) -> None:
    """A view can be shown while a long batch is being written."""
    with closing(SqliteViews(tmp_path, [ACTIVITY])) as store:
        store.prepare(ACTIVITY, 2)
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with closing(SqliteViews(tmp_path, [ACTIVITY])) as looking:
            assert len(looking.tracked()) == 2


def test_a_file_of_another_layout_is_refused(tmp_path: Path) -> None:
    """As one that can't be read is: it can be made again."""
    SqliteViews(tmp_path, [ACTIVITY]).close()
    with closing(sqlite3.connect(tmp_path / FILE)) as other:
        other.execute("PRAGMA user_version=99")
    with pytest.raises(Broken, match="can't be read: remove it"):
        SqliteViews(tmp_path, [ACTIVITY])


def test_a_file_that_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    """With what to do; it is not written."""
    (tmp_path / FILE).write_bytes(b"not a database at all, but long enough to be looked at" * 40)
    with pytest.raises(Broken, match="can't be read: remove it"):
        SqliteViews(tmp_path, [ACTIVITY])


def test_where_nothing_can_be_written_that_is_said(tmp_path: Path) -> None:
    """In one sentence, and without a file left behind."""
    with pytest.raises(StoreIsReadOnly):
        SqliteViews(tmp_path / "nowhere", [ACTIVITY])
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("tasks", "workers", "share"), [(6, 1, 6), (6, 4, 2), (1, 3, 1), (0, 1, 0), (5, 0, 5)]
)
def test_a_fair_share_leaves_nothing_over(tasks: int, workers: int, share: int) -> None:
    """Rounded up, so that nobody has to wait for a worker that is not there."""
    assert fair_share(tasks, workers) == share


def test_where_transactions_number_positions_nothing_is_missed(
    pg_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Positions have gaps then, and a worker has to look by itself for what is new."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with house_at(pg_url) as house:
        migrate(house.place.address, by_transaction=True)
        team, worker = Team(house.log), house.worker(shards=2, batch=7)
        for _ in range(3):
            team.works(8)
            worker.catch_up()

        def whole() -> bool:
            worker.catch_up()
            return sum(row[1] for row in worker.store.rows(ACTIVITY)) == team.events

        wait_for(whole)  # what any transaction of the server began before is not there yet
        assert house.log.position() > len(list(house.log.plain()))
        assert shown(worker.store) == recounted(house.log)
        assert isinstance(worker.store, PostgresViews)
        worker.store.listen()
        assert worker.store.heard(0.0)
