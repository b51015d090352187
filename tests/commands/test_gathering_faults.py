"""Whatever an embedder does, no thought and no draft is lost, and thoughts catch up later."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands.command import Command, Decision
from commands.embedders.embedder import Answer, EmbedderFailed, EmbedderUnavailable
from commands.eventlog import EventLog
from commands.gatherer import Gatherer
from commands.iterate import iterate
from commands.sessions import ChangeConfig
from commands.thinking import Placed
from domain.clustering.fold import partition_at
from domain.config import Config
from domain.events import (
    ClusterFormed,
    ConfigChanged,
    DraftEmitted,
    MindInvoked,
    RunStopped,
    ThoughtAdded,
    ThoughtEmbedded,
)
from domain.session import Session
from tests.commands.test_gatherer import Cast, agrees, reply, sentence
from tests.fakes.embedders import Wordy
from tests.stories.cast import Rehearsed, kinds

DRAFT = "Because the moon pulls on both sides."
MOONS = tuple(sentence("moon", n) for n in range(4))
SAID = f"{reply(*MOONS)}\ndraft: {DRAFT}"

FAILED = EmbedderFailed("The provider is in trouble (HTTP 503).", retryable=False)
LATER = EmbedderFailed("Too many requests.", retryable=True, retry_after=3600)
MISSING = EmbedderUnavailable("local needs the package onnxruntime.")


def spoilt(number: float) -> Callable[[Any], Any]:
    """The last row has such a number in it."""

    def change(rows: Any) -> Any:
        rows[-1, -1] = number
        return rows

    return change


FAULTS: dict[str, tuple[Any, int, str]] = {
    "refused": (FAILED, 4, "HTTP 503"),
    "later": (LATER, 4, "Too many requests"),
    "missing": (MISSING, 4, "onnxruntime"),
    "nan": (spoilt(np.nan), 1, "gave none that can be used"),
    "infinite": (spoilt(-np.inf), 1, "gave none that can be used"),
    "all nan": (lambda rows: rows * np.nan, 4, "gave none that can be used"),
    "zero": (lambda rows: rows * 0, 4, "gave none that can be used"),
    "empty": (lambda rows: rows[:, :0], 4, "gave none that can be used"),
}
"""By name: what it does, how many of the four thoughts wait then, and what is told."""


@pytest.fixture
def cast(tmp_path: Path) -> Iterator[Callable[..., Cast]]:
    """A session whose embedder does these things in turn."""
    casts: list[Cast] = []

    def make(*lines: Any, **settings: Any) -> Cast:
        stage = Cast(tmp_path / str(len(casts)), *lines)
        stage.begins(**settings)
        casts.append(stage)
        return stage

    yield make
    for stage in casts:
        stage.log.close()


def says(stage: Cast, *lines: Any) -> None:
    """One iteration with this reply."""
    mind = Rehearsed(*lines)
    iterate(stage.log, stage.session, mind, stage.world, seen=True, gatherer=stage.gatherer)


def kept(stage: Cast) -> None:
    """All four thoughts and the draft are in the log, once."""
    assert [e.text for e in stage.events(ThoughtAdded)][:4] == list(MOONS)
    assert [e.text for e in stage.events(DraftEmitted)] == [DRAFT]
    assert stage.events(MindInvoked)[0].outcome == "ok"


@pytest.mark.parametrize("fault", FAULTS)
def test_thoughts_wait_for_an_embedder_that_fails(cast: Any, fault: str) -> None:
    """They and the draft are kept, the problem is one sentence; the next iteration catches up."""
    line, waiting, told = FAULTS[fault]
    stage = cast(line)
    says(stage, SAID)
    kept(stage)
    assert len(stage.state.pool.waiting) == waiting
    (problem,) = stage.problems
    assert told in problem
    assert problem.endswith(".")
    assert "\n" not in problem
    agrees(stage)
    version = stage.state.version
    says(stage, reply("a fifth thought of the moon"))
    assert kinds(stage.history()[version:])[: 3 + waiting] == [
        *("mind.invoked", "thought.added", "mind.signalled"),
        *["thought.embedded"] * waiting,
    ]
    assert len({r.command for r in stage.history()[version:]}) == 1
    assert not stage.state.pool.waiting
    assert len(stage.problems) == 1
    agrees(stage)
    assert {stage.clusters[text] for text in MOONS} == {1}
    assert len(stage.events(ClusterFormed)) == 1


def test_rows_that_nobody_can_tell_apart(cast: Any) -> None:
    """One row too few, each time it is asked: after some attempts the thoughts wait."""
    stage = cast(*[lambda rows: rows[1:]] * 3)
    says(stage, SAID)
    kept(stage)
    assert len(stage.state.pool.waiting) == 4
    assert len(stage.embedders["local"].asked) == 3
    assert "3 vectors for 4 texts" in stage.problems[0]
    says(stage, reply("more"))
    assert not stage.state.pool.waiting


def test_rows_of_another_width(cast: Any) -> None:
    """They can't be compared with what is there; those of the right width are taken again."""
    stage = cast(None, lambda rows: rows[:, :7], lambda _: Answer(np.ones((2, 16))))
    says(stage, SAID)
    says(stage, reply("of the sun"))
    assert [t.text for t in stage.state.pool.waiting] == ["of the sun"]
    (problem,) = stage.problems
    assert "vectors of 7 numbers where others have 16" in problem
    says(stage, reply("of the wind"))
    assert not stage.state.pool.waiting
    agrees(stage)
    assert stage.events(MindInvoked)[2].embedding_tokens is None


