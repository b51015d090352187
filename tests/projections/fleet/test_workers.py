"""Processes find what one finds, and one that is killed is replaced."""

import multiprocessing
import os
import shutil
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from domain.errors import Broken
from projections.fleet.load import Code
from projections.fleet.workers import KILLS, here, processes
from tests.projections.fleet.asked import asked
from tests.projections.fleet.many import grow_until

DEADLY = """
import os, signal
from pathlib import Path

def rows(branch, events):
    if branch.session == "s0005" and len(list(Path(r"{marks}").iterdir())) < {times}:
        Path(r"{marks}", str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    yield {{"session": branch.session, "events": sum(1 for _ in events)}}
"""


def deadly(directory: Path, times: int) -> Code:
    """A job that kills so many of the processes that it runs in."""
    marks = directory / "marks"
    marks.mkdir(exist_ok=True)
    return Code("rows", "deadly.py", DEADLY.format(marks=marks, times=times).encode())


def test_processes_find_the_same_and_one_that_is_killed_is_replaced(
    store: Path, tmp_path: Path
) -> None:
    """Jobs of ours and of the user's; of what was done already nothing is lost or met twice."""
    lost: list[bool] = []
    with processes(2, lambda: lost.append(True)) as team:
        found = asked(store, "sessions", team)
        survived = asked(store, deadly(tmp_path, 1), team)
    assert found == asked(store, "sessions")
    assert len(lost) == len(list((tmp_path / "marks").iterdir())) == 1
    assert survived == asked(store, deadly(tmp_path, 1))
    assert [row["session"] for row in survived[1]] == [f"s{number:04d}" for number in range(12)]
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_what_kills_every_worker_is_named(store: Path, tmp_path: Path) -> None:
    """After three processes it is given up, and the others are let go."""
    with (
        pytest.raises(Broken, match=r"Partition \d \(.*s0005.*\) ended every worker"),
        processes(2) as team,
    ):
        asked(store, deadly(tmp_path, 99), team)
    assert len(list((tmp_path / "marks").iterdir())) == KILLS
    assert multiprocessing.active_children() == []


def position(store: Path) -> int:
    """The newest position of a store."""
    with EventLog(store) as log:
        return log.position()


@pytest.mark.slow
def test_another_process_appends_all_the_time(store: Path, tmp_path: Path) -> None:
    """Of the same cut, every digest is that of before, and later cuts have more."""
    copied = Path(shutil.copytree(store, tmp_path / "store"))
    before = {job: asked(copied, job) for job in ("sessions", "drafts")}
    seen = [position(copied)]
    end = tmp_path / "end"
    other = multiprocessing.get_context("spawn").Process(target=grow_until, args=(copied, end))
    other.start()
    try:
        with processes(2) as team:
            while len(seen) < 4:
                for job, found in before.items():
                    assert asked(copied, job, team, upto=seen[0], count=3) == found
                seen = sorted({*seen, position(copied)})
            assert asked(copied, "drafts", team, upto=seen[-1]) == asked(
                copied, "drafts", upto=seen[-1]
            )
    finally:
        end.touch()
        other.join()
        other.close()
    _, rows = asked(copied, "sessions")
    assert sum(row["events"] for row in rows) == position(copied) >= seen[-1]


def test_without_workers_all_is_done_here(store: Path) -> None:
    """What a job prints goes where talk goes, since data is on stdout."""
    source = b"import os\ndef rows(b, e):\n    print('hello')\n    yield {'pid': os.getpid()}"
    with here() as team:
        _, rows = asked(store, Code("rows", "mine.py", source), team)
    assert {row["pid"] for row in rows} == {os.getpid()}


@pytest.mark.slow
def test_a_cluster_does_without_a_worker_that_is_killed(store: Path, tmp_path: Path) -> None:
    """What it had is done by another one; what kills all of them is named."""
    distributed = pytest.importorskip("distributed")
    from projections.fleet.workers import dask  # noqa: PLC0415 — beside what it needs

    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        worker_dashboard_address=None,
    ) as cluster:
        address = cluster.scheduler_address.removeprefix("tcp://")
        with dask(address) as team:
            survived = asked(store, deadly(tmp_path, 1), team)
            assert survived == asked(store, deadly(tmp_path, 1))
        with pytest.raises(Broken, match=r"s0005.*ended every worker"), dask(address) as team:
            asked(store, deadly(tmp_path, 99), team)
