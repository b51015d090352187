"""A process that asks: ``python -m tests.faults.analytics_asker WHAT STORE [NUMBER]``.

It prints a line of JSON for each thing that it has done; ``reader`` and ``writer`` hold the
database open until their standard input ends.
"""

import json
import sys
from contextlib import closing
from itertools import chain
from pathlib import Path

from commands.eventlog import EventLog
from domain.errors import LogosphereError
from projections.analytics.catchup import catch_up, rebuild
from projections.analytics.database import connect, opened
from projections.analytics.place import FILE

COUNT = "SELECT count(*), count(DISTINCT position), coalesce(max(position), 0) FROM events"


def said(what: object) -> None:
    """Tell who listens."""
    print(json.dumps(what), flush=True)


def ask(store: Path, times: int) -> None:
    """Catch up, open, count; again and again."""
    with EventLog(store, writable=False) as log:
        for _ in range(times):
            known = log.position()
            found = catch_up(log, store, size=50)
            with closing(opened(store / FILE)) as connection:
                (row,) = connection.execute(COUNT).fetchall()
            said([known, found.behind, found.why, *row])


def hold(store: Path, *, read_only: bool) -> None:
    """Have the database open, and count again whenever somebody says so."""
    with closing(connect(store / FILE, read_only=read_only)) as connection:
        for _ in chain([0], sys.stdin):
            said(connection.execute(COUNT).fetchall()[0])


def once(store: Path, what: str) -> None:
    """Catch up, or build anew."""
    with EventLog(store, writable=False) as log:
        try:
            if what == "rebuild":
                rebuild(log, store, size=20)
                said(["rebuilt"])
            else:
                found = catch_up(log, store, size=20)
                said([found.behind, found.why])
        except LogosphereError as error:
            said([type(error).__name__, str(error)])


def main(what: str, store: Path, *more: str) -> None:
    """Do it."""
    match what:
        case "ask":
            ask(store, int(more[0]))
        case "reader" | "writer":
            hold(store, read_only=what == "reader")
        case _:
            once(store, what)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