def test_no_row_is_a_matrix(cast: Any) -> None:
    """One long row of numbers instead of four."""
    stage = cast(*[lambda rows: rows.reshape(-1)] * 3)
    says(stage, SAID)
    kept(stage)
    assert len(stage.state.pool.waiting) == 4
    assert len(stage.problems) == 1


def test_an_embedder_that_stays_away(cast: Any) -> None:
    """Told once with each iteration; when it is back, all that wait catch up in one append."""
    stage = cast(*[FAILED] * 5)
    for n in range(5):
        says(stage, reply(*(sentence(topic, n) for topic in ("moon", "sun", "wind"))))
    assert len(stage.state.pool.waiting) == 15
    assert len(stage.problems) == 5
    assert len(set(stage.problems)) <= 5
    says(stage, "thoughts: []")
    assert not stage.state.pool.waiting
    assert [len(texts) for texts in stage.embedders["local"].asked] == [3, 6, 9, 12, 15, 15]
    agrees(stage)
    moons = {c for text, c in stage.clusters.items() if text.startswith("moon")}
    assert len(moons) == 1
    assert moons != {None}


def test_a_slow_embedder_has_the_time_it_is_given(cast: Any) -> None:
    """It keeps to it by its own clock, and fails; nobody waits longer."""
    stage = cast()
    slow = Slow(60.0)
    stage.embedders["local"] = slow
    says(stage, SAID)
    kept(stage)
    assert slow.clock == sum(slow.timeouts) <= 120.0
    assert all(0 < timeout <= 30.0 for timeout in slow.timeouts)
    assert len(stage.state.pool.waiting) == 4
    assert "took longer than 30 seconds" in stage.problems[0]
    slow.takes = 5.0
    says(stage, reply("more"))
    assert not stage.state.pool.waiting


class Slow(Wordy):
    """An embedder that takes so many seconds of a clock that only it looks at."""

    def __init__(self, takes: float) -> None:
        super().__init__()
        self.takes, self.clock = takes, 0.0

    def vectors(self, texts: Any, timeout: float) -> Answer:
        """Give up when the time is over."""
        self.clock += min(self.takes, timeout)
        if self.takes > timeout:
            self.timeouts.append(timeout)
            raise EmbedderFailed(f"local took longer than {timeout:.0f} seconds.", retryable=False)
        return super().vectors(texts, timeout)


def test_no_embedder_can_be_made(cast: Any) -> None:
    """A key or a package is missing: told, with what to do; asked for anew each time."""
    stage = cast()
    calls = iter([MISSING, MISSING, None])

    def embedder_for(config: Config) -> Wordy:
        error = next(calls)
        if error is not None:
            raise error
        return stage.embedder_for(config)

    stage.gatherer = Gatherer(stage.log, embedder_for, stage.problems.append)
    says(stage, SAID)
    says(stage, reply("more"))
    kept(stage)
    assert stage.problems == [f"Thoughts wait for their vectors: {MISSING.sentence}"] * 2
    says(stage, reply("yet more"))
    assert not stage.state.pool.waiting


@pytest.mark.parametrize("error", [RuntimeError("onnx broke"), MemoryError(), ValueError("a\nb")])
def test_an_embedder_that_breaks(cast: Any, error: Exception) -> None:
    """No embedder should: its thoughts and the draft are kept, told in a sentence, and go on."""
    stage = cast(error)
    says(stage, SAID)
    kept(stage)
    assert len(stage.events(MindInvoked)) == 1
    assert len(stage.state.pool.waiting) == 4
    assert len(stage.problems) == 1
    says(stage, reply("more"))
    assert not stage.state.pool.waiting
    agrees(stage)


