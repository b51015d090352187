"""Tables of views on a server: who makes them, and what is done about those of other versions."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from commands.eventlog.place import place_of
from commands.eventlog.postgres.connections import connect
from domain.errors import Refused
from projections.views.ours import ACTIVITY, SPENDING, VIEWS
from projections.views.postgres import PostgresViews
from projections.views.postgres_tables import LAYOUT, Server, make_tables
from projections.views.store import OfANewerVersion, TablesAreMissing, TablesAreNewer, Task
from projections.views.worker import Worker
from tests.commands.eventlog.stores import begin
from tests.postgres import servers
from tests.projections.views.team import House, Team, house_at, recounted, server_at, shown

NEWER = ACTIVITY._replace(version=2)
NAMES = ["activity", "spending"]


@pytest.fixture
def house(pg_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """A new store on a server, without tables of views."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with house_at(pg_url) as house:
        yield house


def sql(house: House, statement: str) -> None:
    """Say something to the server, as the tables' owner."""
    with closing(connect(house.place.address)) as connection:
        connection.execute(statement.encode())


def test_whoever_makes_them_second_finds_them(house: House) -> None:
    """However many try at once, and however often."""
    server = server_at(house.place)
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: make_tables(server, VIEWS), range(4)))
    assert sorted(made) == [[], [], [], NAMES]
    assert make_tables(server, VIEWS) == []


def test_where_they_are_missing_nothing_is_made_by_working(house: House) -> None:
    """The sentence says what makes them; looking finds that nothing has been kept."""
    server = server_at(house.place)
    with pytest.raises(TablesAreMissing, match="mind store migrate"):
        PostgresViews(server, VIEWS)
    with closing(PostgresViews(server, VIEWS, writable=False)) as looking:
        assert looking.tracked() == {}
    assert make_tables(server, VIEWS) == NAMES
    sql(house, "DROP TABLE logosphere.view_spending_rows CASCADE")
    with pytest.raises(TablesAreMissing, match="mind store migrate"):
        PostgresViews(server, VIEWS)
    assert make_tables(server, VIEWS) == ["spending"]
    PostgresViews(server, VIEWS).close()


def test_what_does_not_say_of_which_version_it_is_counts_as_older(house: House) -> None:
    """It is made anew, and so is the table of positions."""
    begin(house.log, "main", events=3)
    house.worker().catch_up()
    server = server_at(house.place)
    sql(house, "COMMENT ON TABLE logosphere.view_activity_rows IS NULL")
    sql(house, "COMMENT ON TABLE logosphere.view_tracking IS NULL")
    with pytest.raises(TablesAreMissing):
        PostgresViews(server, VIEWS)
    assert make_tables(server, VIEWS) == ["activity"]
    house.worker().catch_up()
    assert shown(house.views()) == recounted(house.log)


def test_those_of_an_older_version_are_made_anew(house: House) -> None:
    """With what was tracked of them alone; whoever still works on them finds nothing to do."""
    Team(house.log).works(8)
    old = house.worker(shards=2)
    old.catch_up()
    server = server_at(house.place)
    with pytest.raises(TablesAreMissing):
        PostgresViews(server, (NEWER, SPENDING))
    assert make_tables(server, (NEWER, SPENDING)) == ["activity"]
    assert {task.view for task in old.store.tracked()} == {"spending"}
    Team(house.log, seed=2, name="x").works(4)
    old.catch_up()
    assert {task.view for task in old.tasks} == {"spending"}
    assert list(old.store.rows(ACTIVITY)) == []
    house.worker(views=(NEWER, SPENDING)).catch_up()
    assert shown(old.store) == recounted(house.log)


