"""A process that exports in children of its own, each of which ends at a moment that is chosen.

``python -m tests.faults.lake_driver STORE LAKE`` reads lines of JSON: after how many times that an
export has touched the lake it is killed, or else after how many seconds; and how it is asked for.
It answers each with whether it was killed: a child that came to its end was not.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from commands.eventlog import EventLog
from projections.analytics.files.lake import export_parquet

TABLES = ("events", "exchanges", "sessions", "thoughts", "thoughts_by_1")
TOUCHES = frozenset({"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir"})


def kill_at(lake: Path, touch: int) -> None:
    """End this process when it is about to touch a directory for the n-th time."""
    left, within = touch, str(lake)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if event in TOUCHES and str(arguments[0]).startswith(within):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def export(store: Path, lake: Path, **how: bool) -> None:
    """Bring the lake up to date."""
    with EventLog(store) as log:
        export_parquet(log, store, lake, tables=TABLES, **how)


def work(store: Path, lake: Path) -> None:
    """Do what is asked for, until nothing is."""
    import duckdb  # noqa: F401, PLC0415 — once, and not in each child

    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            if asked["touch"]:
                kill_at(lake, asked["touch"])
            export(store, lake, **asked["how"])
            os._exit(0)
        if not asked["touch"]:
            time.sleep(asked["seconds"])
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        print(json.dumps(os.WIFSIGNALED(status)), flush=True)


if __name__ == "__main__":
    work(*map(Path, sys.argv[1:]))
