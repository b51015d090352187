"""What is decided about thoughts as they come: the same by every fold, and nothing on the sly."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.clustering.calibration import ALIKE
from domain.clustering.decide import decide
from domain.clustering.online import FOUNDING, MOST_COMMON, levels
from domain.clustering.partition import ClusterEvent
from domain.clustering.refining import RELUCTANCE
from domain.clustering.rules import Rules
from domain.clustering.vectors import Arrival, Shelf, Stored, unpacked
from domain.config import Config
from domain.events import (
    ClusterFormed,
    ClusteringCalibrated,
    ClusterMerged,
    ClusterSplit,
    ThoughtClustered,
)
from tests.domain.clustering.streams import (
    Naive,
    Stream,
    check,
    dice,
    digest,
    dump,
    thought,
    topics,
    vector,
)

STREAMS: dict[str, dict[str, Any]] = {
    "clear": {"kinds": 8, "noise": 60},
    "blurred": {"kinds": 12, "noise": 300, "seed": 2},
    "many": {"kinds": 20, "noise": 200, "width": 24},
}
RULES = {
    "as it is": Rules(),
    "strict": Rules(strict=True),
    "fine": Rules(granularity=2.5, min_cluster_size=2),
    "coarse": Rules(granularity=0.5, min_cluster_size=5),
}


def told(events: Sequence[ClusterEvent]) -> Counter[str]:
    """What was decided, by kind."""
    return Counter(e.how if isinstance(e, ThoughtClustered) else e.kind for e in events)


@pytest.mark.parametrize("each", [1, 5, 20])
@pytest.mark.parametrize("kind", STREAMS)
def test_a_stream_step_by_step(kind: str, each: int) -> None:
    """At each step the partition is what its history says, and a fresh fold decides the same."""
    stream = Stream()
    thoughts = topics(160, **STREAMS[kind])
    for start in range(0, len(thoughts), each):
        new = thoughts[start : start + each]
        before = dump(stream.partition)
        decided = stream.decides(*new)
        assert dump(stream.partition) == before
        if start % 20 == 0:
            assert stream.decides(*new, partition=stream.again()) == decided
        stream.happens(*(thought(stored) for stored in new), *decided)
        if start % 20 == 0:
            check(stream)
    assert dump(stream.again()) == dump(stream.partition)


@pytest.mark.parametrize("name", RULES)
def test_having_tried_leaves_no_trace(name: str) -> None:
    """Whoever tried other thoughts before each step decides the same as who did not."""
    rules = RULES[name]
    one, other = Stream(rules), Stream(rules)
    thoughts, others = topics(150, **STREAMS["blurred"]), topics(150, noise=400, seed=7)
    for start in range(0, 150, 5):
        other.decides(*others[start : start + 5])
        other.decides(*thoughts[start : start + 5])
        assert one.arrives(*thoughts[start : start + 5]) == other.arrives(
            *thoughts[start : start + 5]
        )
    assert dump(one.partition) == dump(other.partition)


def test_streams_hold_what_matters() -> None:
    """Else the tests above would prove little: all but the rarest decision occur somewhere."""
    all_ = Counter[str]()
    for kind in STREAMS.values():
        all_ += told(Stream().lives(topics(240, **kind)).decided)
    all_ += told(Stream().lives(topics(240, **STREAMS["blurred"]), each=20).decided)
    all_ += told(Stream(RULES["coarse"]).lives(topics(240, **STREAMS["blurred"])).decided)
    assert set(all_) - {"dropped"} == {
        *("joined", "reached", "moved", "cluster.formed", "cluster.merged"),
        *("cluster.split", "clustering.calibrated"),
    }


def around(axis: int, number: int, width: int = 16) -> Stored:
    """A thought around a topic: the same one for the same number."""
    chance = dice(number)
    return vector([next(chance) % 41 - 20 + 90 * (n == axis) for n in range(width)])


@pytest.mark.parametrize("each", [1, 5, 20])
def test_topics_are_found(each: int) -> None:
    """Thoughts of one topic are together, those of two are not."""
    stream = Stream().lives([around(number % 8, number) for number in range(160)], each)
    assert len(stream.partition.clusters) == 8
    assert [
        label is None or label == last
        for label, last in zip(stream.labels, stream.labels[152:] * 20, strict=True)
    ] == [True] * 160
    assert stream.labels.count(None) < 16


def test_nobody_leaves_for_a_little_more() -> None:
    """Half a deviation is a little: one between two clusters stays where it is."""
    stream = Stream(Rules(mode="off")).lives([around(n % 8, n) for n in range(48)])
    between = vector([100, 92, *[0] * 14])
    stream.arrives(between)
    first, second = stream.thoughts[0:48:8], stream.thoughts[1:48:8]
    stream.happens(
        ClusteringCalibrated(count=48, scale=0.9, deviation=0.25),
        ClusterFormed(cluster=1, members=tuple(first), how="linkage", similarity=1),
        ClusterFormed(
            cluster=2, members=(*second, stream.thoughts[48]), how="linkage", similarity=1
        ),
    )
    space = Space(check(stream), Rules())
    more = space.link([49], first) - space.link([49], second)
    assert 0 < more < RELUCTANCE * space.deviation
    stream.rules = Rules()
    decided = stream.arrives(around(1, 999), around(1, 998))
    assert [e for e in decided if isinstance(e, ThoughtClustered) and e.was is not None] == []


def test_who_does_not_belong_leaves() -> None:
    """For the cluster that fits, or for none, once its own has grown; nobody else does."""
    stream = Stream(Rules(mode="off")).lives([around(n % 8, n) for n in range(48)])
    first, second = stream.thoughts[0::8], stream.thoughts[1::8]
    stranger, lost = second.pop(), stream.thoughts[2]
    stream.happens(
        ClusteringCalibrated(count=48, scale=0.9, deviation=0.25),
        ClusterFormed(cluster=1, members=(*first, stranger, lost), how="linkage", similarity=1),
        ClusterFormed(cluster=2, members=tuple(second), how="linkage", similarity=1),
    )
    stream.rules = Rules()
    decided = stream.arrives(around(0, 999))
    check(stream)
    left = [e for e in decided if isinstance(e, ThoughtClustered) and e.how != "joined"]
    assert [(e.thought, e.how, e.was, e.cluster) for e in left] == [
        *sorted([(lost, "dropped", 1, None), (stranger, "moved", 1, 2)])
    ]
    assert stream.partition.clusters[1].members[-1] == stream.thoughts[-1]


# the rules


def test_strict_means_that_nobody_ever_moves() -> None:
    """Once a thought has a cluster it keeps it, by that very id."""
    stream = Stream(Rules(strict=True))
    seen: dict[int, int] = {}
    thoughts = topics(240, **STREAMS["blurred"])
    for start in range(0, 240, 5):
        stream.arrives(*thoughts[start : start + 5])
        labels = {v: c for v in stream.thoughts if (c := stream.partition.label(v)) is not None}
        assert seen.items() <= labels.items()
        seen = labels
    assert set(told(stream.decided)) == {
        *("joined", "reached", "cluster.formed", "clustering.calibrated")
    }


@pytest.mark.parametrize("name", RULES)
def test_what_a_decision_says_is_so(name: str) -> None:
    """Sizes, similarities and where a thought came from, measured again by hand, step by step."""
    rules = RULES[name]
    stream = Stream(rules)
    thoughts = topics(160, **STREAMS["blurred"])
    for start in range(0, 160, 5):
        decided = stream.decides(*thoughts[start : start + 5])
        stream.happens(*(thought(stored) for stored in thoughts[start : start + 5]))
        for event in decided:
            before = Naive(stream.history)
            space = Space(before, rules) if before.calibration else None
            stream.happens(event)
            match event:
                case ThoughtClustered(how="joined" | "reached" | "moved"):
                    assert space is not None
                    link = space.link([event.thought], before.clusters[event.cluster or 0])
                    assert link == pytest.approx(event.similarity, abs=1e-4)
                    assert link >= space.join - 1e-6
                    assert before.labels[event.thought] == event.was
                    assert (event.was is None) == (event.how != "moved")
                    assert event.how == "reached" or nothing_fits_better(before, space, event)
                case ThoughtClustered(how="dropped"):
                    assert space is not None
                    rest = [m for m in before.clusters[event.was or 0] if m != event.thought]
                    own = space.link([event.thought], rest)
                    assert own == pytest.approx(event.similarity, abs=1e-4)
                    assert own < space.join - space.deviation + 1e-6
                    assert len(rest) >= rules.min_cluster_size
                case ClusterFormed() | ClusterSplit():
                    assert space is not None
                    inner = space.inner(event.members)
                    assert inner == pytest.approx(event.similarity, abs=1e-4)
                    least = space.found if isinstance(event, ClusterFormed) else space.join
                    assert inner >= least - 1e-6
                    assert len(event.members) >= rules.min_cluster_size
                    assert list(event.members) == sorted(event.members)
                    old = {before.labels[m] for m in event.members}
                    assert old == {event.cluster if isinstance(event, ClusterSplit) else None}
                case ClusterMerged():
                    assert space is not None
                    keeps, goes = before.clusters[event.cluster], before.clusters[event.absorbed]
                    assert space.link(keeps, goes) == pytest.approx(event.similarity, abs=1e-4)
                    assert space.link(keeps, goes) >= space.join - 1e-6
                    assert (len(keeps), -event.cluster) > (len(goes), -event.absorbed)
                case ClusteringCalibrated():
                    assert event.count == len(before.vectors)
        after = Naive(stream.history)
        assert all(len(m) >= rules.min_cluster_size for m in after.clusters.values())


def nothing_fits_better(before: Naive, space: "Space", event: ThoughtClustered) -> bool:
    """It joined the best cluster of all, or moved to one that is better than its own by enough."""
    link = space.link([event.thought], before.clusters[event.cluster or 0])
    if event.was is None:
        links = [space.link([event.thought], m) for m in before.clusters.values()]
        return link >= max(links) - 1e-6
    rest = [m for m in before.clusters[event.was] if m != event.thought]
    own = space.link([event.thought], rest)
    return link > own + RELUCTANCE * space.deviation - 1e-6


class Space:
    """The calibrated space, with all pairs written out."""

    def __init__(self, naive: Naive, rules: Rules) -> None:
        assert naive.calibration is not None
        _, mean, self.scale, self.deviation = naive.calibration
        self.rows = {v: np.array(n) / 2**24 - mean for v, n in naive.vectors.items()}
        unit = min(self.deviation, MOST_COMMON)
        self.join = min(rules.granularity * unit, ALIKE)
        self.found = min((rules.granularity + 0.25) * unit, ALIKE)

    def link(self, some: Sequence[int], others: Sequence[int]) -> float:
        """The mean similarity of each to each."""
        middles = [np.mean([self.rows[m] for m in group], axis=0) for group in (some, others)]
        return self._measured(*middles)

    def inner(self, members: Sequence[int]) -> float:
        """The mean similarity of all pairs."""
        rows = [self.rows[member] for member in members]
        pairs = [self._measured(a, b) for a, b in combinations(rows, 2)]
        return sum(pairs) / len(pairs)

    def _measured(self, one: Any, other: Any) -> float:
        """Those that say the same count with their cosine, if that is more."""
        product = float(one @ other)
        cosine = product / float(np.sqrt((one @ one) * (other @ other)))
        plain = product / self.scale
        return max(plain, cosine) if cosine >= ALIKE else plain


def test_thresholds_are_counted_in_deviations() -> None:
    """Founders must be a quarter of a deviation closer than those who join."""
    stream = Stream().lives(topics(40))
    space = stream.partition.calibration
    assert space is not None
    assert FOUNDING == 0.25
    unit = min(space.deviation, MOST_COMMON)
    assert levels(space, Rules(granularity=2)) == (2 * unit, 2.25 * unit)
    common = space._replace(deviation=0.9)
    assert levels(common, Rules(granularity=2)) == (0.5, 0.5625)
    assert levels(common, Rules(granularity=5)) == (ALIKE, ALIKE)


def test_when_it_is_measured() -> None:
    """With each arrival below twenty thoughts, then with half more, however they come."""
    stream = Stream().lives(topics(300), each=1)
    counts = [e.count for e in stream.decided if isinstance(e, ClusteringCalibrated)]
    assert counts == [*range(1, 21), 30, 45, 68, 102, 152, 228]
    stream = Stream().lives(topics(300), each=7)
    counts = [e.count for e in stream.decided if isinstance(e, ClusteringCalibrated)]
    assert counts == [7, 14, 21, 35, 49, 70, 105, 154, 231]


def test_what_is_off_decides_nothing() -> None:
    """Neither does no arrival."""
    stream = Stream(Rules(mode="off")).lives(topics(30))
    assert stream.decided == []
    assert stream.labels == [None] * 30
    check(stream)
    for mode in ("online", "compatible", "off"):
        assert decide(stream.partition, [], Rules(mode=mode), frozenset()) == []


def test_after_a_time_without_decisions_they_go_on() -> None:
    """What came meanwhile is no longer new, but finds company at the next measurement."""
    stream = Stream(Rules(mode="off")).lives(topics(40))
    stream.rules = Rules()
    stream.arrives(*topics(41)[40:])
    check(stream)
    assert len(stream.partition.clusters) > 3


@pytest.mark.parametrize("switch", [40, 42, 60])
def test_from_one_way_to_the_other(switch: int) -> None:
    """The settings may change at any step; ids go on, and folds agree."""
    pytest.importorskip("hdbscan")
    thoughts = topics(120, **STREAMS["blurred"])
    for first, second in ((Rules(mode="compatible"), Rules()), (Rules(), Rules(mode="compatible"))):
        stream = Stream(first).lives(thoughts[:switch])
        stream.rules = second
        stream.lives(thoughts[switch:])
        check(stream)
        assert dump(stream.again()) == dump(stream.partition)


def test_rules_are_settings() -> None:
    """Of the session, one by one."""
    assert Rules.of(Config()) == Rules()
    config = Config(
        clustering="compatible",
        granularity=2,
        min_cluster_size=7,
        stability="strict",
        founder="linkage",
        centroid_match_threshold=0.5,
    )
    assert Rules.of(config) == Rules(
        "compatible", 2, 7, strict=True, founder="linkage", threshold=0.5
    )


# odd streams


@pytest.mark.parametrize("each", [1, 5, 20])
@pytest.mark.parametrize(
    "thoughts",
    [
        [vector([1, 2, 3])] * 100,
        [vector([1])] * 30,
        [vector([1]), vector([-1])] * 20,
        [vector([n % 5 - 2, n % 3 - 1, 1][:2]) for n in range(60) if n % 5 != 2 or n % 3 != 1],
        [vector([int(n == axis) for n in range(40)]) for axis in range(40)],
        [vector([n % 2, (n + 1) % 2]) for n in range(2)],
        [vector([1, 0])],
        [vector([-1, -1]), vector([-1, -1])],
    ],
    ids=["same", "one number", "opposite", "a plane", "orthogonal", "two", "one", "twins"],
)
def test_odd_streams(thoughts: list[Stored], each: int) -> None:
    """Nothing breaks, and the partition is what its history says."""
    stream = Stream()
    for start in range(0, len(thoughts), each):
        new = thoughts[start : start + each]
        decided = stream.decides(*new)
        assert stream.decides(*new, partition=stream.again()) == decided
        stream.happens(*(thought(stored) for stored in new), *decided)
    check(stream)
    assert dump(stream.again()) == dump(stream.partition)


def test_orthogonal_thoughts_stand_alone() -> None:
    """They have nothing in common."""
    stream = Stream().lives([vector([int(n == axis) for n in range(60)]) for axis in range(60)])
    assert stream.labels == [None] * 60


@pytest.mark.parametrize("each", [1, 5, 20])
def test_a_thought_that_comes_again_and_again_is_with_itself(each: int) -> None:
    """Among others, whatever they are: nothing is more alike."""
    same = vector([9, -4, 7, *([1, -2] * 7)[:13]])
    others = topics(120, noise=200)
    stream = Stream()
    for start in range(0, 120, each):
        stream.arrives(*others[start : start + each], same)
    labels = {stream.partition.label(v) for v in stream.thoughts if vector_of(stream, v) == same}
    assert len(labels) == 1
    assert labels != {None}


@pytest.mark.parametrize("each", [1, 5, 20])
def test_a_mind_that_says_one_thing_alone_is_seen(each: int) -> None:
    """The mean of all is that thing then: nothing is far from it, and yet it is one cluster."""
    same = vector([9, -4, 7, *([1, -2] * 7)[:13]])
    stream = Stream().lives([same] * 100, each=each)
    assert set(stream.labels) == {1}


def test_a_mind_with_two_themes_alone_is_seen() -> None:
    """All that two thoughts have in common is theirs: it is no measure of chance."""
    stream = Stream().lives(topics(200, kinds=2, noise=40, width=64))
    sizes = Counter(label for label in stream.labels if label is not None)
    assert [size > 60 for _, size in sizes.most_common(2)] == [True, True]


def vector_of(stream: Stream, version: int) -> Stored:
    """The vector of a thought."""
    return stream.partition.shelf.stored(version)


@pytest.mark.parametrize("smallest", [2, 3, 30, 34, 50])
def test_a_cluster_may_have_to_be_large(smallest: int) -> None:
    """Thoughts that come one by one found it as soon as there are so many."""
    same = [vector([9, -4, 7, *([1, -2] * 7)[:13]])] * smallest
    stream = Stream(Rules(min_cluster_size=smallest)).lives(topics(200, noise=300))
    before = stream.partition.next_id
    stream.lives(same, each=1)
    assert stream.partition.label(stream.thoughts[-1]) is not None, f"{smallest} equal thoughts"
    assert stream.partition.next_id > before or smallest < 4


def test_ties_go_to_the_older_cluster() -> None:
    """A thought right between two clusters joins the one with the lower id."""
    left, right, between = vector([3, 4, 0]), vector([3, -4, 0]), vector([1, 0, 0])
    far = [vector([-1, 0, n]) for n in (-4, 4)] * 4
    for one, other in ((left, right), (right, left)):
        stream = Stream()
        stream.happens(*(thought(s) for s in [one, one, one, other, other, other, *far]))
        stream.happens(
            ClusteringCalibrated(count=14, scale=1.0, deviation=0.1),
            ClusterFormed(cluster=1, members=(1, 2, 3), how="linkage", similarity=1),
            ClusterFormed(cluster=2, members=(4, 5, 6), how="linkage", similarity=1),
        )
        (joined, *_) = [e for e in stream.decides(between) if isinstance(e, ThoughtClustered)]
        assert (joined.thought, joined.cluster, joined.how) == (stream.upcoming, 1, "joined")


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_among_equals_the_order_does_not_matter(data: Any) -> None:
    """Equal vectors in one arrival, dealt to its thoughts in any order, make the same groups."""
    few = [vector([5, 1, 0]), vector([0, 5, 1]), vector([1, 0, 5])]
    counts = data.draw(st.lists(st.integers(3, 6), min_size=3, max_size=3))
    deal = [n for n, many in enumerate(counts) for _ in range(many)]
    groups = set()
    for order in (deal, data.draw(st.permutations(deal))):
        stream = Stream(Rules(granularity=1))
        stream.arrives(*(few[n] for n in order))
        check(stream)
        found: dict[int | None, list[int]] = {}
        for number, label in zip(order, stream.labels, strict=True):
            found.setdefault(label, []).append(number)
        groups.add(tuple(sorted(tuple(sorted(group)) for group in found.values())))
    assert len(groups) == 1


small = st.lists(st.integers(-2, 2), min_size=4, max_size=4).filter(any).map(vector)


@given(
    st.lists(st.lists(small, min_size=1, max_size=8), min_size=1, max_size=12),
    st.sampled_from(sorted(RULES)),
)
@settings(max_examples=30, deadline=None)
def test_any_stream_of_few_different_vectors(batches: list[list[Stored]], name: str) -> None:
    """Full of ties: a fold of any age decides the same, whatever was tried before."""
    stream = Stream(RULES[name])
    for batch in batches:
        before = dump(stream.partition)
        decided = stream.decides(*batch)
        assert dump(stream.partition) == before
        assert stream.decides(*batch, partition=stream.again()) == decided
        stream.happens(*(thought(stored) for stored in batch), *decided)
        check(stream)
    assert dump(stream.again()) == dump(stream.partition)


def test_rows_may_stand_in_any_order() -> None:
    """The tables are filled in another order, and the decisions are the same."""
    thoughts = topics(200, **STREAMS["many"])
    stream = Stream().lives(thoughts[:150])
    plain = stream.decides(*thoughts[150:170])
    for seed in range(3):
        again = stream.again()
        for table in (again.alone, again.centroids):
            assert table is not None
            keys = list(map(int, table.keys))
            for key in keys[seed::3] + keys[::2]:
                row = table.vector(key)
                table.drop(key)
                table.put(key, row, again.calibration)
        assert stream.decides(*thoughts[150:170], partition=again) == plain


# what breaks half-way


def test_a_decision_that_breaks_leaves_the_partition_as_it_was() -> None:
    """A vector of another width at the end; vectors that can't be looked up any more."""
    thoughts = topics(150, **STREAMS["blurred"])
    stream = Stream().lives(thoughts[:100])
    before, decided = dump(stream.partition), stream.decides(*thoughts[100:110])
    with pytest.raises(ValueError, match="among those of"):
        stream.decides(*thoughts[100:110], vector([1, 2]))
    assert dump(stream.partition) == before
    broken = stream.again()
    broken.shelf = Lost(broken.shelf, 8)
    for allowed in range(1, 12):
        broken.shelf = Lost(stream.again().shelf, allowed)
        try:
            assert stream.decides(*thoughts[100:110], partition=broken) == decided
        except OSError:
            assert dump(broken) == before
            continue
        break
    assert allowed > 3
    broken.shelf = stream.again().shelf
    assert stream.decides(*thoughts[100:110], partition=broken) == decided


class Lost(Shelf):
    """A shelf that breaks after so many looks."""

    def __init__(self, whole: Shelf, looks: int) -> None:
        super().__init__(whole._fetch, 7)
        self._looks = looks

    def rows(self, thoughts: Sequence[int]) -> Any:
        """As the whole one, until it breaks."""
        self._looks -= 1
        if self._looks < 0:
            raise OSError
        return super().rows(thoughts)


def test_the_same_stream_is_the_same_stream() -> None:
    """Whoever lives it again decides the same, digit by digit."""
    thoughts = topics(120, **STREAMS["many"])
    assert digest(*Stream().lives(thoughts).decided) == digest(*Stream().lives(thoughts).decided)


def test_arrivals_are_as_they_are_stored() -> None:
    """The two precisions may meet in one session."""
    half = topics(60)
    single = [
        vector([int(n * 1000) for n in unpacked(*stored)], "f") for stored in topics(60, seed=5)
    ]
    stream = Stream().lives([s for pair in zip(half, single, strict=True) for s in pair])
    check(stream)
    assert dump(stream.again()) == dump(stream.partition)
    assert Arrival(1, half[0]).stored == half[0]
