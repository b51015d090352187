"""Many who ask one thing after the other: as many rounds as the longest, nothing asked twice."""

from collections.abc import Sequence

import pytest

from domain.rounds import Asking, together


def _sum(*numbers: int) -> Asking[int, int, int]:
    """Ask for the square of each number; what they are together."""
    total = 0
    for number in numbers:
        total += yield number
    return total


class Squares:
    """Answers, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        """The square of each."""
        self.asked.append(list(numbers))
        return [number**2 for number in numbers]


def test_all_are_answered_together() -> None:
    """Whatever each asks, in whichever order: what comes of it is in the order of those who ask."""
    squares = Squares()
    told = together([_sum(1, 2, 3), _sum(), _sum(3, 1, 2, 2), _sum(5)], squares)
    assert told == [14, 0, 18, 25]
    assert squares.asked == [[1, 3, 5], [2]]


def test_nobody_asks() -> None:
    """Where nobody has a question, none is put."""
    squares = Squares()
    assert together([_sum(), _sum()], squares) == [0, 0]
    assert together([], squares) == []
    assert squares.asked == []


def test_what_an_answer_raises() -> None:
    """It is raised by whoever asked for all of them."""

    def refuse(_numbers: Sequence[int]) -> list[int]:
        raise LookupError

    with pytest.raises(LookupError):
        together([_sum(1)], refuse)
