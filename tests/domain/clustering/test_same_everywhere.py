"""The same thoughts are gathered in the same way by any Python, with any number of threads.

And what was decided is read by those who could not have decided it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands.gatherer import Gatherer
from commands.iterate import iterate
from domain.events import ClusterFormed
from tests.domain.clustering.elsewhere import STREAMS, decided, folded
from tests.fakes.embedders import Wordy
from tests.stories.cast import Rehearsed, Stage

ROOT = Path(__file__).parents[3]
DECIDED = Path(__file__).with_name("decided.json")
"""sha256 of what was decided by the version that first had it, by stream and batch."""

OTHER = "LOGOSPHERE_OTHER_PYTHON"
"""Names a Python of another version that can import numpy, pydantic and PyYAML."""

HEAVY = "-hdbscan,scipy,sklearn"


def elsewhere(*what: str, python: str = sys.executable, **env: str) -> Any:
    """What another process says."""
    done = subprocess.run(
        [python, "-W", "error", "-m", "tests.domain.clustering.elsewhere", *what],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def other() -> str:
    """Another Python."""
    python = os.environ.get(OTHER)
    if not python:
        pytest.skip(f"{OTHER} names no other Python")
    return python


@pytest.fixture(scope="module")
def truth() -> dict[str, str]:
    """What was decided when this was written."""
    known: dict[str, str] = json.loads(DECIDED.read_text("utf-8"))
    assert len(known) == 3 * len(STREAMS) - 2
    return known


def test_the_same_in_this_process(truth: dict[str, str]) -> None:
    """To the last digit. A change of the algorithm says so by a new ``decided.json``."""
    assert decided() == truth


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_same_with_any_number_of_threads(threads: str, truth: dict[str, str]) -> None:
    """In a process of its own, without any package but numpy."""
    assert elsewhere("decided", HEAVY, OPENBLAS_NUM_THREADS=threads) == truth


def test_the_same_in_another_python(other: str, truth: dict[str, str]) -> None:
    """Which brings its own numpy."""
    assert elsewhere("decided", python=other) == truth


def test_the_same_on_another_processor(truth: dict[str, str]) -> None:
    """As far as OpenBLAS can be told to be one: an old one, without the wide instructions."""
    assert elsewhere("decided", OPENBLAS_CORETYPE="Prescott") == truth


# where hdbscan is not installed


def test_without_hdbscan_many_are_linked() -> None:
    """Nobody asked for it by name, so nobody misses it."""
    assert elsewhere("founders", "-hdbscan") == ["linkage"]


def test_hdbscan_by_name_is_needed() -> None:
    """A decision that can't be made leaves the partition as it was."""
    assert elsewhere("wanted", "-hdbscan") == "hdbscan, as before"


def test_the_compatible_way_founds_nothing_without_it() -> None:
    """It does not break, either."""
    assert elsewhere("compatible", "-hdbscan") == []


# what was recorded is read, not decided


@pytest.fixture(params=["linkage", "hdbscan"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A store with a session whose clusters were founded by one or the other."""
    if request.param == "hdbscan":
        pytest.importorskip("hdbscan")
    stage = Stage(tmp_path / "store").begins(founder=request.param, active_pool_size=40)
    gatherer = Gatherer(stage.log, lambda _: Wordy(), pytest.fail)
    for each in range(0, 90, 6):
        texts = [SENTENCES[n % 7].format(n // 7 % 5, n) for n in range(each, each + 6)]
        reply = "thoughts:" + "".join(f"\n  - {text}" for text in texts)
        iterate(
            stage.log, stage.session, Rehearsed(reply), stage.world, seen=True, gatherer=gatherer
        )
    founders = {e.how for e in stage.events(ClusterFormed)}
    assert founders == {request.param}
    assert len({t.cluster for t in stage.state.pool.active}) > 3
    stage.log.close()
    return tmp_path / "store"


SENTENCES = [
    f"{topic} {{}} of {topic}s is {topic} {{}}"
    for topic in ("moon", "sun", "tide", "sea", "wind", "sand", "bay")
]


def test_what_was_recorded_is_read_without_what_decided_it(store: Path) -> None:
    """A fold needs no hdbscan, no scipy, no scikit-learn: state and partition are the same."""
    here = folded(str(store), "tides")
    assert elsewhere("folded", str(store), "tides", HEAVY) == here


def test_what_was_recorded_is_read_by_another_python(store: Path, other: str) -> None:
    """Bit for bit."""
    missing = subprocess.run([other, "-c", "import eventsourcing, msgpack"], check=False)
    if missing.returncode:
        pytest.skip(f"{other} has no eventsourcing or no msgpack")
    assert elsewhere("folded", str(store), "tides", python=other) == folded(str(store), "tides")
