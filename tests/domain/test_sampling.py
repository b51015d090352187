"""What a mind is shown of its pool: uniform samples within a budget, and what they call back."""

from collections import Counter
from random import Random

from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from domain.pool import Pool, Thought
from domain.protocol.view import Limit
from domain.sampling import SPARSE, Memory, Sample, sample

lengths = st.lists(st.integers(min_value=0, max_value=60), max_size=50)
limits = st.builds(Limit, st.integers(0, 300), st.integers(0, 20))
seeds = st.integers(min_value=0, max_value=2**32 - 1)
clusters = st.none() | st.integers(min_value=1, max_value=9)
sizes_and_clusters = st.lists(st.tuples(st.integers(0, 60), clusters), max_size=50)
OLD = 1000
"""So many thoughts have left the pool: theirs are the versions below that."""
pasts = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=40)


def pool_of(sizes: list[int], homes: list[int | None] | None = None) -> Pool:
    """Thoughts of these lengths, in these clusters."""
    places = homes or [None] * len(sizes)
    return Pool(
        tuple(
            Thought(OLD + n, "x" * size, 1, "m", "mind", embedded=True, cluster=home)
            for n, (size, home) in enumerate(zip(sizes, places, strict=True), 1)
        ),
        len(sizes),
    )


def versions(drawn: Sample) -> list[int]:
    """What was drawn, in order, counted from the oldest of the pool."""
    return [thought.version - OLD for thought in drawn.thoughts]


class Past:
    """Thoughts that have left the pool, and a note of who was asked for."""

    def __init__(self, thoughts: list[tuple[int, int]]) -> None:
        self.thoughts = {
            version: Thought(version, "o" * size, 1, "m", "mind")
            for version, (size, _) in enumerate(thoughts, 1)
        }
        self.members: dict[int, list[int]] = {}
        for version, (_, cluster) in enumerate(thoughts, 1):
            self.members.setdefault(cluster, []).append(version)
        self.asked: list[int] = []

    def older(self, cluster: int) -> list[int]:
        """The members of a cluster that have left the pool."""
        self.asked.append(cluster)
        return self.members.get(cluster, [])

    @property
    def memory(self) -> Memory:
        """As a sample takes it."""
        return Memory(self.older, self.thoughts.__getitem__)


@for_all(lengths, limits, seeds)
@settings(deadline=None, max_examples=200)
def test_a_sample_stays_within_its_budget(sizes: list[int], limit: Limit, seed: int) -> None:
    """Of items and of characters; without replacement; and no thought that still fits is left."""
    pool = pool_of(sizes)
    drawn, recalled = sample(pool, limit, seed)
    used = sum(len(t.text) for t in drawn)
    assert len(drawn) <= limit.count
    assert used <= limit.chars
    assert len({t.version for t in drawn}) == len(drawn)
    assert set(drawn) <= set(pool.active)
    assert recalled == ()
    if len(drawn) < limit.count:
        left = [t for t in pool.active if t not in drawn]
        assert all(len(t.text) > limit.chars - used for t in left)


@for_all(lengths, limits, seeds)
@settings(deadline=None, max_examples=50)
def test_a_seed_makes_a_sample_repeatable(sizes: list[int], limit: Limit, seed: int) -> None:
    """The same pool, limit and seed draw the same thoughts in the same order."""
    assert sample(pool_of(sizes), limit, seed) == sample(pool_of(sizes), limit, seed)


def test_a_sample_is_the_same_on_every_machine() -> None:
    """The log holds seeds for ever: this draw must never change."""
    assert versions(sample(pool_of([10] * 12), Limit(1000, 5), seed=42)) == [8, 6, 3, 9, 10]


def test_a_long_thought_is_passed_over() -> None:
    """It does not silence the short ones that come after it, whatever the order."""
    pool = pool_of([5000, 10, 10, 10])
    for seed in range(50):
        assert sorted(versions(sample(pool, Limit(100, 10), seed))) == [2, 3, 4]


def test_thoughts_are_drawn_uniformly() -> None:
    """Each of 20 is drawn in a quarter of the samples of 5, and each is first equally often."""
    pool, rounds = pool_of([10] * 20), 8000
    samples = [versions(sample(pool, Limit(1000, 5), seed)) for seed in range(rounds)]
    drawn = Counter(v for one in samples for v in one)
    first = Counter(one[0] for one in samples)
    # five standard deviations of a binomial: 39 and 19.5
    assert all(abs(drawn[v] - rounds / 4) < 5 * 39 for v in range(1, 21))
    assert all(abs(first[v] - rounds / 20) < 5 * 19.5 for v in range(1, 21))


def test_nothing_to_draw() -> None:
    """An empty pool or an empty budget is an empty sample."""
    assert sample(Pool(), Limit(1000, 5), 1) == Sample(())
    assert sample(pool_of([10]), Limit(9, 5), 1) == Sample(())
    assert sample(pool_of([10]), Limit(1000, 0), 1) == Sample(())


