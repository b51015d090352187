"""Waking up on news: events as other processes append them."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from commands.eventlog.sqlite.layout import database_uri
from domain.errors import NoNews
from domain.log import Log
from domain.recorded import Recorded

_SHORTEST = 0.005
_LONGEST = 0.1


def follow(
    log: Log, path: Path, mode: str, after: int, stop: threading.Event
) -> Iterator[Recorded]:
    """Events behind a position, then every new one soon after its commit, until ``stop`` is set.

    SQLite has no notifications; ``PRAGMA data_version`` costs 4 µs, changes with any process's
    commit, and so tells when reading is worth while. Looks are 5 ms apart while there is news
    and at most 100 ms when there is none.

    Raises:
        NoNews: the file is opened as one that never changes.
    """
    if "immutable" in mode:
        yield from log.feed(after)
        raise NoNews(str(path))
    watch = sqlite3.connect(database_uri(path, mode=mode), uri=True)
    try:
        seen, pause = None, _SHORTEST
        while not stop.is_set():
            version = watch.execute("PRAGMA data_version").fetchone()[0]
            if version != seen:
                seen, pause = version, _SHORTEST
                for recorded in log.feed(after):
                    after = recorded.position
                    yield recorded
            else:
                pause = min(pause * 1.5, _LONGEST)
            stop.wait(pause)
    finally:
        watch.close()
