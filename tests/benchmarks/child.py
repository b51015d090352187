"""What has to run in a process of its own: recording under strace, a replay whose memory counts."""

import json
import sys
from pathlib import Path

from commands.eventlog import EventLog
from domain.ids import SessionId
from domain.session import Session, evolve
from tests.benchmarks.floor import Floor
from tests.benchmarks.measure import Stopwatch
from tests.benchmarks.memory import peak
from tests.benchmarks.workload import Recorder, Workload


def record(what: str, directory: Path, count: int) -> None:
    """Record W1 on the log or on the floor."""
    work = Workload(max(count, 20), half=True)
    side = Recorder(directory, work) if what == "log" else Floor(directory / "floor.db", work)
    side.record(0, count)


def replay(directory: Path, session: str) -> None:
    """Fold a whole session from its first event; tells events, CPU and how memory grew."""
    with EventLog(directory) as log:
        state: Session | None = None
        early = 0
        with Stopwatch() as watch:
            for recorded in log.read(SessionId(session)):
                state = evolve(state, recorded)
                if recorded.version == 50_000:
                    early = peak()
        version = state.version if state else 0
        told = {"events": version, "cpu": watch.cpu, "grown": peak() - early, "peak": peak()}
        print(json.dumps(told))


def rebuild(directory: Path, session: str) -> None:
    """Read the head where no snapshot is left; tells CPU and how memory grew."""
    with EventLog(directory) as log:
        early = peak()
        with Stopwatch() as watch:
            state = log.state(SessionId(session))
        print(json.dumps({"events": state.version, "cpu": watch.cpu, "grown": peak() - early}))


if __name__ == "__main__":
    verb, place, rest = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    if verb == "replay":
        replay(place, rest)
    elif verb == "rebuild":
        rebuild(place, rest)
    else:
        record(verb, place, int(rest))
