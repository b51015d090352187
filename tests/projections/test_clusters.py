"""What is shown of clusters and diversity, from a log that thoughts were gathered in."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from domain.clustering.fold import partition_at
from domain.clustering.measures import alarms, directions, diversity, mean_similarity
from domain.clustering.vectors import Stored, packed
from domain.errors import NoSuchCluster, NoSuchMoment
from domain.events import ClusterFormed, MindInvoked, ThoughtAdded
from projections.clusters import Clusters, texts
from projections.diversity import thinking
from projections.thoughts import Thoughts
from projections.trajectory import Trajectory
from tests.stories.thinker import Cast


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Cast:
    """Sixteen iterations on five topics, five thoughts each."""
    cast = Cast(tmp_path_factory.mktemp("thinking") / "store")
    cast.begins()
    cast.thinks_a_lot(16)
    return cast


def test_every_cluster_stands_as_its_members_say(stage: Cast) -> None:
    """Sizes, the part in the pool, the oldest and newest, the most central."""
    clusters = Clusters(stage.log, stage.state)
    standings = clusters.standings()
    assert [s.active for s in standings] == sorted((s.active for s in standings), reverse=True)
    labels = {v: clusters.partition.label(v) for v in clusters.partition.versions}
    sizes = Counter(label for label in labels.values() if label is not None)
    active = stage.state.pool.sizes
    assert {s.id: (s.size, s.active) for s in standings} == {
        id_: (size, active[id_]) for id_, size in sizes.items()
    }
    assert clusters.alone == sum(label is None for label in labels.values())
    for s in standings:
        mine = sorted(v for v, label in labels.items() if label == s.id)
        assert (s.first, s.last) == (mine[0], mine[-1])
        rows = clusters.partition.vectors(mine)
        assert s.central == mine[int(np.argmax(rows @ rows.sum(axis=0)))]
        pairs = [float(a @ b) for n, a in enumerate(rows) for b in rows[:n]]
        assert s.coherence == pytest.approx(sum(pairs) / len(pairs), abs=2e-3)


def test_a_cluster_shows_its_thoughts_and_its_beginning(stage: Cast) -> None:
    """Newest first; a number that nothing has is refused."""
    clusters = Clusters(stage.log, stage.state)
    largest = max(clusters.standings(), key=lambda s: s.size)
    members = clusters.members(largest.id)
    assert [m.version for m in members] == sorted((m.version for m in members), reverse=True)
    assert len(members) == largest.size
    assert [m.version for m in clusters.members(largest.id, 2)] == [m.version for m in members[:2]]
    assert texts(stage.log, stage.session, [members[0].version]) == {
        members[0].version: members[0].text
    }
    assert isinstance(next(clusters.turnings(largest.id)).event, ClusterFormed)
    with pytest.raises(NoSuchCluster, match="There is no cluster 999: the session has"):
        clusters.members(999)


def test_links_join_each_cluster_with_its_nearest(stage: Cast) -> None:
    """Every pair once, the nearest first."""
    clusters = Clusters(stage.log, stage.state)
    links = clusters.links(1)
    assert {c for link in links for c in link[:2]} == set(clusters.partition.clusters)
    assert len({link[:2] for link in links}) == len(links)
    assert [link.similarity for link in links] == sorted(
        (link.similarity for link in links), reverse=True
    )


def test_a_moment_of_the_past_has_the_clusters_of_then(stage: Cast) -> None:
    """Half way, and before anything was thought."""
    half = next(
        r.version
        for r in stage.history()
        if isinstance(r.event, MindInvoked) and r.event.iteration == 8
    )
    then = Clusters(stage.log, stage.log.state(stage.session, half))
    assert 0 < then.partition.count < Clusters(stage.log, stage.state).partition.count
    begun = Clusters(stage.log, stage.log.state(stage.session, 2))
    assert (begun.standings(), begun.links(), begun.alone) == ([], [], 0)


def test_every_iteration_is_a_stage(stage: Cast) -> None:
    """Its clusters are those of the state behind it, its changes those that it recorded."""
    stages = list(Trajectory(stage.log, stage.state).stages())
    assert [s.iteration for s in stages] == list(range(1, 17))
    for one in stages:
        state = stage.log.state(stage.session, one.version)
        assert Counter(one.active) == state.pool.sizes
        assert one.alone + state.pool.sizes.total() == len(state.pool.active)
        assert one.thoughts == state.pool.total
    formed = len(stage.events(ClusterFormed))
    assert sum(s.formed for s in stages) == formed
    assert stages[-1].diversity == thinking(stage.log, stage.state).now


def test_diversity_is_what_its_formulas_say(stage: Cast) -> None:
    """Of the newest thoughts, pair by pair."""
    measured = thinking(stage.log, stage.state)
    rows = partition_at(stage.log, stage.session).vectors(
        [r.version for r in stage.history() if isinstance(r.event, ThoughtAdded)]
    )
    assert len(rows) == 80
    pairs = [float(a @ b) for n, a in enumerate(rows) for b in rows[:n]]
    assert measured.now is not None
    assert measured.now.similarity == pytest.approx(np.mean(pairs), abs=1e-3)
    assert measured.beginning is None
    largest = max(stage.state.pool.sizes.values())
    assert measured.largest_share == largest / len(stage.state.pool.active)


def test_directions_count_what_is_at_right_angles() -> None:
    """One when all are the same, their number when nothing is shared."""
    assert directions(np.eye(7)) == pytest.approx(7)
    assert directions(np.ones((5, 1))) == pytest.approx(1)
    assert mean_similarity(np.ones(1) * 5, 5) == pytest.approx(1)
    assert diversity(np.ones((1, 3))) is None


def test_alarms_say_what_narrows() -> None:
    """Each for itself, and none about a handful of thoughts."""
    from domain.clustering.measures import Diversity  # noqa: PLC0415 — beside what it is about

    well, alike = Diversity(100, 0.3, 8.0), Diversity(100, 0.55, 8.0)
    assert list(alarms(well, None, 0.3)) == []
    assert "grow alike" in next(iter(alarms(alike, None, 0.1)))
    assert "0.14 in the beginning" in next(iter(alarms(well, Diversity(100, 0.14, 9.0), 0.1)))
    assert list(alarms(well._replace(directions=2.5), None, 0.1)) == [
        "they go in few directions (2.5)"
    ]
    assert list(alarms(well, None, 0.31)) == ["one cluster has 31% of them"]
    assert list(alarms(alike._replace(thoughts=29), None, 0.9)) == []
    assert list(alarms(None, None, 0.9)) == []


def test_a_warning_says_what_to_do(tmp_path: Path) -> None:
    """A mind that says one thing over and over."""
    cast = Cast(tmp_path)
    cast.begins()
    assert thinking(cast.log, cast.state).warning is None
    for n in range(10):
        cast.thinks(*(f"moon moon moon moon {n * 4 + place}" for place in range(4)))
    warning = thinking(cast.log, cast.state).warning
    assert warning is not None
    assert warning.startswith("Thinking narrows: thoughts grow alike (mean similarity")
    assert "mind think" in warning


def test_thoughts_are_looked_up(stage: Cast) -> None:
    """The pool, those since a moment, those of a cluster, those that an iteration was shown."""
    known = Thoughts(stage.log, stage.state)
    pool = known.pool()
    assert [t.version for t in pool] == [t.version for t in stage.state.pool.active]
    assert len(known.since(0)) == 80
    newest = known.since(stage.state.version - 20)
    assert all(t.version > stage.state.version - 20 for t in newest)
    cluster = next(t.cluster for t in pool if t.cluster is not None)
    assert {t.cluster for t in known.of_cluster(cluster)} == {cluster}
    shown = next(e for e in stage.events(MindInvoked) if e.iteration == 9).sampled
    assert tuple(t.version for t in known.sampled(9)) == shown
    with pytest.raises(NoSuchMoment):
        known.sampled(99)


def test_the_most_similar_come_first(stage: Cast) -> None:
    """By the cosine to a text; a vector of another width is like nothing."""
    known = Thoughts(stage.log, stage.state)
    rows = stage.embedders["local"].vectors(["moon moon moon"], 1.0).rows
    (data,) = packed(rows)
    assert data is not None
    found = known.like(Stored(data, rows.shape[1]), known.since(0))
    assert found[0].text.startswith("moon")
    near = [t.similarity or 0 for t in found]
    assert near == sorted(near, reverse=True)
    assert known.like(Stored(b"\x00\x3c\x00\x00", 2), known.since(0)) == []
