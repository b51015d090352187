"""Where a thought came from: the same as its partition says, without one."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.forks import fork_session
from commands.iterate import iterate
from commands.recording import RecordIteration
from commands.sessions import ChangeConfig, start_session
from commands.thinking import InjectThought
from domain.clustering.fold import partition_at
from domain.errors import NotAThought
from domain.events import MindInvoked, Source, ThoughtAdded, ThoughtClustered
from domain.ids import SessionId
from domain.recorded import Draw
from projections.lineage import ITERATIONS_LOOKED_AT, cluster_of, line, origin, vectors
from projections.past import as_of
from tests.domain.happened import FIRST, invoked
from tests.often import often
from tests.projections.branching import Branch, branches, grown
from tests.stories.cast import Rehearsed, Stage
from tests.stories.thinker import Cast, sentence
from tests.strategies import Wish, turns


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cast]:
    """Sixteen iterations on five topics, five thoughts each, and two of the user's."""
    cast = Cast(tmp_path_factory.mktemp("thinking") / "store")
    cast.begins(active_pool_size=40)
    cast.thinks_a_lot(8)
    cast.injects(sentence("moon", 100))
    cast.thinks_a_lot(8, start=40)
    cast.injects(sentence("sand", 101))
    yield cast
    cast.log.close()


def thoughts(stage: Stage) -> list[int]:
    """All of the session."""
    return [r.version for r in stage.history() if isinstance(r.event, ThoughtAdded)]


def test_a_thought_comes_from_those_it_was_shown(stage: Cast) -> None:
    """All of them, the nearest first, with the cluster that the mind was told."""
    version = [t.version for t in stage.state.pool.active if t.origin == "mind"][-1]
    found = origin(stage.log, stage.session, version)
    invocation = stage.events(MindInvoked)[-1]
    assert {a.version for a in found.ancestors} == set(invocation.sampled)
    near = [a.similarity or 0 for a in found.ancestors]
    assert near == sorted(near, reverse=True)
    then = stage.log.state(stage.session, invocation.based_on)
    clusters = {t.version: t.cluster for t in then.pool.active}
    assert {a.version: a.cluster for a in found.ancestors} == {
        v: clusters[v] for v in invocation.sampled
    }
    assert found.message is not None
    assert (found.message.text, found.message.version) == ("why two tides?", 2)
    assert (found.iteration, found.mind, found.origin) == (16, "rehearsed", "mind")
    assert (found.active, found.redacted, found.source) == (True, False, None)


def test_the_nearest_lead_back(stage: Cast) -> None:
    """Each thought of the line is the nearest of those before it, as far as asked for."""
    first = origin(stage.log, stage.session, thoughts(stage)[-2])
    found = [first, *line(stage.log, stage.session, first, 3)]
    assert len(found) == 4
    assert [o.version for o in found[1:]] == [o.ancestors[0].version for o in found[:-1]]
    assert line(stage.log, stage.session, first, 0) == []
    everything = line(stage.log, stage.session, first, 10**6)
    assert everything[:3] == found[1:]
    assert everything[-1].ancestors == ()


def test_similarities_are_those_of_the_partition(stage: Cast) -> None:
    """The same vectors to the last bit, of which only those that are asked for are read."""
    partition = partition_at(stage.log, stage.session)
    every = thoughts(stage)
    assert partition.versions == every
    rows = vectors(stage.log, stage.session, every)
    for version, exact in zip(every, partition.vectors(every), strict=True):
        assert rows[version].tobytes() == exact.tobytes()
    found = origin(stage.log, stage.session, every[-2])
    for ancestor in found.ancestors:
        expected = float(rows[every[-2]] @ rows[ancestor.version])
        assert ancestor.similarity == round(expected, 4)


def test_clusters_are_those_of_the_partition(tmp_path: Path) -> None:
    """Of every thought at many moments, in the pool and beyond it, whatever was decided."""
    dice = Random(0)  # noqa: S311 — repeatable on purpose
    cast = Cast(tmp_path / "store")
    cast.begins(active_pool_size=30)
    for n in range(14):
        words = ["moon", "sun", "wind", "sand", "bay", "sea"]
        cast.thinks(*(f"{' '.join(dice.choices(words, k=4))} {n}{m}" for m in range(5)))
    assert {e.how for e in cast.events(ThoughtClustered)} == {"joined", "reached", "moved"}
    decided = {"cluster.formed", "cluster.merged", "cluster.split"}
    assert decided < {r.event.kind for r in cast.history()}
    head = cast.state.version
    for upto in (*range(3, head, 37), head):
        log = as_of(cast.log, cast.session, upto)
        state, partition = log.state(cast.session), partition_at(log, cast.session)
        for version in (v for v in thoughts(cast) if v <= upto):
            assert cluster_of(log, state, version) == partition.label(version)
    cast.log.close()


