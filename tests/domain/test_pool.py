"""Samples of the pool: within their budget, repeatable, and fair."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.pool import Pool, Thought, sample
from domain.protocol.view import Limit

lengths = st.lists(st.integers(min_value=0, max_value=60), max_size=50)
limits = st.builds(Limit, st.integers(0, 300), st.integers(0, 20))
seeds = st.integers(min_value=0, max_value=2**32 - 1)


def pool_of(sizes: list[int]) -> Pool:
    """Thoughts of these lengths."""
    return Pool(
        tuple(Thought(n, "x" * size, 1, "m", "mind") for n, size in enumerate(sizes, 1)),
        len(sizes),
    )


@given(lengths, limits, seeds)
@settings(deadline=None, derandomize=True, max_examples=200)
def test_a_sample_stays_within_its_budget(sizes: list[int], limit: Limit, seed: int) -> None:
    """Of items and of characters; without replacement; and no thought that still fits is left."""
    pool = pool_of(sizes)
    drawn = sample(pool, limit, seed)
    used = sum(len(t.text) for t in drawn)
    assert len(drawn) <= limit.count
    assert used <= limit.chars
    assert len({t.version for t in drawn}) == len(drawn)
    assert set(drawn) <= set(pool.active)
    if len(drawn) < limit.count:
        left = [t for t in pool.active if t not in drawn]
        assert all(len(t.text) > limit.chars - used for t in left)


@given(lengths, limits, seeds)
@settings(deadline=None, derandomize=True, max_examples=50)
def test_a_seed_makes_a_sample_repeatable(sizes: list[int], limit: Limit, seed: int) -> None:
    """The same pool, limit and seed draw the same thoughts in the same order."""
    assert sample(pool_of(sizes), limit, seed) == sample(pool_of(sizes), limit, seed)


def test_a_sample_is_the_same_on_every_machine() -> None:
    """The log holds seeds for ever: this draw must never change."""
    drawn = sample(pool_of([10] * 12), Limit(1000, 5), seed=42)
    assert [t.version for t in drawn] == [8, 6, 3, 9, 10]


def test_a_long_thought_is_passed_over() -> None:
    """It does not silence the short ones that come after it, whatever the order."""
    pool = pool_of([5000, 10, 10, 10])
    for seed in range(50):
        assert sorted(t.version for t in sample(pool, Limit(100, 10), seed)) == [2, 3, 4]


def test_thoughts_are_drawn_uniformly() -> None:
    """Each of 20 is drawn in a quarter of the samples of 5, and each is first equally often."""
    pool, rounds = pool_of([10] * 20), 8000
    samples = [sample(pool, Limit(1000, 5), seed) for seed in range(rounds)]
    drawn = Counter(t.version for one in samples for t in one)
    first = Counter(one[0].version for one in samples)
    # five standard deviations of a binomial: 39 and 19.5
    assert all(abs(drawn[v] - rounds / 4) < 5 * 39 for v in range(1, 21))
    assert all(abs(first[v] - rounds / 20) < 5 * 19.5 for v in range(1, 21))


def test_nothing_to_draw() -> None:
    """An empty pool or an empty budget is an empty sample."""
    assert sample(Pool(), Limit(1000, 5), 1) == ()
    assert sample(pool_of([10]), Limit(9, 5), 1) == ()
    assert sample(pool_of([10]), Limit(1000, 0), 1) == ()
