"""The partition as a fold: bit for bit what the history says, and nothing but that."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.clustering import partition as partitions
from domain.clustering.fold import fold_into
from domain.clustering.partition import Partition
from domain.clustering.rules import Rules
from domain.clustering.vectors import Shelf, Stored
from domain.events import (
    ClusterFormed,
    ClusteringCalibrated,
    ClusterMerged,
    ClusterSplit,
    Event,
    ThoughtAdded,
    ThoughtClustered,
)
from tests.domain.clustering.streams import (
    WORDLESS,
    Stream,
    another_model,
    bits,
    check,
    dump,
    late,
    recorded,
    shelf_of,
    thought,
    topics,
    vector,
)

AXES = [vector([int(n == axis) for n in range(4)]) for axis in range(4)]


def formed(cluster: int, *members: int) -> ClusterFormed:
    """Some thoughts made a cluster."""
    return ClusterFormed(cluster=cluster, members=members, how="linkage", similarity=0.5)


def clustered(version: int, cluster: int | None, how: Any = "joined") -> ThoughtClustered:
    """A thought came to a cluster, or left it."""
    return ThoughtClustered(thought=version, cluster=cluster, how=how, similarity=0.5)


def merged(cluster: int, absorbed: int) -> ClusterMerged:
    """Two clusters became one."""
    return ClusterMerged(cluster=cluster, absorbed=absorbed, similarity=0.5)


def split(cluster: int, into: int, *members: int) -> ClusterSplit:
    """One cluster became two."""
    return ClusterSplit(cluster=cluster, into=into, members=members, similarity=0.5)


def calibrated(count: int) -> ClusteringCalibrated:
    """The space was measured."""
    return ClusteringCalibrated(count=count, scale=0.75, deviation=0.25)


def happened(*events: Event) -> Stream:
    """A stream to which these events have happened."""
    stream = Stream()
    stream.happens(*events)
    return stream


def thoughts(many: int) -> list[ThoughtAdded]:
    """Thoughts with different vectors."""
    return [thought(stored) for stored in topics(many)]


# by hand


def test_a_thought_stands_alone_until_something_is_decided() -> None:
    """And one without a vector is nowhere."""
    stream = happened(*thoughts(2), WORDLESS)
    check(stream)
    assert stream.labels == [None, None, None]
    assert stream.partition.count == 2


def test_a_cluster_s_life() -> None:
    """Formed, joined, left, split, merged: at each step what it says in the log, to the bit."""
    stream = happened(*thoughts(12))
    for event in (
        calibrated(12),
        formed(1, 1, 2, 3, 4, 5, 6),
        clustered(7, 1),
        formed(2, 8, 9, 10),
        clustered(1, 2, "moved"),
        clustered(2, None, "dropped"),
        split(1, 3, 4, 5),
        merged(2, 3),
        calibrated(12),
        clustered(4, 1, "moved"),
        clustered(11, 2, "reached"),
        merged(1, 2),
        split(1, 4, 7, 8, 11),
    ):
        stream.happens(event)
        check(stream)
    assert stream.labels == [1, None, 1, 1, 1, 1, 4, 4, 1, 1, 4, None]
    assert dump(stream.again()) == dump(stream.partition)


def test_a_merged_id_is_history() -> None:
    """Whoever was in it is found under the one that goes on, through any number of merges."""
    stream = happened(*thoughts(12), *(formed(n + 1, 2 * n + 1, 2 * n + 2) for n in range(6)))
    for cluster, absorbed in ((2, 1), (3, 2), (4, 3), (5, 4), (6, 5)):
        stream.happens(merged(cluster, absorbed))
        check(stream)
        assert stream.labels[0] == cluster
    assert set(stream.labels) == {6}
    assert [stream.partition.living(n) for n in range(1, 7)] == [6] * 6
    assert list(stream.partition.clusters) == [6]
    assert stream.partition.next_id == 7


def test_looking_shortens_the_way_and_changes_nothing() -> None:
    """Labels are the same before and after; a trial that merges on is taken back as well."""
    stream = happened(*thoughts(10), *(formed(n + 1, 2 * n + 1, 2 * n + 2) for n in range(5)))
    stream.happens(*(merged(n + 1, n) for n in range(1, 4)))
    with stream.partition.trial():
        stream.partition.apply(merged(5, 4))
        assert [stream.partition.label(v) for v in range(1, 11)] == [5] * 10
    check(stream)
    assert stream.labels == [4] * 8 + [5] * 2
    stream.happens(merged(5, 4))
    check(stream)


def test_a_vector_that_comes_late() -> None:
    """Long after its thought; another thought of the same text names it."""
    first, second = topics(2)
    same = ThoughtAdded(
        text="x", iteration=1, mind="m", embedding_of=1, embedding_model="m", dimension=16
    )
    stream = happened(WORDLESS, thought(second), late(1, first), same)
    check(stream)
    before = dump(stream.partition)
    stream.happens(late(1, second))  # two processes caught up at once: the first one counts
    assert dump(stream.partition) == before
    check(stream)
    assert stream.partition.versions == [2, 1, 4]
    assert (stream.partition.vectors([1]) == stream.partition.vectors([4])).all()
    stream.happens(formed(1, 1, 2, 4))
    check(stream)


def test_a_vector_that_came_late_is_found_long_after() -> None:
    """When newer ones have pushed out what can be looked up by its thought."""
    first, second, third = topics(3, seed=5)
    stream = happened(WORDLESS, WORDLESS, WORDLESS, late(2, second), late(1, first), late(3, third))
    stream.happens(*thoughts(120), formed(1, 1, 2, 3))
    check(stream)
    assert dump(stream.again()) == dump(stream.partition)
    stream.lives(topics(10), each=5)
    check(stream)


def test_another_model_begins_anew() -> None:
    """No label, no calibration, another width; but the ids go on."""
    stream = happened(*thoughts(4), calibrated(4), formed(1, 1, 2, 3), another_model())
    check(stream)
    assert stream.labels == [None] * 4
    assert (stream.partition.count, stream.partition.calibration) == (0, None)
    assert stream.partition.next_id == 2
    stream.happens(late(1, AXES[0]), late(4, AXES[1]), formed(2, 1, 4))
    check(stream)
    assert stream.labels == [2, None, None, 2]
    assert dump(stream.again()) == dump(stream.partition)


def test_another_setting_changes_nothing() -> None:
    """Only the model does."""
    stream = happened(*thoughts(4), formed(1, 1, 2, 3))
    before = dump(stream.partition)
    stream.happens(another_model().model_copy(update={"key": "granularity"}))
    assert dump(stream.partition) == before


def test_what_a_restart_would_leave() -> None:
    """The successor stands beside, knows the ids, and decides what a restarted one decides."""
    stream = Stream().lives(topics(60))
    before = dump(stream.partition)
    after = stream.partition.successor()
    again = topics(40, seed=9, width=5)
    told = stream.decides(*again, partition=after)
    assert dump(stream.partition) == before
    stream.partition.restart()
    assert dump(stream.partition) == dump(after)
    assert stream.decides(*again) == told
    assert {e.cluster for e in told if isinstance(e, ClusterFormed)} == {before["next"]} | {
        e.cluster for e in told if isinstance(e, ClusterFormed)
    }
    assert min(e.cluster for e in told if isinstance(e, ClusterFormed)) == before["next"]


@pytest.mark.parametrize(
    "bad",
    [AXES[0], Stored(b"xxx", 16), Stored(b"", 0), Stored(b"\x00\x7c" * 16, 16)],
    ids=["other width", "wrong size", "nothing", "infinite"],
)
def test_what_is_no_vector_of_this_space_is_refused(bad: Stored) -> None:
    """With the partition as it was."""
    stream = happened(*thoughts(3), calibrated(3))
    before = dump(stream.partition)
    with pytest.raises(ValueError, match=r"vector"):
        stream.partition.add(9, bad)
    assert dump(stream.partition) == before


# the window


def test_the_window_forgets_the_oldest_that_stand_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those in clusters don't count, and a trial brings the forgotten ones back."""
    monkeypatch.setattr(partitions, "WINDOW", 5)
    stream = happened(*thoughts(5), formed(1, 2, 3))
    check(stream, window=5)
    for stored in topics(6, seed=2):
        before = dump(stream.partition)
        with stream.partition.trial():
            for version in range(100, 108):
                stream.partition.add(version, stored)
            assert sorted(map(int, stream.partition.alone.keys)) == list(range(103, 108))  # type: ignore[union-attr]
        assert dump(stream.partition) == before
        stream.happens(thought(stored))
        check(stream, window=5)
    assert dump(stream.again()) == dump(stream.partition)
    assert stream.labels[:3] == [None, 1, 1]
    assert set(map(int, stream.partition.alone.keys)) == set(stream.thoughts[-5:])  # type: ignore[union-attr]


