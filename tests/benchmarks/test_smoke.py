"""The benchmarks still run, and what they measure is what W1 says it should be."""

import random
from pathlib import Path

import pytest

from tests.benchmarks import dialogue, wishes
from tests.benchmarks.figures import Report
from tests.benchmarks.measure import FsyncsUnknown
from tests.benchmarks.w1 import N_FORK, digest
from tests.benchmarks.workload import FORK, FORK_OF_FORK, MAIN, Recorder, Workload, told


@pytest.mark.parametrize("half", [True, False], ids=["float16", "float32"])
def test_the_log_reads_back_what_the_workload_wrote(tmp_path: Path, *, half: bool) -> None:
    """The head, the moment of the fork, the fork and its fork have the digests of the reference."""
    work = Workload(100, half=half)
    recorder = Recorder(tmp_path, work)
    recorder.record(0, 100)
    recorder.branch()
    log, k = recorder.log, work.w1.K
    at_k = log.state(MAIN, recorder.ends[MAIN][k])
    assert digest(told(log, log.state(MAIN), work)) == digest(work.w1.ref_state(100))
    assert digest(told(log, at_k, work)) == digest(work.w1.ref_state(k))
    fork = digest(work.w1.ref_fork_state(k, N_FORK))
    assert digest(told(log, log.state(FORK), work)) == fork
    assert digest(told(log, log.state(FORK_OF_FORK), work)) == fork
    log.close()


def test_the_quick_workload_is_measured_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every figure of a small W1 is taken, beside its floor; a wrong state would raise."""

    def untraced(*_: object) -> float:
        raise FsyncsUnknown

    monkeypatch.setattr(dialogue, "fsyncs", untraced)
    report = Report()
    dialogue.measure(100, report, tmp_path, runs=1, dice=random.Random(1))  # noqa: S311
    names = {figure.name for figure in report.figures}
    assert {"append one iteration, float16", "fork anywhere"} <= names
    assert all(figure.value >= 0 for figure in report.figures)
    assert list(tmp_path.iterdir()) == []


def test_a_long_session_is_what_its_books_say(tmp_path: Path) -> None:
    """The builder of the million writes states that equal what was counted apart."""
    log, books, known = wishes.build(tmp_path, 2000, samples=20)
    assert len(known) > 10
    for wanted in known:
        wishes.check(log.state(MAIN, wanted.version), wanted)
    wishes.check(log.state(MAIN), books.expected())
    assert not [finding for verdict in log.verify() for finding in verdict.findings]
    log.close()