# calling back


@for_all(sizes_and_clusters, pasts, limits, seeds)
@settings(deadline=None, max_examples=300)
def test_what_is_called_back_takes_from_the_same_budget(
    thoughts: list[tuple[int, int | None]],
    past: list[tuple[int, int]],
    limit: Limit,
    seed: int,
) -> None:
    """Only for sparse clusters, once for each, from beyond the pool, and with its true chance."""
    pool = pool_of([size for size, _ in thoughts], [home for _, home in thoughts])
    beyond = Past(past)
    drawn, recalled = sample(pool, limit, seed, beyond.memory)
    assert len(drawn) <= limit.count
    assert sum(len(t.text) for t in drawn) <= limit.chars
    assert len({t.version for t in drawn}) == len(drawn)
    active = {t.version: t for t in pool.active}
    assert {r.thought.version for r in recalled} == {t.version for t in drawn} - set(active)
    callers = [active[r.caller] for r in recalled]
    homes = [caller.cluster for caller in callers]
    assert None not in homes
    assert len(set(homes)) == len(homes)
    for caller, (thought, _, chance) in zip(callers, recalled, strict=True):
        assert caller.cluster is not None
        older = beyond.members[caller.cluster]
        assert pool.sizes[caller.cluster] <= SPARSE
        assert thought == beyond.thoughts[thought.version]
        assert thought.version in older
        assert chance == 1 / len(older)
        assert drawn.index(thought) == drawn.index(caller) + 1
    assert all(pool.sizes[cluster] <= SPARSE for cluster in beyond.asked)
    assert len(set(beyond.asked)) == len(beyond.asked)


@for_all(sizes_and_clusters, pasts, limits, seeds, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=100)
def test_a_seed_makes_what_is_called_back_repeatable(
    thoughts: list[tuple[int, int | None]],
    past: list[tuple[int, int]],
    limit: Limit,
    seed: int,
    dice: Random,
) -> None:
    """Whatever the order in which the memory gives the members of a cluster."""
    pool = pool_of([size for size, _ in thoughts], [home for _, home in thoughts])
    once, again = Past(past), Past(past)
    for members in again.members.values():
        dice.shuffle(members)
    assert sample(pool, limit, seed, once.memory) == sample(pool, limit, seed, again.memory)


@for_all(sizes_and_clusters, limits, seeds)
@settings(deadline=None, max_examples=100)
def test_without_a_past_the_policy_changes_nothing(
    thoughts: list[tuple[int, int | None]], limit: Limit, seed: int
) -> None:
    """The draw is the uniform one until something has left the pool."""
    pool = pool_of([size for size, _ in thoughts], [home for _, home in thoughts])
    assert sample(pool, limit, seed, Past([]).memory) == sample(pool, limit, seed)


def test_what_is_called_back_is_the_same_on_every_machine() -> None:
    """The log holds seeds for ever: this draw must never change."""
    pool = pool_of([10] * 12, [1, 1, 1, 2, 2, 3, None, 4, None, 4, 5, 6])
    past = Past([(10, 1 + n % 6) for n in range(30)])
    drawn = sample(pool, Limit(1000, 8), 42, past.memory)
    assert versions(drawn) == [8, -996, 6, -997, 3, 9, 10, 7]
    assert [(r.thought.version, r.caller - OLD, r.chance) for r in drawn.recalled] == [
        (4, 8, 0.2),
        (3, 6, 0.2),
    ]


def test_each_older_thought_is_called_back_equally_often() -> None:
    """One of ten comes in a tenth of the samples."""
    pool, rounds = pool_of([10, 10], [1, 1]), 8000
    past = Past([(10, 1)] * 10)
    samples = [sample(pool, Limit(1000, 3), seed, past.memory) for seed in range(rounds)]
    back = Counter(one.recalled[0].thought.version for one in samples)
    assert back.total() == rounds
    # five standard deviations of a binomial: 26.8
    assert all(abs(back[v] - rounds / 10) < 5 * 26.8 for v in range(1, 11))


def test_a_crowded_cluster_calls_nobody_back() -> None:
    """Three thoughts of it in the pool speak for themselves; two or one may call."""
    past = Past([(10, 1)])
    for present, called in ((1, 1), (2, 1), (3, 0)):
        pool = pool_of([10] * present, [1] * present)
        assert len(sample(pool, Limit(1000, 9), 1, past.memory).recalled) == called


def test_there_is_no_room_for_what_is_called_back() -> None:
    """Neither the last place nor the last characters are exceeded."""
    past = Past([(50, 1)])
    pool = pool_of([10, 10], [1, None])
    for seed in range(20):
        for limit in (Limit(1000, 1), Limit(59, 9)):
            drawn = sample(pool, limit, seed, past.memory)
            assert drawn == sample(pool, limit, seed)
