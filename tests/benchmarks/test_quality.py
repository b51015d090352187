"""The benchmark of clusterings runs, and says that ours is one."""

import pytest

from tests.benchmarks.quality import Quality, quality


@pytest.fixture(scope="module")
def report() -> Quality:
    """One set in one order, with the local embedder."""
    made = Quality()
    quality(made, ["thoughts"], orders=1, drawn=1)
    return made


def test_ours_finds_themes_where_the_two_phase_way_does_not(report: Quality) -> None:
    """On thoughts with real vectors, given one after another."""
    scores = {score.algorithm: score for score in report.streams}
    assert scores["online"].ari > 0.25
    assert scores["online"].ari > 3 * max(scores["compatible"].ari, 0.01)
    assert scores["online, stability=strict"].changes == 0


def test_the_compatible_way_is_the_one_that_it_is_compatible_with(report: Quality) -> None:
    """Label for label, as an implementation that shares no code with it."""
    assert report.remarks[-1].endswith("in 1 of 1.")
