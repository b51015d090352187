"""Thoughts of a real log get their vectors and their company, at every version the same."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from commands.eventlog import EventLog
from commands.forks import fork_session
from commands.gatherer import SESSIONS_KEPT, Gatherer, thoughts_at
from commands.handle import handle
from commands.sessions import ChangeConfig
from commands.thinking import EmbedWaiting, InjectThought, Placed
from domain.actors import SYSTEM
from domain.clustering.fold import partition_at
from domain.events import (
    ClusterFormed,
    ClusteringCalibrated,
    Event,
    MindInvoked,
    ThoughtAdded,
    ThoughtClustered,
    ThoughtEmbedded,
)
from domain.ids import SessionId
from domain.protocol.dialects import prompt_text
from domain.protocol.observe import observe, thoughts_limit
from domain.sampling import Recalled, Sample, sample
from domain.session import Session
from tests.domain.clustering.streams import dump
from tests.fakes.embedders import Wordy
from tests.stories.cast import Stage, SteadyWorld, kinds
from tests.stories.thinker import TOPICS, Cast, reply, sentence


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Cast]:
    """A session that thinks about something."""
    cast = Cast(tmp_path)
    cast.begins()
    yield cast
    cast.log.close()


def agrees(stage: Stage, session: SessionId | None = None) -> None:
    """At every version the pool shows what the partition says, in both folds."""
    session = session or stage.session
    last = stage.log.state(session).version
    vectors = {
        (e.thought if isinstance(e, ThoughtEmbedded) else r.version)
        for r in stage.log.read(session)
        if (e := r.event).kind in {"thought.added", "thought.embedded"}
        and getattr(e, "dimension", None)
    }
    for version in range(1, last + 1):
        pool = stage.log.state(session, version).pool
        partition = partition_at(stage.log, session, version)
        assert {t.version: t.cluster for t in pool.active} == {
            t.version: partition.label(t.version) for t in pool.active
        }
        assert [t.version for t in pool.active if t.embedded] == [
            t.version for t in pool.active if partition.has(t.version)
        ]
    assert set(partition.versions) <= vectors


def stored(stage: Stage) -> list[str]:
    """The texts whose vectors are stored, once for each."""
    texts = {r.version: r.event.text for r in stage.history() if isinstance(r.event, ThoughtAdded)}
    return [
        texts[e.thought] if isinstance(e, ThoughtEmbedded) else e.text
        for e in stage.events(ThoughtAdded, ThoughtEmbedded)
        if e.embedding is not None
    ]


# an iteration


def test_thoughts_get_vectors_and_company_in_one_append(stage: Cast) -> None:
    """The invocation, its thoughts, what they were taken for, and why; nothing was told."""
    done = stage.thinks(*(sentence("moon", n) for n in range(4)))
    history = stage.history()[-len(done.events) :]
    assert kinds(history) == [
        "mind.invoked",
        *["thought.added"] * 4,
        "mind.signalled",
        "clustering.calibrated",
        "cluster.formed",
    ]
    assert len({(r.command, r.at) for r in history}) == 1
    assert [str(r.actor) for r in history] == ["mind:rehearsed"] * 6 + [str(SYSTEM)] * 2
    assert {r.cause for r in history[6:]} == {history[4].version}
    (formed,) = stage.events(ClusterFormed)
    assert formed.members == tuple(r.version for r in history[1:5])
    assert set(stage.clusters.values()) == {1}
    for event in stage.events(ThoughtAdded):
        assert (event.embedding_model, event.dimension) == ("local-16", 16)
        assert len(event.embedding) == 32
    (invoked,) = stage.events(MindInvoked)
    assert (invoked.embedding_tokens, invoked.embedding_cost_usd) == (12, 0.0)
    assert stage.problems == []
    assert stage.embedders["local"].timeouts == [30.0]


def test_at_every_version_the_pool_is_what_the_partition_says(stage: Cast) -> None:
    """Through a run with thoughts of the user in between; topics are found."""
    stage.thinks_a_lot(6)
    stage.injects("moon and moon moon number of mine")
    stage.thinks_a_lot(5, start=60)
    agrees(stage)
    assert stage.clusters["moon and moon moon number of mine"] is not None
    for topic in TOPICS:
        found = {c for text, c in stage.clusters.items() if text.startswith(topic)} - {None}
        assert len(found) == 1, topic
    assert len(set(stage.clusters.values()) - {None}) == 5
    kept = stage.gatherer.at(stage.session, stage.state.version).partition
    assert dump(kept) == dump(partition_at(stage.log, stage.session))


def test_whoever_opens_the_log_decides_the_same(stage: Cast) -> None:
    """A gatherer that has seen it all, and one that reads the log."""
    stage.thinks_a_lot(7)
    state, last = stage.state, stage.history()[-20:]
    added = [r for r in last if isinstance(r.event, ThoughtAdded)][-1]
    assert isinstance(added.event, ThoughtAdded)
    embedded = stage.gatherer.embedded(state, ["moon and sun"])
    placed = [Placed(state.version + 1, e) for e in embedded.new if e is not None]
    first = stage.gatherer.decide(state, placed)
    other = Gatherer(stage.log, stage.embedder_for, pytest.fail)
    assert other.decide(state, placed) == first == stage.gatherer.decide(state, placed)
    with EventLog(stage.log.place.home) as again:
        assert Gatherer(again, stage.embedder_for).decide(state, placed) == first


def test_the_gatherer_knows_older_versions_too(stage: Cast) -> None:
    """Asked about a moment that is past, it reads the log again; then about now."""
    stage.thinks_a_lot(4)
    last = stage.state.version
    for version in (last, last // 2, last - 1, 1, last):
        found = stage.gatherer.at(stage.session, version)
        assert found.version == version
        assert dump(found.partition) == dump(partition_at(stage.log, stage.session, version))


def test_what_was_recorded_is_taken_over(stage: Cast) -> None:
    """Without reading it; what somebody else recorded in between is read."""
    stage.thinks_a_lot(3)
    for step in range(6):
        if step == 3:
            stage.does(ChangeConfig(key="granularity", value="1.2"))  # nobody tells the gatherer
        done = stage.injects(sentence("wind", 500 + step))
        stage.gatherer.recorded(done)
        stage.gatherer.recorded(done)  # twice is once
        kept = stage.gatherer.at(stage.session, stage.state.version)
        assert dump(kept.partition) == dump(partition_at(stage.log, stage.session))


def test_what_was_recorded_behind_something_unknown_is_read(stage: Cast) -> None:
    """A gatherer that has missed what came before does not take it over out of turn."""
    stage.thinks_a_lot(5)
    behind = Gatherer(stage.log, stage.embedder_for, pytest.fail)
    behind.at(stage.session, stage.state.version)
    stage.injects(sentence("wind", 500))
    behind.recorded(stage.injects(sentence("wind", 501)))
    kept = behind.at(stage.session, stage.state.version)
    assert dump(kept.partition) == dump(partition_at(stage.log, stage.session))


class Breaking(tuple[int, ...]):
    """Members of a cluster; the user breaks off while the second one is read."""

    __slots__ = ()

    def __iter__(self) -> Iterator[int]:
        """The first one."""
        yield self[0]
        raise KeyboardInterrupt


def test_the_user_breaks_off_while_it_is_taken_over(stage: Cast) -> None:
    """What was recorded is in the log: it is read from there, and not half of it twice."""
    stage.thinks("of the sun")
    behind = Gatherer(stage.log, stage.embedder_for, pytest.fail)
    behind.at(stage.session, stage.state.version)
    done = stage.thinks(*(sentence("moon", n) for n in range(4)))
    events = tuple(
        e.model_copy(update={"members": Breaking(e.members)}) if isinstance(e, ClusterFormed) else e
        for e in done.events
    )
    with pytest.raises(KeyboardInterrupt):
        behind.recorded(done._replace(events=events))
    kept = behind.at(stage.session, stage.state.version)
    assert dump(kept.partition) == dump(partition_at(stage.log, stage.session))


def test_many_sessions_take_turns(stage: Cast) -> None:
    """More than are kept at hand."""
    stage.thinks_a_lot(2)
    names = [SessionId(f"tides/{n}") for n in range(SESSIONS_KEPT + 2)]
    for name in names:
        fork_session(stage.log, stage.session, stage.state.version, name, stage.world)
    for turn in range(2):
        for name in names:
            stage.session = name
            stage.thinks(sentence("moon", 100 + turn), sentence("sun", 100 + turn))
    for name in names:
        stage.session = name
        kept = stage.gatherer.at(name, stage.state.version).partition
        assert dump(kept) == dump(partition_at(stage.log, name))


def test_clustering_may_be_off(stage: Cast) -> None:
    """Thoughts have vectors, and stand alone."""
    stage.does(ChangeConfig(key="clustering", value="off"))
    stage.thinks_a_lot(2)
    assert set(stage.clusters.values()) == {None}
    assert not stage.state.pool.waiting
    stage.does(ChangeConfig(key="clustering", value="online"))
    stage.thinks_a_lot(5, start=30)
    agrees(stage)
    assert len(set(stage.clusters.values())) > 3


def test_embedding_may_be_off(stage: Cast) -> None:
    """Nobody is asked, nothing is told; the vectors can be made later, some at a time."""
    stage.does(ChangeConfig(key="embedding_model", value="off"))
    stage.thinks_a_lot(3)
    assert stage.embedders["local"].asked == []
    assert len(stage.state.pool.waiting) == 15
    assert stage.problems == []
    stage.does(ChangeConfig(key="embedding_model", value="local"))
    assert len(stage.gatherer.waiting(stage.state)) == 15
    for left in (11, 7, 3, 0, 0):
        stage.catches_up(4)
        assert len(stage.state.pool.waiting) == left
    agrees(stage)
    assert len(stage.events(ThoughtEmbedded)) == 15
    assert set(stage.clusters.values()) != {None}


def test_precision_is_a_setting(stage: Cast) -> None:
    """It may change; the old vectors stay."""
    stage.thinks_a_lot(2)
    stage.does(ChangeConfig(key="embedding_precision", value="float32"))
    stage.thinks_a_lot(2, start=10)
    assert [len(e.embedding) for e in stage.events(ThoughtAdded)] == [32] * 10 + [64] * 10
    agrees(stage)


# the very same text


def test_the_same_text_is_stored_once(stage: Cast) -> None:
    """In one reply, in later ones, said by the user, and in a branch."""
    same = sentence("moon", 1)
    stage.thinks(same, "sun", same, same)
    stage.thinks("wind", same)
    stage.injects(same)
    branch = SessionId("tides/branch")
    fork_session(stage.log, stage.session, stage.state.version, branch, stage.world)
    stage.injects("sun")
    stage.session = branch
    stage.thinks(same, "sun")
    agrees(stage)
    assert stored(stage).count(same) == stored(stage).count("sun") == 1
    assert stage.embedders["local"].texts == [same, "sun", "wind"]
    thoughts = [r for r in stage.history() if isinstance(r.event, ThoughtAdded)]
    first = next(r.version for r in thoughts if r.event.text == same)  # type: ignore[union-attr]
    others = [r.event.embedding_of for r in thoughts if r.event.text == same]  # type: ignore[union-attr]
    assert others == [None] + [first] * 5
    partition = partition_at(stage.log, branch)
    rows = partition.vectors([r.version for r in thoughts if r.event.text == same])  # type: ignore[union-attr]
    assert (rows == rows[0]).all()


def test_a_text_that_waits_is_stored_once(tmp_path: Path) -> None:
    """Three thoughts of it get the vector of one, when it comes; later ones name it, too."""
    stage = Cast(tmp_path, nowhere)
    stage.begins()
    same = sentence("moon", 1)
    stage.thinks(same, "sun", same)
    assert stored(stage) == []
    stage.thinks(same)
    stage.thinks(same)
    agrees(stage)
    assert not stage.state.pool.waiting
    assert stored(stage).count(same) == 1
    partition = partition_at(stage.log, stage.session)
    rows = partition.vectors([t.version for t in stage.state.pool.active if t.text == same])
    assert len(rows) == 4
    assert (rows == rows[0]).all()


def nowhere(rows: Any) -> Any:
    """No row has a direction."""
    return rows * 0


def test_another_model_has_vectors_of_its_own(stage: Cast) -> None:
    """The same text is embedded again, and no vector of the old model is named."""
    same = sentence("moon", 1)
    stage.thinks(same, "sun")
    stage.changes_embedder("other")
    stage.thinks(same, "sun", "wind")
    agrees(stage)
    changed = next(r.version for r in stage.history() if r.event.kind == "config.changed")
    for r in stage.history():
        if isinstance(r.event, ThoughtAdded | ThoughtEmbedded) and r.version > changed:
            assert (r.event.embedding_model, r.event.dimension) == ("other-24", 24)
    partition = partition_at(stage.log, stage.session)
    rows = partition.vectors([t.version for t in stage.state.pool.active if t.text == same])
    assert rows.shape == (2, 24)
    assert (rows == rows[0]).all()


# another model


def test_a_pool_begins_again(stage: Cast) -> None:
    """New vectors for the pool, clusters by new ids; what left the pool stays behind."""
    stage.does(ChangeConfig(key="active_pool_size", value="30"))
    stage.thinks_a_lot(9)
    before = partition_at(stage.log, stage.session)
    done = stage.changes_embedder("other")
    assert kinds(stage.history()[-len(done.events) :])[:31] == [
        "config.changed",
        *["thought.embedded"] * 30,
    ]
    assert len({r.command for r in stage.history()[-len(done.events) :]}) == 1
    agrees(stage)
    ids = set(stage.clusters.values()) - {None}
    assert len(ids) > 2
    assert min(ids) >= before.next_id  # type: ignore[type-var]
    after = partition_at(stage.log, stage.session)
    assert set(after.versions) == {t.version for t in stage.state.pool.active}
    assert stage.state.pool.dimension == 24
    stage.thinks_a_lot(3, start=100)
    agrees(stage)


def test_back_to_the_first_model(stage: Cast) -> None:
    """There and back again, with a thought in between."""
    stage.thinks_a_lot(4)
    stage.changes_embedder("other")
    stage.thinks_a_lot(1, start=60)
    stage.changes_embedder("local")
    stage.thinks_a_lot(2, start=80)
    agrees(stage)
    numbers = [e.cluster for e in stage.events(ClusterFormed)]
    assert numbers == sorted(set(numbers))


def test_a_model_that_gives_nothing_leaves_all_waiting(stage: Cast) -> None:
    """The setting is changed all the same, and the pool catches up later."""
    stage.thinks_a_lot(3)
    stage.embedders["other"] = Wordy(nowhere, name="other", width=7)
    stage.changes_embedder("other")
    assert len(stage.state.pool.waiting) == 15
    assert set(stage.clusters.values()) == {None}
    stage.thinks("moon moon moon")
    assert not stage.state.pool.waiting
    agrees(stage)


OLD = [sentence(topic, n) for n in range(5) for topic in ("moon", "sun")]
NEW = [" ".join(f"{word}{n}" for word in "abcdef") for n in range(10)]


@pytest.mark.parametrize("way", ["again", "late"])
def test_the_two_phase_way_sees_the_whole_pool(tmp_path: Path, way: str) -> None:
    """With another model, and after a pause: each thought of the pool is active once."""
    pytest.importorskip("hdbscan")
    stage = Cast(tmp_path)
    first = "local" if way == "again" else "off"
    stage.begins(clustering="compatible", active_pool_size=20, embedding_model=first)
    for start in range(0, 20, 5):
        stage.thinks(*[*OLD, *NEW][start : start + 5])
    if way == "again":
        stage.changes_embedder("other")
    else:
        stage.does(ChangeConfig(key="embedding_model", value="local"))
        stage.catches_up(100)
    moon, sun = ({stage.clusters[text] for text in OLD[n::2]} for n in (0, 1))
    assert len(moon) == len(sun) == 1
    assert None not in moon | sun
    assert moon != sun
    agrees(stage)


# those that wait beyond the pool


def test_the_oldest_get_their_vectors_first(stage: Cast) -> None:
    """In the pool or beyond."""
    stage.does(ChangeConfig(key="embedding_model", value="off"))
    stage.does(ChangeConfig(key="active_pool_size", value="4"))
    stage.thinks_a_lot(3)
    stage.does(ChangeConfig(key="embedding_model", value="local"))
    waiting = stage.gatherer.waiting(stage.state)
    assert list(waiting) == sorted(waiting)
    assert list(waiting.values()) == [sentence(TOPICS[n * 7 % 5], n) for n in range(15)]
    stage.catches_up(6)
    assert [e.thought for e in stage.events(ThoughtEmbedded)] == list(waiting)[:6]
    stage.catches_up(100)
    assert stage.gatherer.waiting(stage.state) == {}
    assert stage.embedders["local"].texts == list(waiting.values())
    agrees(stage)


def test_two_who_catch_up_at_once(stage: Cast) -> None:
    """Both have made the same vectors: each thought has its one, and one cluster."""
    stage.does(ChangeConfig(key="embedding_model", value="off"))
    stage.does(ChangeConfig(key="active_pool_size", value="4"))
    stage.thinks_a_lot(4)
    stage.does(ChangeConfig(key="embedding_model", value="local"))
    wishes = []
    for _ in range(2):
        gatherer = Gatherer(stage.log, stage.embedder_for, pytest.fail)
        embedded = gatherer.late(stage.state, list(gatherer.waiting(stage.state).items()))
        wishes.append(
            EmbedWaiting(embedded=embedded, gather=gatherer.decide, still=gatherer.waiting)
        )
    stage.does(*wishes)
    agrees(stage)
    partition = partition_at(stage.log, stage.session)
    assert len(partition.versions) == len(set(partition.versions)) == 20
    alone = {int(key) for key in partition.alone.keys} if partition.alone else set()
    assert alone == {v for v in partition.versions if partition.label(v) is None}


# branches


def test_a_branch_sees_the_clusters_of_its_parent_and_goes_its_own_way(stage: Cast) -> None:
    """From the middle of the past; ids may be the same, and mean each its own."""
    stage.thinks_a_lot(6)
    middle = stage.state.version
    stage.thinks_a_lot(2, start=30)
    before, parent = dump(partition_at(stage.log, stage.session)), stage.session
    branch = SessionId("tides/branch")
    fork_session(stage.log, parent, middle, branch, stage.world)
    stage.session = branch
    assert dump(partition_at(stage.log, branch)) == dump(partition_at(stage.log, parent, middle))
    assert stage.state.pool == stage.log.state(parent, middle).pool
    stage.thinks(*(f"ice ice ice {n}" for n in range(5)))
    stage.changes_embedder("other")
    stage.thinks_a_lot(2, start=300)
    agrees(stage, branch)
    agrees(stage, parent)
    assert dump(partition_at(stage.log, parent)) == before
    assert dump(partition_at(stage.log, branch)) != before


# what a mind is shown


def test_every_prompt_can_be_rendered_again(tmp_path: Path) -> None:
    """From the state it was based on, its sample, who called whom back, and the time."""
    stage = Cast(tmp_path)
    stage.begins(sampling="recall", active_pool_size=12, thought_display_count=9)
    stage.thinks_a_lot(14)
    recalled = 0
    for invocation in stage.events(MindInvoked):
        state = stage.log.state(stage.session, invocation.based_on)
        known = {t.version: t for t in state.pool.active}
        called = {version: (by, chance) for version, by, chance in invocation.recalled}
        beyond = thoughts_at(stage.log, state, [v for v in invocation.sampled if v in called])
        known |= {t.version: t for t in beyond}
        drawn = Sample(
            tuple(known[v] for v in invocation.sampled),
            tuple(Recalled(known[v], *called[v]) for v in called),
        )
        view = observe(state, drawn, invocation.user_time)
        prompt = prompt_text(view, invocation.dialect)
        assert sha256(prompt.encode()).digest() == invocation.prompt_hash
        memory = Gatherer(stage.log, stage.embedder_for).memory(state)
        assert sample(state.pool, thoughts_limit(state), invocation.seed, memory) == drawn
        recalled += len(called)
    assert recalled > 5
    agrees(stage)


def test_only_older_members_of_a_sparse_cluster_come_back(tmp_path: Path) -> None:
    """Each is of its caller's cluster and beyond the pool; the chance is one in so many."""
    stage = Cast(tmp_path)
    stage.begins(sampling="recall", active_pool_size=10)
    stage.thinks_a_lot(14)
    seen = 0
    for invocation in stage.events(MindInvoked):
        state = stage.log.state(stage.session, invocation.based_on)
        partition = partition_at(stage.log, stage.session, invocation.based_on)
        pool = {t.version for t in state.pool.active}
        for version, caller, chance in invocation.recalled:
            cluster = partition.label(caller)
            assert cluster is not None
            assert cluster == partition.label(version)
            assert caller in pool
            assert version not in pool
            assert state.pool.sizes[cluster] <= 2
            older = [m for m in partition.clusters[cluster].members if m not in pool]
            assert chance == 1 / len(older)
            order = invocation.sampled
            assert order.index(version) == order.index(caller) + 1
            seen += 1
    assert seen > 3


