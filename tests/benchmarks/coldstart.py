"""What it costs to start the command line, as processes."""

import compileall
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.figures import Figure, Report
from tests.benchmarks.measure import Job, median, shuffled
from tests.benchmarks.workload import MAIN, Recorder, Workload

SECTION = "Command line, cold"
LIMIT_MS = 350.0
ROOT = Path(__file__).parents[2]
ROOMS = ("domain", "commands", "projections", "cli")


def measure(report: Report, place: Path | None, *, runs: int, dice: random.Random) -> None:
    """CPU of whole processes, beside a Python that does nothing."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir=place) as name:
        store = Path(name) / "store"
        store.mkdir()
        recorder = Recorder(store, Workload(100, half=True))
        recorder.record(0, 96)  # in the middle of an exchange: there are drafts to show
        recorder.log.close()
        for room in ROOMS:  # as they are once installed, also where Python may not write bytecode
            compileall.compile_dir(ROOT / room, quiet=2)
        installed = Path(sys.executable).with_name("mind")
        mind = [str(installed)] if installed.exists() else [sys.executable, "-m", "cli.main"]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "mind --help": [*mind, "--help"],
            "mind drafts": [*mind, "drafts", "--store", str(store), "--session", MAIN],
            "mind status": [*mind, "status", "--store", str(store), "--session", MAIN],
        }
        taken = shuffled({k: [_process(c)] * runs for k, c in commands.items()}, dice)
    floor = median(taken["python -c pass"])
    for what, values in taken.items():
        promised = LIMIT_MS if what == "mind drafts" else None
        report.figures.append(Figure(SECTION, what, median(values), "ms", floor, promised, runs))


def _process(command: list[str]) -> Job:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MIND_")}

    def job() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3

    return job