def test_those_of_a_newer_version_are_left_alone(house: House) -> None:
    """The other views are worked on; an older program can't begin that one anew."""
    server = server_at(house.place)
    make_tables(server, (NEWER, SPENDING))
    assert make_tables(server, VIEWS) == []
    with closing(PostgresViews(server, VIEWS)) as store:
        for act in (store.prepare, store.rebuild):
            with pytest.raises(OfANewerVersion, match="newer workers go on with it\\."):
                act(ACTIVITY, 1)
            act(SPENDING, 1)
        assert list(store.tracked()) == [Task("spending", 0)]


def test_a_table_of_positions_of_a_newer_version_is_not_touched(house: House) -> None:
    """Nor read: nobody knows what stands in it."""
    server = server_at(house.place)
    make_tables(server, VIEWS)
    sql(house, f"COMMENT ON TABLE logosphere.view_tracking IS 'version {LAYOUT + 1}'")
    assert make_tables(server, VIEWS) == []
    for writable in (True, False):
        with pytest.raises(TablesAreNewer, match="newer version of this program"):
            PostgresViews(server, VIEWS, writable=writable)


def test_what_is_made_under_the_hands_of_a_worker_is_noticed(house: House) -> None:
    """A worker that was open all the time begins nothing in tables that it does not know."""
    server = server_at(house.place)
    store = house.views()
    make_tables(server, (NEWER,))
    for act in (store.prepare, store.rebuild):
        with pytest.raises(OfANewerVersion):
            act(ACTIVITY, None)
    sql(house, "DROP TABLE logosphere.view_spending_rows CASCADE")
    with pytest.raises(TablesAreMissing):
        store.prepare(SPENDING, None)


def test_what_hangs_on_them_is_not_dropped(house: House) -> None:
    """Somebody's own SQL view: that is said, and all stays as it was."""
    house.worker().catch_up()
    sql(house, "CREATE VIEW public.mine AS SELECT events FROM logosphere.view_activity")
    before = house.views().tracked()
    with pytest.raises(Refused, match=r"\(view public.mine depends on .*: drop that first"):
        make_tables(server_at(house.place), (NEWER, SPENDING))
    assert house.views().tracked() == before


@contextmanager
def worker_role(house: House, server: servers.Server) -> Iterator[Server]:
    """The server for a role that may read and write the tables there are, and make none."""
    role = f"worker_{os.getpid()}"
    url = house.place.name
    database = url.rpartition("/")[2]
    server.admin(
        f"CREATE ROLE {role} LOGIN",
        f"GRANT USAGE ON SCHEMA logosphere TO {role}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA logosphere TO {role}",
        database=database,
    )
    try:
        yield server_at(place_of(url.replace("//mind@", f"//{role}@")))
    finally:
        server.admin(f"DROP OWNED BY {role}", f"DROP ROLE {role}", database=database)


def test_a_worker_needs_no_right_to_make_tables(house: House, postgres: servers.Server) -> None:
    """It begins views, divides them otherwise, begins a shard again and is told of the news."""
    make_tables(server_at(house.place), VIEWS)
    Team(house.log).works(8)
    with worker_role(house, postgres) as server, closing(PostgresViews(server, VIEWS)) as store:
        for view in VIEWS:
            store.prepare(view, 2)
        _works(house, store)
        for view in VIEWS:
            store.rebuild(view, 3)
        _works(house, store)
        for task in store.tracked():
            store.restart(VIEWS[NAMES.index(task.view)], task, b"")
        _works(house, store)
        with closing(store.leases("one:1:1", lambda _: True)) as leases:
            assert leases.refresh(store.tracked().keys()) == store.tracked().keys()
        store.listen()
        begin(house.log, "later", events=1)
        assert store.heard(10)
        assert make_tables(server, VIEWS) == []
        with closing(server.connect()) as connection:
            for statement in (
                "CREATE TABLE logosphere.mine ()",
                "DROP VIEW logosphere.view_activity",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement.encode())


def _works(house: House, store: PostgresViews) -> None:
    worker = Worker(house.log, store, VIEWS, "one:1:1")
    worker.take(store.tracked().keys(), store.tracked())
    worker.catch_up()
    assert shown(store) == recounted(house.log)
