"""What an agent may use up, and whether it goes round in circles."""

import pytest

from domain.limits import Limits, Spent, used_up
from domain.loops import END, WARN, WINDOW, Circle, circle


@pytest.mark.parametrize(
    ("limits", "reason", "sentence"),
    [
        (Limits(budget_usd=0.5), "budget", "Its budget of $0.5 is used up ($0.5000)."),
        (Limits(tokens=1000), "budget", "Its 1,000 tokens are used up (1,000)."),
        (Limits(turns=4), "budget", "Its 4 calls of the model are used up."),
        (Limits(seconds=60), "time", "Its 60 seconds are over."),
    ],
)
def test_a_bound_is_reached_exactly_there(limits: Limits, reason: str, sentence: str) -> None:
    """And not a bit before."""
    spent = Spent(0.5, 1000, 4, 60.0)
    assert used_up(limits, spent) == (reason, sentence)
    assert used_up(limits, Spent(0.4999, 999, 3, 59.9)) is None


def test_without_bounds_nothing_is_used_up() -> None:
    """Nor by waiting, which is bounded within a turn alone."""
    assert used_up(Limits(idle_seconds=1.0), Spent(1e6, 10**9, 10**6, 1e6)) is None


def test_the_tighter_bound_holds() -> None:
    """Whichever side says it; a bound of one side alone holds too."""
    mine = Limits(budget_usd=1.0, tokens=500, seconds=None)
    other = Limits(budget_usd=2.0, tokens=100, seconds=30.0)
    tight = Limits(budget_usd=1.0, tokens=100, seconds=30.0)
    assert mine.narrowed(other) == other.narrowed(mine) == tight


@pytest.mark.parametrize("bound", [{"budget_usd": 0}, {"tokens": -1}, {"turns": 0}, {"hours": 1}])
def test_no_bound_is_absurd(bound: dict[str, float]) -> None:
    """Nothing can be done within less than something."""
    with pytest.raises(ValueError, match="validation error"):
        Limits.model_validate(bound)


# going in circles


def test_the_third_time_warns_and_the_fifth_ends() -> None:
    """The fourth says nothing: the warning was heard."""
    told = [circle(["look {}"] * times) for times in range(7)]
    assert told == [
        *(None, None, None),
        Circle("look {}", WARN, "warn"),
        None,
        Circle("look {}", END, "end"),
        Circle("look {}", 6, "end"),
    ]


def test_other_calls_in_between_do_not_help() -> None:
    """Within the newest calls; what is older is forgotten."""
    assert circle(["a", "b", "a", "c", "a"]) == Circle("a", 3, "warn")
    assert circle(["a", "b", "a", "c", "b"]) is None
    assert circle(["a", "a", *"bcdefghij", "a"]) is None
    assert len("bcdefghij") + 1 == WINDOW