def test_the_user_breaks_off_while_vectors_are_made(cast: Any) -> None:
    """What the mind had said is kept; the run ends, and the next one catches up."""
    stage = cast(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        says(stage, SAID)
    kept(stage)
    assert len(stage.events(MindInvoked)) == 1
    assert stage.problems == []
    assert len(stage.state.pool.waiting) == 4
    stage.embedders["local"] = broken = Wordy(KeyboardInterrupt())
    stage.gatherer = Gatherer(stage.log, stage.embedder_for, stage.problems.append)
    stopped = stage.runs(reply("more"), gatherer=stage.gatherer)
    assert (stopped.reason, stage.state.work.run) == ("interrupted", None)
    assert [e.text for e in stage.events(ThoughtAdded)] == [*MOONS, "more"]
    assert broken.asked
    stage.runs(reply("yet more"), gatherer=stage.gatherer, iterations=1)
    assert not stage.state.pool.waiting
    agrees(stage)


class Interrupted(Gatherer):
    """The user breaks off in the middle of the first decision, when something is half tried."""

    broken = False

    def decide(self, session: Session, placed: Any) -> Any:
        """Break off within a trial, once."""
        if not self.broken:
            self.broken = True
            partition = self.at(session.id, session.version).partition
            with partition.trial():
                partition.apply(ClusterFormed(cluster=9, members=(), how="linkage", similarity=0))
                raise KeyboardInterrupt
        return super().decide(session, placed)


def test_the_user_breaks_off_while_it_is_decided(cast: Any) -> None:
    """The thoughts are kept, and wait; what was tried is taken back."""
    stage = cast()
    says(stage, reply("of the sun"))
    stage.gatherer = Interrupted(stage.log, stage.embedder_for, stage.problems.append)
    with pytest.raises(KeyboardInterrupt):
        says(stage, SAID)
    assert [e.text for e in stage.events(ThoughtAdded)] == ["of the sun", *MOONS]
    assert [e.text for e in stage.events(DraftEmitted)] == [DRAFT]
    assert len(stage.state.pool.waiting) == 4
    says(stage, reply("more"))
    assert not stage.state.pool.waiting
    agrees(stage)
    assert set(stage.clusters.values()) - {None} == {1}


def test_the_log_breaks_while_it_is_decided(cast: Any) -> None:
    """A decision that can't be made is told; thoughts keep their vectors and stand alone."""
    stage = cast()
    says(stage, SAID)
    placed = [Placed(99, e) for e in stage.gatherer.embedded(stage.state, ["new"]).new if e]
    closed = EventLog(stage.log.place.home)
    closed.close()
    gatherer = Gatherer(closed, stage.embedder_for, stage.problems.append)
    assert gatherer.decide(stage.state, placed) == []
    (problem,) = stage.problems
    assert problem.startswith("New thoughts stand alone, since clustering failed (")


def test_hdbscan_is_not_installed(cast: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the session was begun it was: told with each iteration, and nothing is lost."""
    stage = cast()
    stage.does(Tampering(event=ConfigChanged(key="founder", old="auto", new="hdbscan")))
    monkeypatch.setitem(sys.modules, "hdbscan", None)
    says(stage, SAID)
    kept(stage)
    assert not stage.state.pool.waiting
    assert set(stage.clusters.values()) == {None}
    (problem,) = stage.problems
    assert "hdbscan" in problem
    stage.does(ChangeConfig(key="founder", value="auto"))
    says(stage, reply("moon and moon moon number 5"))
    assert len(stage.problems) == 1
    agrees(stage)
    assert {stage.clusters[text] for text in MOONS} == {1}


def test_a_log_that_was_tampered_with(cast: Any) -> None:
    """A vector that is none costs the clusters, and nothing else."""
    stage = cast()
    says(stage, SAID)
    bad = ThoughtEmbedded(thought=99, embedding=b"xxx", embedding_model="x", dimension=16)
    stage.does(Tampering(event=bad))
    says(stage, f"{reply('more', 'and more')}\ndraft: Something else altogether.")
    assert len(stage.events(MindInvoked)) == 2
    assert len(stage.events(DraftEmitted)) == 2
    assert [e.text for e in stage.events(ThoughtAdded)] == [*MOONS, "more", "and more"]
    assert stage.problems
    with pytest.raises(ValueError, match="vector"):
        partition_at(stage.log, stage.session)


class Tampering(Command):
    """Anything at all, into the log."""

    event: Any

    def decide(self, _: Session) -> Decision:
        """Just that."""
        yield self.event


def test_a_run_goes_on_without_vectors(cast: Any) -> None:
    """To its own end, whatever the embedder does."""
    stage = cast(*[FAILED] * 9)
    stopped = stage.runs(reply("a", "b"), reply("c"), f"draft: {DRAFT}", gatherer=stage.gatherer)
    assert (stopped.reason, stopped.iterations) == ("draft", 3)
    assert [e.reason for e in stage.events(RunStopped)] == ["draft"]
    assert len(stage.state.pool.waiting) == 3
