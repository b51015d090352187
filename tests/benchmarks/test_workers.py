"""The benchmark of workers measures what it says."""

from pathlib import Path

import pytest

from projections.views.ours import ACTIVITY
from tests.benchmarks.workers import catching_up, filled, reading
from tests.projections.views.team import house_at


def test_a_worker_takes_in_the_whole_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time from the first event on, and no event twice."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "store").mkdir()
    with house_at(str(tmp_path / "store")) as house:
        events = filled(house, 3, 2)
        assert reading(house).wall > 0
        for shards in (1, 2):
            assert catching_up(house, shards).wall > 0
            assert sum(row[1] for row in house.views().rows(ACTIVITY)) == events
