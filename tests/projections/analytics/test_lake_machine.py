"""A lake against its store, whatever happens to that: forks of forks, imports, late vectors.

All that happens to databases elsewhere happens here; now and then there is an export. What was
written before is never touched unless something was redacted, and in the end each lake holds each
row once.
"""

import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import Phase, seed, settings

from projections.analytics.files.lake import export_parquet
from tests.commands.places import Place, Spot
from tests.projections.analytics.lakes import check, hashes
from tests.projections.analytics.test_equality import QUICK, AnalyticsMachine

WANTED = {"embedded late", "another embedder", "redacted", "added to", "written anew", "pruned"}


class LakeMachine(AnalyticsMachine):
    """What may happen to two stores, and to their lakes."""

    depths: ClassVar[list[int]] = []
    happened: ClassVar[Counter[str]] = Counter()

    def _ask(self, spot: Spot) -> None:
        self._export(spot.place)

    def _export(self, place: Place) -> Path:
        log, lake = place.process(elsewhere=True), _lake_of(place)
        before = hashes(lake) if lake.exists() else {}
        prune = self.luck.random() < 0.3
        done = export_parquet(log, place.directory, lake, buckets=3, prune=prune)
        now = hashes(lake)
        if done.redacted:
            assert before.keys().isdisjoint(now)
            self._did("written anew")
        else:
            gone = before.keys() - now.keys()
            assert len(gone) == done.removed.files
            assert not gone or (prune and all("/generation=" in file for file in gone))
            assert all(now[file] == before[file] for file in before.keys() & now.keys())
            self._did("pruned" if gone else "added to")
        return lake

    def teardown(self) -> None:
        """Whatever has been: the lake holds what the database holds."""
        try:
            if sys.exc_info()[0] is None:
                for place in (self.here, self.there):
                    lake = self._export(place)
                    check(place.directory, lake)
        finally:
            for place in (self.here, self.there):
                shutil.rmtree(_lake_of(place), ignore_errors=True)
                place.demolish()


def _lake_of(place: Place) -> Path:
    return place.directory.with_name(f"{place.directory.name}-lake")


@pytest.mark.slow
class TestLakes(seed(8)(LakeMachine).TestCase):  # type: ignore[misc]
    """Some machines, in a minute."""

    settings = settings(
        QUICK, max_examples=10, stateful_step_count=14, phases=[Phase.generate, Phase.shrink]
    )

    def runTest(self) -> None:  # noqa: N802 — unittest's name
        """All that can happen happens to some."""
        super().runTest()
        assert LakeMachine.happened.keys() >= WANTED, LakeMachine.happened