def test_who_stands_alone_calls_nobody(stage: Cast) -> None:
    """There is nobody to call."""
    stage.does(
        ChangeConfig(key="sampling", value="recall"),
        ChangeConfig(key="clustering", value="off"),
        ChangeConfig(key="active_pool_size", value="3"),
    )
    stage.thinks_a_lot(6)
    assert [e.recalled for e in stage.events(MindInvoked)] == [()] * 6
    memory = stage.gatherer.memory(stage.state)
    assert [list(memory.older(cluster)) for cluster in (0, 1, 99)] == [[], [], []]


def test_a_whole_run(tmp_path: Path) -> None:
    """Through ``run_session``, with a draft in the end."""
    stage = Cast(tmp_path)
    stage.begins(sampling="recall", active_pool_size=15)
    numbers = iter(range(1000))
    lines = [reply(*(sentence(TOPICS[next(numbers) * 7 % 5], next(numbers)) for _ in range(4)))] * 1
    for _ in range(7):
        lines.append(reply(*(sentence(TOPICS[n % 5], next(numbers)) for n in range(5))))
    stopped = stage.runs(*lines, "draft: Two.", gatherer=stage.gatherer, iterations=9)
    assert (stopped.reason, stopped.iterations) == ("limit", 9)
    assert stage.problems == []
    assert len(stage.events(ThoughtClustered, ClusterFormed)) > 5
    agrees(stage)
    assert [f for verdict in stage.log.verify() for f in verdict.findings] == []


