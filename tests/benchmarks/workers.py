"""Workers that keep views: python -m tests.benchmarks.workers [--quick].

On a store in a directory and on PostgreSQL, in one run: how fast one worker takes in a history (the
floor is reading it), how long after its acknowledgement an event is to be seen in a view that
another process keeps, and how long after ``kill -9`` of a worker somebody else has taken over.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from operator import attrgetter, truediv
from pathlib import Path
from tempfile import TemporaryDirectory

from commands.eventlog.place import Place, place_of
from domain.ids import SessionId
from projections.views.ours import VIEWS
from projections.views.store import ViewStore
from projections.views.worker import Worker
from tests.benchmarks.figures import Figure, Report
from tests.benchmarks.fleet import Took, Watch
from tests.commands.eventlog.stores import begin, draw, thought
from tests.postgres.servers import Server
from tests.projections.fleet.many import say
from tests.projections.views.team import House
from tests.stories.cast import SteadyWorld

SECTION = "views that workers keep"
MIND = Path(sys.executable).with_name("mind")
MAIN = SessionId("main")
_WALL, _CPU = attrgetter("wall"), attrgetter("cpu")


def filled(house: House, sessions: int, exchanges: int) -> int:
    """Have a history; how many events it is."""
    world = SteadyWorld()
    for number in range(sessions):
        session = SessionId(f"s{number:04d}")
        begin(house.log, session)
        say(house.log, session, world, exchanges)
    begin(house.log, MAIN)
    return sum(1 for _ in house.log.plain())


def reading(house: House) -> Took:
    """What it takes to read all events, and to do nothing with them."""
    watch = Watch()
    for _ in house.log.plain():
        pass
    return watch.took()


def catching_up(house: House, shards: int) -> Took:
    """What it takes one worker to take in all events, from the first one on."""
    store = house.views()
    for view in VIEWS:
        store.rebuild(view, shards)
    worker = Worker(house.log, store, VIEWS, "here:1:1")
    worker.take(store.tracked().keys(), store.tracked())
    watch = Watch()
    worker.catch_up()
    return watch.took()


@contextmanager
def hired(place: Place, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many worker processes."""
    env = {**os.environ, "MIND_STORE": place.url or str(place.home)}
    crew = [_hire(env) for _ in range(count)]
    try:
        yield crew
    finally:
        for worker in crew:
            worker.kill()
            worker.wait()


def _hire(env: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([MIND, "work"], env=env, stderr=subprocess.DEVNULL)


def appended(house: House) -> int:
    """The position of one more event."""
    version = house.log.head(MAIN).version
    house.log.append(MAIN, version, draw(thought("t"), wish=version))
    return house.log.position()


def _reached(store: ViewStore, position: int) -> bool:
    return min(one.position for one in store.tracked().values()) >= position


def seconds_until(wanted: Callable[[], bool]) -> float:
    """How long it takes until something is so."""
    began = time.perf_counter()
    while not wanted():
        if time.perf_counter() - began > 60:
            raise TimeoutError
        time.sleep(0.0002)
    return time.perf_counter() - began


def visible(house: House, events: int) -> list[float]:
    """Seconds from each acknowledgement until ``activity`` counts the event, at an easy pace."""
    store, dice, taken = house.views(), random.Random(8), []  # noqa: S311 — pauses
    (activity, *_) = VIEWS

    def count() -> int:
        return next((int(row[1]) for row in store.rows(activity) if row[0] == MAIN), 0)

    with hired(house.place, 1):
        seconds_until(lambda: _reached(store, house.log.position()))
        for _ in range(events):
            time.sleep(dice.uniform(0.005, 0.15))
            appended(house)
            wanted = house.log.head(MAIN).version
            taken.append(seconds_until(lambda least=wanted: count() >= least))
    return taken


def taken_over(house: House, times: int) -> list[float]:
    """Seconds from ``kill -9`` of who has a shard until an event that came then is taken in."""
    store, taken = house.views(), []
    for view in VIEWS:
        store.rebuild(view, 1)
    for _ in range(times):
        with hired(house.place, 2) as crew:
            pids = {str(worker.pid) for worker in crew}
            seconds_until(lambda all_=pids: _holding(store) == all_)
            crew[0].kill()
            crew[0].wait()
            position = appended(house)
            taken.append(seconds_until(lambda least=position: _reached(store, least)))
    return taken


def _holding(store: ViewStore) -> set[str]:
    return {holder.split(":")[1] for holder in store.held(_lives).values()}


def _lives(_: str) -> bool:
    return True


def measure(house: House, name: str, report: Report, *, quick: bool) -> None:
    """All of it on one store."""
    sessions, runs = (40, 1) if quick else (300, 5)
    events = filled(house, sessions, 40)
    floors = [reading(house) for _ in range(runs)]
    report.remarks.append(f"{name}: {events:,} events; reading them: {_rates(events, floors)}.")
    for shards in (1, 3):
        taken = [catching_up(house, shards) for _ in range(runs)]
        what = f"{name}: history taken in, {shards} shard{'s' if shards > 1 else ''}"
        walls, least = [took.wall for took in taken], [took.wall for took in floors]
        ratio = statistics.median(map(truediv, walls, least))
        median, floor = statistics.median(walls), statistics.median(least)
        report.figures.append(Figure(SECTION, what, median, "s", floor, ratio=ratio, runs=runs))
        report.remarks.append(f"{what}: {_rates(events, taken)}.")
    for view in VIEWS:
        house.views().rebuild(view, 1)
    seen = sorted(visible(house, 20 if quick else 300))
    for percent in (50, 99):
        value = seen[min(len(seen) * percent // 100, len(seen) - 1)] * 1e3
        what = f"{name}: event to be seen in a view, p{percent}"
        report.figures.append(Figure(SECTION, what, value, runs=len(seen)))
    over = taken_over(house, 1 if quick else 10)
    for what, seconds in (("median", statistics.median(over)), ("longest", max(over))):
        said = f"{name}: killed to taken over, {what}"
        report.figures.append(Figure(SECTION, said, seconds, "s", target=5.0, runs=len(over)))


def _rates(events: int, taken: list[Took]) -> str:
    wall, cpu = (events / statistics.median(map(which, taken)) for which in (_WALL, _CPU))
    return f"{wall:,.0f} events a second, {cpu:,.0f} by each second of this process's CPU"


def main() -> None:
    """Let it happen, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a seventh of the history, once")
    quick = parser.parse_args().quick
    report = Report()
    with TemporaryDirectory() as directory, ExitStack() as stack:
        os.environ["XDG_CACHE_HOME"] = f"{directory}/cache"
        (Path(directory) / "store").mkdir()
        server = stack.enter_context(Server(fsync=True))
        places = {"SQLite": f"{directory}/store", "PostgreSQL": server.database()}
        for name, place in places.items():
            house = House(place_of(place))
            try:
                measure(house, name, report, quick=quick)
            finally:
                house.close()
    print(report.table())


if __name__ == "__main__":
    main()