def test_vectors_of_another_model_are_compared_with_their_like(tmp_path: Path) -> None:
    """After a change, those of the pool have new ones; what is older has none and is last."""
    cast = Cast(tmp_path / "store")
    cast.begins(active_pool_size=5, thought_display_count=5)
    cast.thinks_a_lot(3, each=3)
    cast.changes_embedder("other")
    cast.injects("moon and moon moon again")
    cast.thinks("moon and moon moon number 77")
    every = thoughts(cast)
    partition = partition_at(cast.log, cast.session)
    rows = vectors(cast.log, cast.session, every)
    assert set(rows) == {v for v in every if partition.has(v)}
    assert 0 < len(rows) < len(every)
    for version, vector in rows.items():
        (exact,) = partition.vectors([version])
        assert vector.tobytes() == exact.tobytes()
    for version in every:
        assert cluster_of(cast.log, cast.state, version) == partition.label(version)
    found = origin(cast.log, cast.session, every[-1])
    assert found.ancestors
    assert all(a.similarity is not None for a in found.ancestors)
    old = origin(cast.log, cast.session, every[4])
    assert [a.similarity for a in old.ancestors] == [None] * len(old.ancestors)
    assert [a.version for a in old.ancestors] == sorted(a.version for a in old.ancestors)
    assert line(cast.log, cast.session, old, 9) == []
    cast.log.close()


def test_vectors_that_came_late_count(tmp_path: Path) -> None:
    """Of thoughts that waited, and of those that say the very same."""
    cast = Cast(tmp_path / "store")
    cast.begins(embedding_model="off")
    cast.thinks("moon moon", "sun moon", "moon moon")
    waiting = thoughts(cast)
    assert vectors(cast.log, cast.session, waiting) == {}
    cast.changes_embedder("local")
    cast.thinks("moon moon", "sun moon moon")
    every = thoughts(cast)
    rows = vectors(cast.log, cast.session, every)
    assert set(rows) == set(every)
    assert rows[every[3]].tobytes() == rows[every[0]].tobytes()
    found = origin(cast.log, cast.session, every[3])
    near = [a.similarity or 0 for a in found.ancestors]
    assert near[:2] == pytest.approx([1, 1], abs=1e-3)
    assert 0 < near[2] < 0.95
    cast.log.close()


def test_what_the_user_thought_came_from_nobody(tmp_path: Path) -> None:
    """It has no invocation and no ancestors, and no vector is looked for."""
    stage = Stage(tmp_path).begins()
    stage.does(InjectThought(text="what of the wind?", by="user:ann"))
    found = origin(stage.log, stage.session, stage.state.pool.active[0].version)
    assert (found.mind, found.invoked, found.message, found.ancestors) == (
        "user:ann",
        None,
        None,
        (),
    )
    assert found.audience == ((), 0)
    stage.log.close()


@pytest.mark.parametrize(("version", "words"), [(2, r"is a message\.sent"), (10**6, "not exist")])
def test_what_is_no_thought_is_refused(stage: Cast, version: int, words: str) -> None:
    """With what it is instead."""
    with pytest.raises(NotAThought, match=words):
        origin(stage.log, stage.session, version)


def test_who_was_shown_it(stage: Cast) -> None:
    """The later iterations whose sample holds it, of as many as are looked at."""
    for version in thoughts(stage)[::7]:
        found = origin(stage.log, stage.session, version)
        later = [
            r.event
            for r in stage.history()
            if isinstance(r.event, MindInvoked) and r.version > version
        ]
        assert found.audience.looked_at == len(later)
        shown = [e.iteration for e in later if version in e.sampled]
        assert list(found.audience.iterations) == shown


def test_only_so_many_iterations_are_looked_at(tmp_path: Path) -> None:
    """And it is said how many."""
    stage = Stage(tmp_path).begins()
    stage.does(InjectThought(text="what of the wind?", by="user:ann"))
    version = stage.state.version
    for _ in range(ITERATIONS_LOOKED_AT + 2):
        state = stage.state
        invocation = invoked(1, based_on=state.version, sampled=(version,))
        stage.does(RecordIteration(invocation=invocation, exchange=FIRST))
    audience = origin(stage.log, stage.session, version).audience
    assert audience.looked_at == ITERATIONS_LOOKED_AT
    assert audience.iterations == tuple(range(1, ITERATIONS_LOOKED_AT + 1))
    stage.log.close()