def test_a_late_vector_older_than_the_window_is_forgotten_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The newest thoughts find company, not those that got their vectors last."""
    monkeypatch.setattr(partitions, "WINDOW", 3)
    stream = happened(WORDLESS, *thoughts(3), late(1, topics(1, seed=8)[0]))
    check(stream, window=3)
    assert set(map(int, stream.partition.alone.keys)) == {2, 3, 4}  # type: ignore[union-attr]


def test_a_small_window_decides_as_its_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole stream behind a window of ten, with trials at every step."""
    monkeypatch.setattr(partitions, "WINDOW", 10)
    stream = Stream()
    for start in range(0, 120, 5):
        new = topics(120, kinds=12, noise=150)[start : start + 5]
        before = dump(stream.partition)
        told = stream.decides(*new)
        assert dump(stream.partition) == before or stream.partition.count == 0
        assert stream.decides(*new, partition=stream.again()) == told
        stream.happens(*(thought(stored) for stored in new), *told)
        assert dump(stream.again()) == dump(stream.partition)
    assert len(stream.partition.clusters) > 2


# as hypothesis plays


class Chaos:
    """Any history that the rules of the log allow, whether an algorithm would decide so or not."""

    def __init__(self, data: Any) -> None:
        self.draw = data.draw
        self.stream = Stream()
        self.waiting: list[int] = []

    def event(self) -> Event:
        """Something that may happen next."""
        stream, clusters = self.stream, self.stream.partition.clusters
        alone = [v for v in stream.partition.versions if stream.partition.label(v) is None]
        homed = [v for v in stream.partition.versions if stream.partition.label(v) is not None]
        ways = ["thought", "thought", "thought", "waits", "calibrated", "setting"]
        ways += ["formed"] * (len(alone) > 1) + ["late"] * bool(self.waiting)
        ways += ["joined", "joined"] * bool(alone and clusters)
        ways += ["dropped", "moved"] * any(c.size > 1 for c in clusters.values())
        ways += ["merged"] * (len(clusters) > 1)
        ways += ["split", "split"] * any(c.size > 2 for c in clusters.values())
        way = self.draw(st.sampled_from(ways))
        some = sorted(c for c in clusters if clusters[c].size > 1)
        if way == "thought":
            return thought(self.vector())
        if way == "late":
            version = self.waiting.pop(self.draw(st.integers(0, len(self.waiting) - 1)))
            return late(version, self.vector())
        if way == "formed":
            return formed(stream.partition.next_id, *self.several(alone, len(alone)))
        if way == "joined":
            return clustered(self.one(alone), self.one(sorted(clusters)))
        if way in {"dropped", "moved"}:
            version = self.one(
                [v for v in homed if clusters[stream.partition.label(v) or 0].size > 1]
            )
            others = [c for c in sorted(clusters) if c != stream.partition.label(version)]
            target = self.one(others) if way == "moved" and others else None
            return clustered(version, target, "moved" if target else "dropped")
        if way == "merged":
            keeps = self.one(sorted(clusters))
            return merged(keeps, self.one([c for c in sorted(clusters) if c != keeps]))
        if way == "split":
            cluster = self.one([c for c in some if clusters[c].size > 2])
            members = sorted(clusters[cluster].members)
            part = self.several(members, len(members) - 1)
            return split(cluster, stream.partition.next_id, *part)
        if way == "setting":
            return another_model(str(len(stream.history)))
        if way == "waits":
            self.waiting.append(stream.upcoming)
            return WORDLESS
        return calibrated(stream.partition.count)

    def vector(self) -> Stored:
        """One of few vectors, so that equal ones meet."""
        numbers = self.draw(st.lists(st.integers(-2, 2), min_size=3, max_size=3).filter(any))
        return vector(numbers, self.draw(st.sampled_from("ef")))

    def one(self, of: list[int]) -> int:
        """Any of these."""
        return int(self.draw(st.sampled_from(of)))

    def several(self, of: list[int], most: int) -> list[int]:
        """At least two of these, oldest first."""
        chosen = st.lists(st.sampled_from(of), min_size=2, max_size=max(most, 2), unique=True)
        return sorted(self.draw(chosen))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_history_folds_to_what_it_says(data: Any) -> None:
    """And to the same bits again; whatever is tried in between leaves no trace."""
    chaos = Chaos(data)
    stream = chaos.stream
    for _ in range(data.draw(st.integers(1, 25))):
        event = chaos.event()
        if stream.partition.count:
            before = dump(stream.partition)
            with stream.partition.trial():
                tried(stream.partition, event)
            assert dump(stream.partition) == before
        stream.happens(event)
        check(stream)
    assert dump(stream.again()) == dump(stream.partition)


