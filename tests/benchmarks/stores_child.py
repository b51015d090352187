"""What runs in processes of its own when stores are measured: writers, a follower, raw inserts."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from commands.eventlog import EventLog
from commands.eventlog.place import place_of
from commands.handle import handle
from commands.notes import AddNote
from commands.sessions import start_session
from commands.world import RealWorld
from domain.ids import SessionId

WORDS = "x" * 460
"""What a note says whose event takes 600 bytes of the log, its envelope and its hash included."""
STATE = bytes(600)
FIRST = 7
"""The version of a session's first event that is timed: it is begun, and five are to warm up."""

TABLE = """CREATE TABLE IF NOT EXISTS events (id {id} PRIMARY KEY, stream TEXT NOT NULL,
    version BIGINT NOT NULL, kind TEXT NOT NULL, state {state} NOT NULL,
    UNIQUE (stream, version))"""


class Order(NamedTuple):
    """What a worker is to do, once it is told to go."""

    store: str
    """A place; a file or an address with ``raw:`` before it."""
    session: str
    seconds: float
    """How long to append."""
    gaps: tuple[float, ...] = ()
    """Seconds before each append; as fast as it goes without any."""


def serve(orders: Connection) -> None:
    """Do what one is told until the other end is closed."""
    while True:
        try:
            order: Order = orders.recv()
        except EOFError:
            return
        with _doer(order) as once:
            for _ in range(FIRST - 2):
                once()
            orders.send("ready")
            orders.recv()
            orders.send(_timed(once, order))


def _timed(once: Callable[[], object], order: Order) -> list[tuple[float, float]]:
    """When each of them began and ended."""
    spans = []
    until = time.monotonic() + order.seconds
    gaps = iter(order.gaps)
    while True:
        if order.gaps:
            gap = next(gaps, None)
            if gap is None:
                return spans
            time.sleep(gap)
        began = time.monotonic()
        if not order.gaps and began > until:
            return spans
        once()
        spans.append((began, time.monotonic()))


@contextmanager
def _doer(order: Order) -> Iterator[Callable[[], object]]:
    raw = order.store.removeprefix("raw:")
    if raw == order.store:
        with EventLog(place_of(raw)) as log:
            world, session = RealWorld.of_this_user(), SessionId(order.session)
            start_session(log, session, world)
            yield lambda: handle(log, session, AddNote(text=WORDS), world)
    elif "://" in raw:
        with _server(raw, order.session) as once:
            yield once
    else:
        with _file(Path(raw), order.session) as once:
            yield once


@contextmanager
def _file(file: Path, stream: str) -> Iterator[Callable[[], object]]:
    """One transaction of SQLite alone, as the log makes it."""
    with closing(sqlite3.connect(file, isolation_level=None, timeout=60)) as connection:
        connection.execute("PRAGMA synchronous=FULL")
        versions = iter(range(1, 10**9))

        def once() -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "INSERT INTO events (stream, version, kind, state) VALUES (?,?,?,?)",
                (stream, next(versions), "note.added", STATE),
            )
            connection.execute("COMMIT")

        yield once


@contextmanager
def _server(url: str, stream: str) -> Iterator[Callable[[], object]]:
    """One ``INSERT``, which is a transaction and a round trip."""
    import psycopg  # noqa: PLC0415 — only where there is a server

    with psycopg.connect(url, autocommit=True, prepare_threshold=0) as connection:
        versions = iter(range(1, 10**9))

        def once() -> None:
            connection.execute(
                "INSERT INTO events (stream, version, kind, state) VALUES (%s,%s,%s,%s)",
                (stream, next(versions), "note.added", STATE),
                binary=True,
            )

        yield once


@contextmanager
def following(store: str, session: str) -> Iterator[dict[int, float]]:
    """When each version of a session was first seen by whoever follows its store."""
    seen: dict[int, float] = {}
    stop = threading.Event()
    with EventLog(place_of(store)) as log:

        def watch() -> None:
            for recorded in log.follow(log.position(), stop):
                if recorded.session == session:
                    seen[recorded.version] = time.monotonic()

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield seen
        finally:
            stop.set()
            thread.join()
