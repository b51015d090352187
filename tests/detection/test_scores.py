"""The scores that the docs state hold, and the scoring itself is right."""

from collections import Counter

import pytest

from domain.artifacts import Shelf
from domain.detection.findings import Findings, Learned, Noted, Opened, Passage, Resolved
from domain.detection.rules import detect
from tests.benchmarks.detection import main
from tests.detection.score import CATEGORIES, HALVES, Item, compare, items, score


@pytest.mark.parametrize(
    ("half", "precision", "recall"), [("development", 0.99, 0.99), ("held_out", 0.94, 0.75)]
)
def test_the_rules_do_not_get_worse(half: str, precision: float, recall: float) -> None:
    """What was measured when they were finished is the least."""
    total = score(detect, items(half)).total
    assert total.precision >= precision
    assert total.recall >= recall


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("category", ["ambient", "false-friend"])
def test_where_nothing_is_to_be_found_nothing_is_found(half: str, category: str) -> None:
    """A wrong conclusion costs a reader more than a missed one."""
    exact = score(detect, items(half)).exact[category]
    assert all(exact)


def test_every_category_is_in_both_halves() -> None:
    """So that both say something about each."""
    of = {half: items(half) for half in HALVES}
    for labelled in of.values():
        counts = Counter(item.category for item in labelled)
        assert set(counts) == set(CATEGORIES)
        assert min(counts.values()) >= 6
    ids = [item.id for labelled in of.values() for item in labelled]
    assert len(ids) == len(set(ids)) >= 200


def _silent(_: Passage, __: Shelf) -> Findings:
    return Findings()


def test_who_finds_nothing_is_never_wrong_and_misses_all() -> None:
    """Precision 1, recall 0, and right where nothing was to be found."""
    result = score(_silent, items("development"))
    assert (result.total.precision, result.total.recall, result.total.f1) == (1.0, 0.0, 0.0)
    assert all(result.exact["ambient"])
    assert not any(result.exact["conclusion"])


def _item(**expect: object) -> Item:
    return items("development")[0]._replace(expect=dict(expect))


@pytest.mark.parametrize(
    ("expect", "found", "mark"),
    [
        ({"opened": {"words": ["tap"]}}, Findings(opened=Opened(goal="Fix the Tap")), (1, 0, 0)),
        ({"opened": {"words": ["tap"]}}, Findings(opened=Opened(goal="Paint")), (0, 1, 1)),
        (
            {"opened": {"words": [], "parent": 7}},
            Findings(opened=Opened(goal="Paint", parent=8)),
            (0, 1, 1),
        ),
        ({}, Findings(opened=Opened(goal="Paint")), (0, 1, 0)),
        (
            {"resolved": [{"effort": 7, "outcome": "done"}]},
            Findings(resolved=(Resolved(effort=7, resolution="so", outcome="failed"),)),
            (0, 1, 1),
        ),
        (
            {"learned": [{"words": ["blue"]}, {"words": ["red"], "supersedes": 3}]},
            Findings(learned=(Learned(statement="red", supersedes=3), Learned(statement="green"))),
            (1, 1, 1),
        ),
        (
            {"noted": [{"words": ["mom"], "when": "2026-03-11"}]},
            Findings(noted=(Noted(what="call mom", when="2026-03-12"),)),
            (0, 1, 1),
        ),
        ({"reopened": [7, 8]}, Findings(reopened=(8, 9)), (1, 1, 1)),
        ({"effort": None}, Findings(effort=7), (0, 1, 0)),
        ({"effort": 0}, Findings(effort=0), (1, 0, 0)),
        ({}, Findings(effort=7, mentions=(1,)), (0, 0, 0)),
        ({"mentions": [1]}, Findings(), (0, 0, 1)),
    ],
)
def test_a_finding_is_right_only_as_a_whole(
    expect: dict[str, object], found: Findings, mark: tuple[int, int, int]
) -> None:
    """Words, parent, outcome, time and what is superseded: one that differs is wrong and missed."""
    marks = list(compare(_item(**expect), found))
    assert tuple(sum(part) for part in zip(*(m[1:] for m in marks), strict=True)) == mark


def test_the_benchmark_prints_both_halves(capsys: pytest.CaptureFixture[str]) -> None:
    """A table for each, with all types and categories."""
    main([])
    printed = capsys.readouterr().out
    assert "rules, development half: 111 exchanges" in printed
    assert "rules, held-out half: 151 exchanges" in printed
    assert "| **all** |" in printed
