"""A worker process: one thread for each cell of the store, until it is stopped."""

import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from cli import output as out
from cli.cells import answering
from cli.kept_views import Part, part
from cli.wiring import find_store
from commands.eventlog import EventLog
from commands.eventlog.patience import impatient
from commands.eventlog.place import Place
from commands.holder import is_alive, this_process
from domain.errors import Broken, StoreIsBusy
from domain.server_errors import CellsAreAway, StoreIsUnreachable
from projections.views.ours import VIEWS
from projections.views.store import OfANewerVersion, Task, ViewStore
from projections.views.view import View
from projections.views.work import Claims, Leased, News, OneShard, work
from projections.views.worker import Worker

if TYPE_CHECKING:
    from projections.views.postgres import PostgresViews

_SHORTEST, _LONGEST = 0.002, 0.05
"""Seconds between two looks at whether something has happened."""


class Plan(NamedTuple):
    """What a worker was asked to do."""

    shards: int | None
    shard: int | None
    """None takes whatever is free."""
    once: bool
    batch: int


def work_on(store: Place | None, plan: Plan, stop: threading.Event) -> None:
    """Work on all cells of a store until somebody says stop, or one of them can't go on.

    One that is away, of several, stops no work on the others: it is waited for.

    Raises:
        LogosphereError: why one can't.
        CellsAreAway: all that answer have caught up, which was all that was to be done.
    """
    with EventLog(find_store(store)) as log:
        places, away = answering(log) if plan.once else (log.places(), ())
    if len(places) == 1 and not away:
        _work_at(places[0], plan, stop)
        return
    with ThreadPoolExecutor(len(places)) as threads:
        works = [threads.submit(_work_at, place, plan, stop, waits=True) for place in places]
        for done in as_completed(works):
            if not isinstance(done.exception(), StoreIsUnreachable | None):
                stop.set()
        for done in works:
            done.result()
    if away:
        raise CellsAreAway(away, "Not all was taken in")


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """Set when somebody asks for the end; who asks twice does not want to wait for it."""
    stop = threading.Event()

    def asked(_: int, __: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before: Mapping[int, Any] = {
        number: signal.signal(number, asked) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield stop
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _work_at(place: Place, plan: Plan, stop: threading.Event, *, waits: bool = False) -> None:
    """Work on one cell until the end, whatever becomes of the connection meanwhile.

    Args:
        place: where it is.
        plan: what is to be done.
        stop: set when it is to end.
        waits: whether one that does not even answer at first is waited for.

    Raises:
        StoreIsUnreachable, StoreIsBusy: it was so from the beginning, or while a single catch-up
            was made.
    """
    met, told = waits, False
    while True:
        try:
            # whoever goes on by himself hears soon that he is to stop
            with nullcontext() if plan.once else impatient(), part(place) as cell:
                met, told = True, False
                _work_with(cell, plan, stop)
                return
        except (StoreIsBusy, StoreIsUnreachable) as error:
            if plan.once or not met:
                raise
            if not told and isinstance(error, StoreIsUnreachable):
                which = f"Cell {place.address.cell}: " if waits else ""
                out.talk(out.safe(which + error.awaited))
                told = True
        if stop.wait(1.0):
            return


def _work_with(cell: Part, plan: Plan, stop: threading.Event) -> None:
    log, views, where = cell.log, cell.views, f"Cell {cell.name}: " if cell.name else ""
    me = this_process()
    able = _prepared(views, plan)
    worker = Worker(
        log,
        views,
        able,
        me,
        told=lambda line: out.talk(where + out.safe(line)),
        batch=plan.batch,
    )
    news = _news_of(cell, stop)
    claims: Claims = (
        Leased(views.leases(me, is_alive))
        if plan.shard is None
        else OneShard(plan.shard, plan.shards or 1)
    )
    work(
        worker,
        claims,
        views,
        news,
        stop,
        once=plan.once,
        changed=None if plan.once else lambda tasks: out.talk(where + _told(tasks)),
    )
    if plan.once:
        out.talk(where + _taken(worker))
    if worker.failed:
        raise Broken(next(iter(worker.failed.values())))


def _prepared(views: ViewStore, plan: Plan) -> list[View]:
    """The views that this program can go on with.

    Raises:
        Refused: there is none, or one is kept in another number of shards.
    """
    able, refusal = [], None
    for view in VIEWS:
        try:
            views.prepare(view, plan.shards)
        except OfANewerVersion as error:
            refusal = error
            out.talk(error.sentence)
        else:
            able.append(view)
    if refusal is not None and not able:
        raise refusal
    return able


def _taken(worker: Worker) -> str:
    """What came of catching up once."""
    if not worker.tasks and not worker.failed:
        return "Other workers keep these views: nothing was left to take in."
    if not any(worker.taken.values()):
        return f"Nothing new: {out.each(worker.taken)} had taken in all events."
    counts = (f"{view} {out.count(number, 'event')}" for view, number in worker.taken.items())
    return f"Taken in: {', '.join(counts)}."


def _told(tasks: frozenset[Task]) -> str:
    numbers: dict[str, list[str]] = {}
    for view, shard in sorted(tasks):
        numbers.setdefault(view, []).append(str(shard))
    named = " and ".join(
        f"{view} (shard{'s' * (len(some) > 1)} {', '.join(some)})" for view, some in numbers.items()
    )
    return f"Working on {named}." if named else "Waiting: others work on all parts."


def _news_of(cell: Part, stop: threading.Event) -> News:
    """What waits for new events: the server's notices, or looks that cost next to nothing."""
    if cell.log.place.url is not None:
        from projections.views.postgres import PostgresViews  # noqa: PLC0415 — brings psycopg

        if isinstance(cell.views, PostgresViews):
            cell.views.listen()
            return partial(_listen, cell.views, stop)

    def look(after: int, seconds: float) -> None:
        until, nap = time.monotonic() + seconds, _SHORTEST
        while cell.log.position() <= after and time.monotonic() < until and not stop.wait(nap):
            nap = min(nap * 1.3, _LONGEST)

    return look


def _listen(views: "PostgresViews", stop: threading.Event, _: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    while not stop.is_set():
        left = until - time.monotonic()
        if views.heard(max(min(left, _LONGEST), 0)) or left <= 0:
            return