# somebody else is faster


class Rushed(Gatherer):
    """Between each of its first decisions and the append, somebody else appends."""

    def __init__(self, log: EventLog, stage: Cast, times: int) -> None:
        super().__init__(log, stage.embedder_for, stage.problems.append)
        self.stage, self.times, self.decisions = stage, times, 0

    def decide(self, session: Session, placed: Sequence[Placed]) -> list[Event]:
        """Decide; and then somebody else thinks something."""
        decided = super().decide(session, placed)
        self.decisions += 1
        if self.decisions <= self.times:
            with EventLog(self.stage.log.place.home) as other:
                gatherer = Gatherer(other, self.stage.embedder_for, pytest.fail)
                text = sentence("moon", 900 + self.decisions)
                embedded = gatherer.embedded(other.state(session.id), [text])
                wish = InjectThought(
                    text=text, by="user:bob", embedded=embedded, gather=gatherer.decide
                )
                handle(other, session.id, wish, SteadyWorld(f"bob{self.decisions}"))
        return decided


@pytest.mark.parametrize("times", [1, 3, 5])
def test_a_lost_race_is_decided_again(stage: Cast, times: int) -> None:
    """On the state as it is by then, be it while nobody else may write."""
    stage.thinks_a_lot(4)
    stage.gatherer = Rushed(stage.log, stage, times)
    same = sentence("moon", 901)  # the other one has this very thought
    stage.thinks(sentence("sun", 800), same, sentence("wind", 800))
    assert stage.gatherer.decisions == times + 1
    assert stage.problems == []
    agrees(stage)
    texts = [e.text for e in stage.events(ThoughtAdded)]
    assert texts[20:] == [
        *(sentence("moon", 901 + n) for n in range(times)),
        *(sentence("sun", 800), same, sentence("wind", 800)),
    ]
    assert len(stage.events(MindInvoked)) == 5
    counts = [e.count for e in stage.events(ClusteringCalibrated)]
    assert counts == sorted(set(counts))
    again = partition_at(stage.log, stage.session)
    assert dump(stage.gatherer.at(stage.session, stage.state.version).partition) == dump(again)


