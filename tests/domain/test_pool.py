"""The pool: thoughts come and go, wait for vectors, and have clusters."""

import pytest

from domain.events import Event
from domain.pool import Pool
from tests.domain.happened import (
    asked,
    calibrated,
    clustered,
    configured,
    embedded,
    formed,
    merged,
    split,
    thought,
    with_vector,
)
from tests.spec import given

FIVE = tuple(thought(f"t{n}", **with_vector()) for n in range(2, 7))
"""Thoughts of versions 2 to 6."""


def pool(*events: Event) -> Pool:
    """The pool behind these events."""
    return given(*events).session.pool


def homes(*events: Event) -> list[int | None]:
    """The clusters of the five thoughts, oldest first, behind these events."""
    return [t.cluster for t in pool(*FIVE, *events).active]


TWO = (formed(1, 2, 3), formed(2, 4, 5))
"""Two clusters of two; thought 6 stands alone."""


@pytest.mark.parametrize(
    ("events", "clusters"),
    [
        ((), [None] * 5),
        (TWO, [1, 1, 2, 2, None]),
        ((*TWO, clustered(6, 2)), [1, 1, 2, 2, 2]),
        ((*TWO, clustered(2, 2, "moved", was=1)), [2, 1, 2, 2, None]),
        ((*TWO, clustered(3, None, "dropped", was=1)), [1, None, 2, 2, None]),
        ((*TWO, clustered(2, 1), clustered(2, 1)), [1, 1, 2, 2, None]),
        ((*TWO, merged(1, 2)), [1, 1, 1, 1, None]),
        ((*TWO, merged(2, 1)), [2, 2, 2, 2, None]),
        ((*TWO, merged(1, 2), split(1, 3, 3, 4)), [1, 3, 3, 1, None]),
        ((*TWO, split(2, 3, 4, 5)), [1, 1, 3, 3, None]),
        ((*TWO, calibrated(5)), [1, 1, 2, 2, None]),
        ((formed(7, 1, 6, 99),), [None, None, None, None, 7]),
        ((*TWO, merged(8, 9), clustered(1, 5), clustered(99, 5)), [1, 1, 2, 2, None]),
    ],
    ids=[
        *("none", "formed", "joined", "moved", "dropped", "twice", "merged", "the other way"),
        *("split", "split whole", "measured", "members elsewhere", "unknown ones"),
    ],
)
def test_the_clusters_of_the_pool(events: tuple[Event, ...], clusters: list[int | None]) -> None:
    """They are what was decided last; decisions about thoughts beyond the pool are passed over."""
    assert homes(*events) == clusters


def test_sizes_count_the_pool_alone() -> None:
    """A cluster without a thought in the pool has none; what stands alone is no cluster."""
    assert pool(*FIVE, *TWO, clustered(6, 2)).sizes == {1: 2, 2: 3}
    small = (configured("active_pool_size", 50, 2), *FIVE, formed(1, 3, 4, 7), formed(2, 5))
    assert pool(*small).sizes == {1: 1}
    assert pool().sizes == {}


def test_a_thought_takes_its_cluster_along_when_it_leaves() -> None:
    """First in, first out, whatever they belong to; those who stay keep theirs."""
    left = pool(*FIVE, *TWO, configured("active_pool_size", 50, 3))
    assert [(t.version, t.cluster) for t in left.active] == [(4, 2), (5, 2), (6, None)]
    grown = pool(configured("active_pool_size", 50, 3), *FIVE, formed(1, 5, 6, 7), thought("new"))
    assert [(t.text, t.cluster) for t in grown.active] == [("t5", 1), ("t6", 1), ("new", None)]
    assert grown.total == 6


def test_thoughts_without_a_vector_wait() -> None:
    """Until they are embedded; one that has the vector of another has one."""
    some = (
        thought("a"),
        thought("b", **with_vector()),
        thought("c"),
        thought("b", **with_vector(of=3)),
    )
    assert [t.text for t in pool(*some).waiting] == ["a", "c"]
    assert [t.text for t in pool(*some, embedded(4)).waiting] == ["a"]
    assert pool(*some, embedded(4), embedded(2, of=4)).waiting == ()
    assert [t.embedded for t in pool(*some, embedded(99)).active] == [False, True, False, True]


def test_a_vector_changes_nothing_else_of_a_thought() -> None:
    """Neither its place nor its words nor its cluster."""
    before = pool(thought("a"), thought("b"), formed(1, 2, 3))
    after = pool(thought("a"), thought("b"), formed(1, 2, 3), embedded(2))
    assert after.active[0] == before.active[0]._replace(embedded=True)
    assert after.active[1] == before.active[1]


def test_the_dimension_is_that_of_the_vectors() -> None:
    """None before the first one; a thought that waits does not change it."""
    assert pool(asked(), thought("a")).dimension is None
    assert pool(thought("a", **with_vector(1.0, 0.0, 0.0))).dimension == 3
    assert pool(thought("a", **with_vector(1.0, 0.0, 0.0)), thought("b")).dimension == 3
    assert pool(thought("a"), embedded(2, 0.0, 1.0)).dimension == 2
    small = (configured("active_pool_size", 50, 1), thought("a"), thought("b"))
    assert pool(*small, embedded(3)).dimension == 2


def test_another_embedder_begins_again() -> None:
    """Vectors of two models can't be compared: all wait, stand alone, and have no dimension yet."""
    changed = pool(*FIVE, *TWO, configured("embedding_model", "local", "openai:other"))
    assert changed.waiting == changed.active
    assert [t.text for t in changed.active] == ["t2", "t3", "t4", "t5", "t6"]
    assert (changed.sizes, changed.dimension, changed.total) == ({}, None, 5)
    again = pool(
        *(*FIVE, *TWO, configured("embedding_model", "local", "openai:other")),
        *(embedded(6, 0.0, 0.0, 1.0), formed(3, 6)),
    )
    assert [t.version for t in again.waiting] == [2, 3, 4, 5]
    assert (again.sizes, again.dimension) == ({3: 1}, 3)


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        ("clustering", "online", "off"),
        ("embedding_precision", "float16", "float32"),
        ("granularity", 1.5, 2.5),
        ("token_limit", 4000, 99),
    ],
)
def test_other_settings_leave_clusters_alone(key: str, old: object, new: object) -> None:
    """What was decided stays decided."""
    assert pool(*FIVE, *TWO, configured(key, old, new)) == pool(*FIVE, *TWO)