def test_a_late_thought_was_an_answer_to_what_was_asked_then(tmp_path: Path) -> None:
    """Not to the message that came while the mind was at work."""
    stage = Stage(tmp_path).begins()
    stage.runs("draft: an answer that will be accepted")

    def act(*_: object) -> str:
        stage.does(AcceptDraft(), SendMessage(text="and spring tides?"))
        return "thoughts: [too late]"

    iterate(stage.log, stage.session, Rehearsed(act), stage.world, seen=True)
    found = origin(stage.log, stage.session, stage.state.version)
    assert found.text == "too late"
    assert found.message is not None
    assert found.message.text == "why two tides?"
    stage.log.close()


def test_a_thought_that_was_called_back_says_by_whom(tmp_path: Path) -> None:
    """With the chance of it, and the cluster of the thought that called."""
    cast = Cast(tmp_path / "store")
    cast.begins(sampling="recall", active_pool_size=10, thought_display_count=30)
    cast.thinks_a_lot(10)
    last = next(e for e in reversed(cast.events(MindInvoked)) if e.recalled)
    thought = next(
        r.version
        for r in cast.history()
        if isinstance(r.event, ThoughtAdded) and r.event.iteration == last.iteration
    )
    found = origin(cast.log, cast.session, thought)
    recalled = {a.version: a for a in found.ancestors if a.recalled_by is not None}
    assert {(a.version, a.recalled_by, a.chance) for a in recalled.values()} == set(last.recalled)
    clusters = {a.version: a.cluster for a in found.ancestors}
    for a in recalled.values():
        assert a.cluster == clusters[a.recalled_by or 0]
    cast.log.close()


def test_an_imported_thought_leads_on_where_it_is_from(tmp_path: Path) -> None:
    """The line goes on in the other session, while that holds the very same event."""
    cast = Cast(tmp_path / "store")
    cast.begins()
    cast.thinks("moon moon", "sun moon")
    cast.thinks("moon moon sun")
    version = cast.state.version
    while not isinstance(cast.log.pick(cast.session, [version])[0].event, ThoughtAdded):
        version -= 1
    head = cast.log.head(cast.session, version)
    here = SessionId("here")
    start_session(cast.log, here, cast.world, message="another question")
    for hash_ in (head.hash, bytes(32)):
        source = Source(cast.session, version, hash_)
        event = ThoughtAdded(
            text="moon moon sun", iteration=1, mind="rehearsed", origin="imported", source=source
        )
        state = cast.log.state(here)
        draw = Draw([event.because(1)], 2**50, cast.world.actor, cast.world.command_id())
        cast.log.append(here, state.version, draw)
        first = origin(cast.log, here, state.version + 1)
        assert first.source is not None
        assert first.source.here is (hash_ == head.hash)
        found = line(cast.log, here, first, 2)
        if first.source.here:
            assert [(o.session, o.version) for o in found[:1]] == [("tides", version)]
            assert found[1].version == found[0].ancestors[0].version
        else:
            assert found == []
    cast.log.close()


def test_a_branch_knows_what_its_parent_thought(stage: Cast) -> None:
    """The same origin as the parent gives at the fork, and nothing of what came there later."""
    middle = thoughts(stage)[42]
    child, grandchild = SessionId("tides/b"), SessionId("tides/b/c")
    fork_session(stage.log, stage.session, middle, child, stage.world)
    fork_session(stage.log, child, middle, grandchild, stage.world)
    then = as_of(stage.log, stage.session, middle)
    for version in (middle, thoughts(stage)[3]):
        expected = origin(then, stage.session, version)
        assert origin(stage.log, child, version) == expected
        assert origin(stage.log, grandchild, version) == expected


@often(6, 15, turns, branches)
def test_the_pool_and_what_lies_beyond_agree(steps: list[Wish], more: list[Branch]) -> None:
    """What happens to a thought beyond the pool is found as what happens within is."""
    with grown(steps, more) as log:
        for session in log.sessions():
            state = log.state(session)
            empty = state._replace(pool=state.pool._replace(active=()))
            for thought in state.pool.active:
                assert cluster_of(log, empty, thought.version) == thought.cluster


def test_settings_that_are_not_about_vectors_change_nothing(tmp_path: Path) -> None:
    """Only another embedder makes vectors and clusters begin again."""
    cast = Cast(tmp_path / "store")
    cast.begins()
    cast.thinks("moon moon one", "moon moon two", "moon moon three", "moon moon four")
    cast.thinks("moon moon five")
    before = [cluster_of(cast.log, cast.state, v) for v in thoughts(cast)]
    cast.does(ChangeConfig(key="active_pool_size", value="1"))
    assert [cluster_of(cast.log, cast.state, v) for v in thoughts(cast)] == before
    assert any(before)
    assert set(vectors(cast.log, cast.session, thoughts(cast))) == set(thoughts(cast))
    cast.log.close()