def test_a_race_about_the_width_of_vectors(stage: Cast) -> None:
    """Two with different models behind one name: the second one's vectors are of no use here."""
    other = Wordy(width=40)
    narrow = stage.gatherer.embedded(stage.state, ["moon"])
    wide = Gatherer(stage.log, lambda _: other, pytest.fail).embedded(stage.state, ["sun"])
    stage.does(
        InjectThought(text="moon", by="user:ann", embedded=narrow, gather=stage.gatherer.decide),
        InjectThought(text="sun", by="user:bob", embedded=wide, gather=stage.gatherer.decide),
    )
    agrees(stage)
    assert [t.embedded for t in stage.state.pool.active] == [True, False]
    stage.thinks("wind")
    assert not stage.state.pool.waiting
    agrees(stage)


def test_vectors_of_a_model_that_was_changed_meanwhile_are_of_no_use(stage: Cast) -> None:
    """The thought is kept, and waits for one of the new model."""
    embedded = stage.gatherer.embedded(stage.state, ["moon"])
    stage.does(ChangeConfig(key="embedding_model", value="off"))
    wish = InjectThought(text="moon", by="user:ann", embedded=embedded, gather=pytest.fail)
    stage.does(wish)
    (added,) = stage.events(ThoughtAdded)
    assert (added.embedding, added.dimension) == (None, None)
    assert len(stage.state.pool.waiting) == 1
