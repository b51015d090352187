"""Workers as processes: killed at any moment, taken over, and every event counted once."""

import json
import os
import random
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from commands.holder import is_alive
from projections.views.store import Task, ViewStore
from tests.postgres.netlab import Netlab, needs_hosts
from tests.postgres.pair import Pair
from tests.postgres.servers import Server
from tests.projections.views.crew import caught_up, crew_at, crew_of, wait_for
from tests.projections.views.team import House, Team, house_at, recounted, shown


def test_a_killed_worker_is_taken_over(house: House) -> None:
    """Whoever is left takes its shards, from where it was, and counts nothing twice."""
    team, store = Team(house.log), house.views()
    team.works(60)
    with crew_of(house) as crew:
        first = crew.hires("--shards", "2")
        task = Task("activity", 0)
        wait_for(lambda: task in store.tracked() and store.tracked()[task].position > 0)
        crew.hires()
        crew.loses(first)
        team.works(20)
        goal = house.log.position()
        wait_for(lambda: caught_up(store, goal))
        assert crew.dismissed() == [0]
    assert shown(store) == recounted(house.log)


@pytest.mark.slow
@pytest.mark.parametrize("way", [("--shards", "1", "--shard", "0"), ("--shards", "3", "--lease")])
def test_ten_kills_of_two_workers_leave_the_views_exact(house: House, way: tuple[str, ...]) -> None:
    """On one shard against each other, or by leases with each other, while the log grows."""
    seed = random.SystemRandom().getrandbits(32)
    print(f"seed {seed}")
    team, store = Team(house.log, seed), house.views()
    team.works(100)
    with crew_of(house) as crew:
        for _ in range(2):
            crew.hires(*way)
        wait_for(lambda: len(store.tracked()) > 0)
        for _ in range(10):
            before = sum(t.position for t in store.tracked().values())
            team.works(team.chance.randint(1, 30))
            behind = team.chance.randint(0, house.log.position() - 1)
            wait_for(
                lambda least=behind, was=before: (
                    sum(t.position for t in store.tracked().values()) > was
                    or min(t.position for t in store.tracked().values()) >= least
                )
            )
            crew.loses(team.chance.choice(crew.members))
            crew.hires(*way)
        goal = house.log.position()
        wait_for(lambda: caught_up(store, goal))
        assert set(crew.dismissed()) <= {0, -signal.SIGTERM}  # who had hardly started
    assert shown(store) == recounted(house.log)


@pytest.mark.slow
def test_three_processes_of_a_shard_each_make_what_one_makes(house: House) -> None:
    """While several people write."""
    teams = [Team(house.log, seed, name) for seed, name in ((1, "x"), (2, "y"))]
    store = house.views()
    with crew_of(house) as crew:
        for shard in range(3):
            crew.hires("--shards", "3", "--shard", str(shard))
        for _ in range(60):
            for team in teams:
                team.does()
        goal = house.log.position()
        wait_for(lambda: len(store.tracked()) == 6)
        wait_for(lambda: caught_up(store, goal))
        assert crew.dismissed() == [0, 0, 0]
    assert shown(store) == recounted(house.log)


def _holders(store: ViewStore) -> set[str]:
    return {holder.split(":")[1] for holder in store.held(is_alive).values()}


@pytest.mark.slow
def test_a_stopped_worker_is_taken_over_and_finds_its_place_again(house: House) -> None:
    """What it had in mind when it was stopped is of no consequence when it goes on."""
    team, store = Team(house.log), house.views()
    with crew_of(house) as crew:
        one, two = crew.hires(), crew.hires()
        pids = {str(one.pid), str(two.pid)}
        wait_for(lambda: len(store.tracked()) == 2)
        wait_for(lambda: _holders(store) == pids)
        os.kill(one.pid, signal.SIGSTOP)
        team.works(40)
        goal = house.log.position()
        wait_for(lambda: caught_up(store, goal))
        os.kill(one.pid, signal.SIGCONT)
        wait_for(lambda: _holders(store) == pids)
        team.works(40)
        end = house.log.position()
        wait_for(lambda: caught_up(store, end))
        assert crew.dismissed() == [0, 0]
    assert shown(store) == recounted(house.log)


@pytest.mark.slow
def test_workers_outlive_the_server(
    own_postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed and started again, it finds them at work where they were."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with house_at(own_postgres.database()) as house, crew_of(house) as crew:
        team = Team(house.log)
        team.works(30)
        store = house.views()
        for _ in range(2):
            crew.hires()
        wait_for(lambda: _holders(store) == {str(one.pid) for one in crew.members})
        own_postgres.kill()
        own_postgres.start()
        store = house.views()
        team.works(30)
        goal = house.log.position()
        wait_for(lambda: caught_up(store, goal))
        assert crew.dismissed() == [0, 0]
        assert shown(store) == recounted(house.log)


@pytest.mark.slow
def test_workers_go_on_at_the_standby(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the primary is killed and its standby promoted, views and log are of one mind."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with Pair() as pair, house_at(pair.database()) as house, crew_of(house) as crew:
        team = Team(house.log)
        team.works(30)
        store = house.views()
        for _ in range(2):
            crew.hires()
        wait_for(lambda: _holders(store) == {str(one.pid) for one in crew.members})
        pair.primary.kill()
        pair.promote()
        store = house.views()
        team.works(30)
        goal = house.log.position()
        wait_for(lambda: caught_up(store, goal))
        assert crew.dismissed() == [0, 0]
        assert shown(store) == recounted(house.log)


@pytest.mark.slow
def test_a_worker_on_a_host_that_is_cut_off_is_taken_over(tmp_path: Path) -> None:
    """The server lets go of its leases; plugged in again, it shares the work as before."""
    needs_hosts()
    with Netlab("db", "a", "b") as lab, ExitStack() as stack:
        db, a, b = (lab[name] for name in ("db", "a", "b"))
        server = stack.enter_context(Server(address=db.address, within=db.within))
        crew = stack.enter_context(crew_at(server.database(), XDG_CACHE_HOME=str(tmp_path)))

        def status() -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = json.loads(crew.asks(b, "work", "status", "--json"))
            return found

        def shared() -> bool:
            return len({part["leased_by"] for part in status()} - {None}) == 2

        crew.asks(b, "init", crew.name, "--set", "embedding_model=off")
        for host in (a, b):
            crew.hires(within=host.within)
        wait_for(shared)
        lab.cut("a")
        crew.asks(b, "note", "while one is away")
        newest = json.loads(crew.asks(b, "status", "--json"))["version"]
        wait_for(lambda: {part["position"] for part in status()} == {newest})
        lab.heal("a")
        wait_for(shared)
        crew.asks(b, "note", "while both are there")
        wait_for(lambda: {part["position"] for part in status()} == {newest + 1})
        (row,) = json.loads(crew.asks(b, "work", "show", "activity", "--json"))
        assert row["events"] == newest + 1
