"""Clusters after a redaction: what was decided stays, and what has no vector disturbs nobody."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from commands.gatherer import Gatherer
from commands.redaction import redact_events
from domain.clustering.fold import partition_at
from domain.events import (
    ClusterFormed,
    ClusterMerged,
    ClusterSplit,
    MindInvoked,
    ThoughtAdded,
    ThoughtClustered,
)
from domain.recorded import Recorded
from projections.clusters import Clusters
from projections.diversity import thinking
from projections.trajectory import Trajectory
from tests.commands.eventlog.stores import draw
from tests.domain.clustering.streams import dump
from tests.stories.cast import Stage
from tests.stories.thinker import Cast, sentence


def gone(stage: Stage, *events: Recorded) -> None:
    """Take them away."""
    assert redact_events(stage.log, events, "private", stage.world).gone


def thoughts(stage: Stage) -> list[Recorded]:
    """All thoughts that there ever were."""
    return [r for r in stage.history() if isinstance(r.event, ThoughtAdded)]


def finite(events: Sequence[Recorded]) -> bool:
    """Whether all that was decided is a number."""
    found = [getattr(r.event, "similarity", 0.0) for r in events]
    return all(-100 < number < 100 for number in found)


def chosen(stage: Cast, which: str) -> list[Recorded]:
    """Thoughts to be taken away."""
    there = thoughts(stage)
    partition = partition_at(stage.log, stage.session)
    if which == "all":
        return there
    if which == "a cluster":
        largest = max(partition.clusters.values(), key=lambda cluster: cluster.size)
        return [r for r in there if r.version in largest.members]
    if which == "the first ones":
        return there[:6]
    return [r for r in there if r.version % 2]


@pytest.fixture(params=["online", "compatible"])
def cast(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cast]:
    """A session with forty thoughts about five topics, by either way to gather them."""
    if request.param == "compatible":
        pytest.importorskip("hdbscan")
    cast = Cast(tmp_path)
    cast.begins(clustering=request.param, active_pool_size=40)
    cast.thinks_a_lot(8)
    yield cast
    cast.log.close()


@pytest.mark.parametrize("which", ["all", "a cluster", "the first ones", "every second one"])
def test_clusters_of_redacted_thoughts(cast: Cast, which: str) -> None:
    """What was decided about them is folded as ever; they found and join nothing any more."""
    taken = chosen(cast, which)
    before = {t.version: t.cluster for t in cast.state.pool.active}
    gone(cast, *taken)
    left = {t.version: t.cluster for t in cast.state.pool.active}
    versions = {r.version for r in taken}
    assert left == {v: c for v, c in before.items() if v not in versions}
    head = cast.state.version
    cast.gatherer = Gatherer(cast.log, cast.embedder_for, pytest.fail)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cast.thinks_a_lot(6, start=200)
        later = [r for r in cast.history() if r.version > head]
        assert finite(later)
        formed = [r.event for r in later if isinstance(r.event, ClusterFormed | ClusterSplit)]
        joined = [r.event for r in later if isinstance(r.event, ThoughtClustered)]
        for event in formed:
            if isinstance(event, ClusterFormed):
                assert not versions & set(event.members)
        assert not versions & {e.thought for e in joined if e.how in {"joined", "reached"}}
        for version in (*range(1, cast.state.version, 9), cast.state.version):
            looked_at(cast, version)


def looked_at(stage: Stage, version: int) -> None:
    """Everything that can be asked about thoughts at a moment is answered with numbers."""
    state = stage.log.state(stage.session, version)
    clusters = Clusters(stage.log, state)
    for standing in clusters.standings():
        assert -1 <= standing.coherence <= 1.001
        members = clusters.members(standing.id)
        assert len(members) == standing.size
        assert all(-1.001 <= member.similarity <= 1.001 for member in members)
        list(clusters.turnings(standing.id))
    assert all(-1e6 < link.similarity < 1e6 for link in clusters.links())
    assert clusters.alone >= 0
    measured = thinking(stage.log, state)
    for diversity in (measured.now, measured.beginning):
        assert diversity is None or 1 <= diversity.directions <= diversity.thoughts
    list(Trajectory(stage.log, state).stages())


def test_a_redacted_clusters_partition_is_the_same_whoever_folds_it(cast: Cast) -> None:
    """A new process, one that reads on, and one that decided since: all see the same clusters."""
    gone(cast, *chosen(cast, "a cluster"), *chosen(cast, "the first ones")[:1])
    cast.gatherer = Gatherer(cast.log, cast.embedder_for, pytest.fail)
    cast.thinks_a_lot(4, start=300)
    kept = cast.gatherer.at(cast.session, cast.state.version).partition
    assert dump(kept) == dump(partition_at(cast.log, cast.session))


def test_who_repeats_a_redacted_thought(cast: Cast) -> None:
    """Thoughts that name its vector have none any more: still in the pool, they found nothing."""
    texts = ["zebra quagga okapi", "violin viola cello", "iron copper tin", "pine larch fir"]
    for text in texts * 2:
        cast.injects(text)
    firsts, others = thoughts(cast)[-8:-4], thoughts(cast)[-4:]
    assert [getattr(r.event, "embedding_of", None) for r in others] == [r.version for r in firsts]
    gone(cast, *firsts)
    cast.gatherer = Gatherer(cast.log, cast.embedder_for, pytest.fail)
    head = cast.state.version
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(8):
            cast.injects(f"like{n} no{n} other{n}" if n % 2 else sentence("yak", n))
        cast.thinks_a_lot(3, start=400)
        later = [r for r in cast.history() if r.version > head]
        assert finite(later)
        looked_at(cast, cast.state.version)
    without = {r.version for r in others}
    assert without <= {t.version for t in cast.state.pool.active}
    founded = [r.event.members for r in later if isinstance(r.event, ClusterFormed)]
    assert not [members for members in founded if without & set(members)]


def test_a_gatherer_that_remembers_what_was_redacted(cast: Cast) -> None:
    """One that was at work before decides on: its decisions are folded without the vectors, too."""
    gone(cast, *chosen(cast, "every second one"))
    cast.thinks_a_lot(5, start=500)
    same = sentence("sun", 3)
    cast.injects(same)
    assert finite(cast.history())
    looked_at(cast, cast.state.version)
    assert cast.problems == []


def test_merging_with_a_cluster_that_is_gone(tmp_path: Path) -> None:
    """Whatever was decided about clusters whose thoughts are all redacted can be folded."""
    stage = Cast(tmp_path).begins(clustering="off")
    assert isinstance(stage, Cast)
    stage.thinks(*(sentence(topic, n) for topic in ("moon", "sun") for n in range(4)))
    versions = [r.version for r in thoughts(stage)]
    moon, sun = versions[:4], versions[4:]
    decided: list[Any] = [
        ClusterFormed(cluster=1, members=tuple(moon), how="linkage", similarity=1),
        ClusterFormed(cluster=2, members=tuple(sun), how="linkage", similarity=1),
        ThoughtClustered(thought=moon[0], cluster=None, how="dropped", was=1, similarity=0),
        ThoughtClustered(thought=moon[0], cluster=2, how="reached", similarity=0),
        ClusterSplit(cluster=2, into=3, members=(sun[0], moon[0]), similarity=0),
        ClusterMerged(cluster=2, absorbed=1, similarity=0),
        ClusterMerged(cluster=2, absorbed=3, similarity=0),
        ThoughtClustered(thought=moon[1], cluster=None, how="dropped", was=2, similarity=0),
    ]
    head = stage.state.version
    stage.log.append(stage.session, head, draw(*decided, wish=1 << 60))
    for some in (moon, sun):
        gone(stage, *stage.log.pick(stage.session, some))
        for version in range(head, stage.state.version + 1):
            looked_at(stage, version)
    assert partition_at(stage.log, stage.session).clusters[2].size == 7


def test_no_redacted_thought_is_called_back(tmp_path: Path) -> None:
    """Where thoughts may be recalled from beyond the pool, those that were redacted are not."""
    cast = Cast(tmp_path)
    cast.begins(sampling="recall", active_pool_size=6)
    cast.thinks_a_lot(10)
    state = cast.state
    memory = cast.gatherer.memory(state)
    beyond = {cluster: list(memory.older(cluster)) for cluster in state.pool.sizes}
    assert any(beyond.values())
    taken = {version for some in beyond.values() for version in some[::2]}
    gone(cast, *cast.log.pick(cast.session, taken))
    cast.gatherer = Gatherer(cast.log, cast.embedder_for, pytest.fail)
    memory = cast.gatherer.memory(cast.state)
    for cluster, versions in beyond.items():
        assert memory.older(cluster) == [v for v in versions if v not in taken]
    cast.thinks_a_lot(5, start=600)
    recalled = [e.recalled for e in cast.events(MindInvoked)]
    assert not taken & {version for some in recalled[-5:] for version, _, _ in some}


def test_a_redacted_thought_waits_for_no_vector(tmp_path: Path) -> None:
    """What it said is gone, so nothing is embedded in its place."""
    cast = Cast(tmp_path)
    cast.begins(embedding_model="off")
    cast.thinks("one thing", "another thing")
    first, second = thoughts(cast)
    gone(cast, first)
    cast.gatherer = Gatherer(cast.log, cast.embedder_for, pytest.fail)
    assert cast.gatherer.waiting(cast.state) == {second.version: "another thing"}
