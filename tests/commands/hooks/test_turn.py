"""What a hook sees of a session."""

from collections import Counter

import numpy as np
import pytest

from commands.forks import fork_session
from commands.gatherer import Gatherer
from commands.hooks.hook import as_hook
from commands.hooks.turn import Scene, Turn
from commands.sessions import ChangeConfig
from domain.events import ThoughtAdded
from domain.ids import SessionId
from tests.commands.hooks.conftest import muses
from tests.stories.cast import Stage

DRAFT = "draft: Because the moon pulls on both sides."


def turn_of(stage: Stage, gatherer: Gatherer | None = None) -> Turn:
    """A hook's turn, now."""
    return Turn(Scene(stage.log, stage.session, stage.world, gatherer), "eye", 1)


def thinking(stage: Stage, iterations: int, each: int = 3) -> None:
    """The mind has some thoughts."""
    for n in range(iterations):
        stage.runs(muses(*(f"thought {n * each + k}" for k in range(each))), iterations=1)


def test_a_sample_is_drawn_from_the_whole_history(stage: Stage) -> None:
    """Seeded, without replacement, oldest first, far beyond the pool."""
    thinking(stage, 40)
    turn = turn_of(stage)
    pool = {t.version for t in turn.session.pool.active}
    drawn = turn.thoughts(30, 1)
    assert len({t.version for t in drawn}) == 30
    assert list(drawn) == sorted(drawn)
    assert {t.version for t in drawn} - pool
    assert turn.thoughts(30, 1) == drawn
    assert turn.thoughts(30, 2) != drawn
    everything = turn.thoughts(1000, 1)
    assert [t.text for t in everything] == [f"thought {n}" for n in range(120)]
    assert turn.thoughts(0, 1) == ()


def test_a_sample_of_the_pool_is_of_the_pool(stage: Stage) -> None:
    """With its thoughts as the state has them."""
    thinking(stage, 20)
    turn = turn_of(stage)
    drawn = turn.thoughts(10, 1, pool=True)
    assert len(drawn) == 10
    assert set(drawn) < set(turn.session.pool.active)
    assert turn.thoughts(99, 1, pool=True) == turn.session.pool.active


def test_a_sample_is_uniform(stage: Stage) -> None:
    """Each thought is drawn as often as any other: 12 of them, 4 at a time, 600 times."""
    thinking(stage, 4)
    turn = turn_of(stage)
    drawn = Counter(t.text for seed in range(600) for t in turn.thoughts(4, seed))
    assert len(drawn) == 12
    # 200 each; five standard deviations of a binomial
    assert all(abs(count - 200) < 58 for count in drawn.values()), drawn


def test_history_is_that_of_the_session(stage: Stage) -> None:
    """By kind, from a version on, from either end; with what it inherited, and no other's."""
    thinking(stage, 2)
    other = SessionId("other")
    fork_session(stage.log, stage.session, 4, other, stage.world)
    turn = Turn(Scene(stage.log, other, stage.world), "eye", 1)
    assert [r.version for r in turn.history()] == [1, 2, 3, 4, 5]
    turn = turn_of(stage)
    thoughts = [r.event for r in turn.history("thought.added")]
    assert thoughts == stage.events(ThoughtAdded)
    newest = next(turn.history("thought.added", "run.started", newest_first=True))
    assert newest.event == thoughts[-1]
    assert next(turn.history(after=3)).version == 4


def test_history_ends_where_the_turn_is(stage: Stage) -> None:
    """What the hook has done itself is in it; what others do meanwhile is not, for now."""
    turn = turn_of(stage)
    thinking(stage, 1)
    assert list(turn.history("thought.added")) == []
    version = turn.inject("mine")
    assert list(turn.history())[-1].version == version == turn.session.version
    assert len(list(turn.history("thought.added"))) == 4


GROUPS = [*(f"{letter} thought {n}" for n in range(8) for letter in "abc"), "z stands alone"]


def test_thoughts_beyond_the_pool_have_clusters_and_vectors(
    stage: Stage, gatherer: Gatherer
) -> None:
    """The same with and without the gatherer of a run; those in the pool as the state has them."""
    stage.does(ChangeConfig(key="active_pool_size", value="10"))
    for start in range(0, len(GROUPS), 5):
        stage.runs(muses(*GROUPS[start : start + 5]), iterations=1, gatherer=gatherer)
    turn = turn_of(stage, gatherer)
    thoughts = turn.thoughts(99, 1)
    assert [t.text for t in thoughts] == GROUPS
    assert all(t.embedded for t in thoughts)
    clusters = {t.text[0]: t.cluster for t in thoughts}
    assert len({clusters[letter] for letter in "abc"} - {None}) == 3
    assert clusters["z"] is None
    assert all(t.cluster == clusters[t.text[0]] for t in thoughts)
    assert thoughts[-10:] == turn.session.pool.active
    assert turn_of(stage).thoughts(99, 1) == thoughts
    rows = turn.vectors(thoughts)
    assert rows.shape == (25, 96)
    assert np.allclose((rows * rows).sum(axis=1), 1, atol=1e-2)


def test_what_has_no_vector_gives_none(stage: Stage) -> None:
    """A KeyError, which names the thought."""
    thinking(stage, 1)
    turn = turn_of(stage)
    (thought, *_) = turn.thoughts(3, 1)
    assert (thought.embedded, thought.cluster) == (False, None)
    with pytest.raises(KeyError, match=str(thought.version)):
        turn.vectors([thought])


def test_what_a_hook_injects_finds_company(stage: Stage, gatherer: Gatherer) -> None:
    """Its thought has a vector and a cluster like any other, decided in the same append."""
    for start in range(0, len(GROUPS), 5):
        stage.runs(muses(*GROUPS[start : start + 5]), iterations=1, gatherer=gatherer)
    hook = as_hook(lambda turn: turn.inject("b, from outside"), "eye")
    stage.runs(DRAFT, hooks=[hook], gatherer=gatherer)
    *_, thought = stage.state.pool.active
    fellow = next(t for t in stage.state.pool.active if t.text.startswith("b"))
    assert (thought.origin, thought.embedded, thought.cluster) == ("injected", True, fellow.cluster)
    added = next(r for r in stage.history() if r.version == thought.version)
    placed = [r for r in stage.history() if r.command == added.command]
    assert [r.event.kind for r in placed] == ["thought.added", "thought.clustered"]
    assert [str(r.actor) for r in placed] == ["agent:hook:eye", "system:logosphere"]
    assert [r.cause for r in placed] == [added.version - 3, added.version]
