"""The benchmark of jobs over many sessions measures what it says."""

from pathlib import Path

import pytest

from projections.fleet.load import code_of
from projections.fleet.workers import here
from tests.benchmarks import fleet
from tests.benchmarks.figures import Report
from tests.projections.fleet.many import EVENTS, grown


def test_the_job_sees_every_event(tmp_path: Path) -> None:
    """Floor and job read the same store, and the one that kills finds the same without killing."""
    store = grown(tmp_path / "store", 4, 2)
    assert fleet.floor(store).wall > 0
    took, digest, events = fleet.asked(store, code_of("sessions"), here)
    assert took.wall > 0
    assert (events, len(digest)) == (4 * (2 * EVENTS + 1), 64)
    (tmp_path / "mark").touch()
    assert fleet.asked(store, fleet.deadly(tmp_path / "mark"), here)[2] == events


@pytest.mark.slow
def test_every_kind_of_worker_is_measured(tmp_path: Path) -> None:
    """Processes and Dask, with and without one that is killed; another digest would raise."""
    report = Report()
    fleet.measure(grown(tmp_path / "store", 8, 2), tmp_path, 1, report)
    names = {figure.name for figure in report.figures}
    assert {"1 process", "2 processes: CPU", "2 processes, one killed"} <= names
    assert all(figure.value > 0 for figure in report.figures)
