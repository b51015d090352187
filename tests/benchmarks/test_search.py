"""The benchmark of search runs, and says what it is for."""

import pytest

from tests.benchmarks.search import Score, _score, quality, tables
from tests.benchmarks.search_data import WAYS, others, questions, wanted


def test_the_labels_are_whole() -> None:
    """Enough questions, in every wording, each with a message of its own among different others."""
    asked = questions()
    assert len(asked) >= 60
    assert {one.way for one in asked} == set(WAYS)
    assert {one.wanted for one in asked} == set(range(len(wanted())))
    assert len(set(others(500)) - set(wanted())) == 500


def test_scores_are_what_they_say() -> None:
    """A first, a seventh and a missing one."""
    one = questions()[0]
    score = _score("both", "all", [(one, 1), (one, 7), (one, None)])
    assert score == Score("both", "all", 3, 1 / 3, 2 / 3, pytest.approx((1 + 1 / 7) / 3))
    assert "| both | all (3) | 0.33 | 0.67 | 0.38 |" in tables([score], [], [])


@pytest.mark.slow
def test_both_find_more_than_each_alone() -> None:
    """Among a few hundred messages, with the local embedder."""
    pytest.importorskip("onnxruntime")
    all_ = {score.how: score for score in quality(300) if score.way == "all"}
    assert all_["both"].recall_10 >= max(all_["words"].recall_10, 0.85)
    assert all_["both"].mrr > max(all_["words"].mrr, all_["meaning"].mrr) - 0.02