def test_thoughts_that_cancel_each_other_out_have_no_direction() -> None:
    """Their cluster is there, and nothing is ever near to it; one more thought gives it one."""
    stream = happened(thought(vector([1, 0, 1], "e")), thought(vector([-1, 0, -1], "e")))
    stream.happens(formed(1, *stream.thoughts))
    check(stream)
    assert stream.partition.centroids is not None
    assert len(stream.partition.centroids) == 0
    stream.happens(thought(vector([0, 1, 0], "e")))
    stream.happens(clustered(stream.thoughts[-1], 1))
    check(stream)
    assert len(stream.partition.centroids) == 1


def tried(partition: Partition, event: Event) -> None:
    """The event, and some thoughts around it, as a decision would try them."""
    if not isinstance(event, partitions.ClusterEvent):
        return
    partition.add(1001, AXES3[0])
    partition.apply(event)
    partition.add(1002, AXES3[1])
    if partition.clusters:
        partition.apply(clustered(1002, min(partition.clusters)))
    partition.apply(calibrated(1))
    partition.apply(formed(partition.next_id, 1001))


AXES3 = [vector([1, 0, 0]), vector([0, 1, 1])]


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_the_order_of_thoughts_does_not_matter_to_sums(data: Any) -> None:
    """Thoughts that get their vectors in another order make the same sums, to the bit."""
    chosen = data.draw(st.lists(st.integers(0, 39), min_size=2, max_size=20, unique=True))
    vectors = [topics(40)[n] for n in chosen]
    order = data.draw(st.permutations(list(range(len(chosen)))))
    waits = [WORDLESS] * len(chosen)
    groups = [formed(1, *range(1, len(chosen) // 2 + 1)), calibrated(len(chosen))]
    one = happened(*waits, *(late(n + 1, v) for n, v in enumerate(vectors)), *groups)
    other = happened(*waits, *(late(n + 1, vectors[n]) for n in order), *reversed(groups))
    assert bits(one.partition) == bits(other.partition)
    assert dump(one.partition) | {"versions": ()} == dump(other.partition) | {"versions": ()}


def test_a_trial_is_taken_back_when_it_breaks() -> None:
    """Even by an interruption in the middle."""
    stream = happened(*thoughts(6), calibrated(6), formed(1, 1, 2, 3))
    before = dump(stream.partition)
    with pytest.raises(KeyboardInterrupt):
        breaks_off(stream.partition)
    assert dump(stream.partition) == before
    check(stream)


def breaks_off(partition: Partition) -> None:
    """The user interrupts a decision that has already changed something."""
    with partition.trial():
        partition.add(50, topics(1)[0])
        partition.apply(clustered(50, 1))
        partition.apply(split(1, 2, 1, 50))
        raise KeyboardInterrupt


def test_a_trial_on_nothing_leaves_nothing() -> None:
    """Not even the width of vectors that never came: the next ones may have another."""
    partition = Partition(Shelf(lambda _: ()))
    before = dump(partition)
    with partition.trial():
        partition.add(1, AXES[0])
    assert dump(partition) == before
    partition.add(1, AXES3[0])
    assert partition.count == 1


def test_much_that_has_happened_folds_page_by_page() -> None:
    """In pieces of any size the same as at once."""
    stream = Stream(Rules()).lives(topics(90, kinds=12, noise=200))
    for size in (1, 7, 50):
        partition = Partition(shelf_of(stream.history))
        for start in range(0, len(stream.history), size):
            fold_into(partition, stream.history[start : start + size])
        assert dump(partition) == dump(stream.partition)


def test_other_events_are_passed_over() -> None:
    """A fold is given whatever there is."""
    stream = Stream().lives(topics(30))
    label = recorded([another_model().model_copy(update={"key": "granularity"})])
    before = dump(stream.partition)
    fold_into(stream.partition, label)
    assert dump(stream.partition) == before
    with pytest.raises(ValueError, match="without a vector"):
        fold_into(
            stream.partition, recorded([late(1, AXES[0]).model_copy(update={"embedding": None})])
        )
