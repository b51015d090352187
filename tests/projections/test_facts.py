"""The facts of one moment, by name."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.forks import fork_session
from commands.minds.mind import MindFailed, Reply
from commands.presence import SetSignal
from commands.redaction import redact_events
from commands.sessions import ArchiveSession, ChangeConfig, RenameSession
from commands.thinking import InjectThought
from domain.dialogue import TEXTS_KEPT
from domain.events import Caused, DraftEmitted, Event, MessageSent, ThoughtAdded
from domain.ids import SessionId
from domain.recorded import Draw
from projections.board import board
from projections.facts import FACTS, Facts
from tests.domain.happened import formed, run_began
from tests.stories.cast import SATURDAY, Line, Stage

A, B = "The Moon pulls the near water more", "And the Earth more than the far water"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A session without a message."""
    stage = Stage(tmp_path).begins(None, embedding_model="off")
    yield stage
    stage.log.close()


def facts(stage: Stage, version: int | None = None) -> Facts:
    """The facts at a version, or now."""
    return Facts(stage.log, stage.log.state(stage.session, version))


def steps(stage: Stage, *lines: Line) -> None:
    """The mind is asked as often as it has lines; nobody looks."""
    stage.runs(*lines, mode="background", iterations=len(lines))


def happens(stage: Stage, *events: Event) -> None:
    """Record events just so."""
    draw = Draw(
        [Caused(event) for event in events],
        stage.world.now(),
        stage.world.actor,
        stage.world.command_id(),
    )
    stage.log.append(stage.session, stage.state.version, draw)


class Changes:
    """What is another fact than the last time that somebody looked."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.seen = stage, dict(facts(stage))

    def __call__(self) -> dict[str, Any]:
        """The facts that changed; version and time always do."""
        before, self.seen = self.seen, dict(facts(self.stage))
        changed = {n: v for n, v in self.seen.items() if v != before[n]}
        assert changed.pop("version") == self.stage.state.version
        assert changed.pop("at") > before["at"]
        return changed


def test_a_session_in_which_nothing_has_happened(stage: Stage) -> None:
    """What is not there is None, an empty list, or zero."""
    now = dict(facts(stage))
    assert list(now) == list(FACTS)
    assert len(facts(stage)) == len(FACTS)
    assert now["at"].startswith("2026-05-02T10:30:00.")
    assert now["config"]["model"] == now["model"] == "script:rehearsed"
    known = {"at", "config", "model"}
    assert {name: value for name, value in now.items() if value and name not in known} == {
        "session": "tides",
        "title": "tides",
        "version": 1,
        "state": "idle",
        "presence": "absent",
    }


def test_every_fact_has_a_meaning() -> None:
    """In a few words that fit on a line, and a name that is no word of conditions."""
    for name, fact in FACTS.items():
        assert name.isidentifier()
        assert name == name.lower()
        assert 5 < len(fact.meaning) < 60
        assert name not in {"like", "null", "true", "between", "in", "is", "and", "or", "not"}


def test_what_is_no_fact(stage: Stage) -> None:
    """A mapping knows what it does not have."""
    assert "drafty" not in facts(stage)
    with pytest.raises(KeyError):
        facts(stage)["drafty"]


def test_an_exchange_fact_by_fact(stage: Stage) -> None:
    """What happens changes just the facts that speak of it."""
    changes = Changes(stage)
    stage.does(SendMessage(text="why two tides?"))
    asked = {"state": "drafting", "exchange": "exc_1_000", "question": "why two tides?"}
    assert changes() == {**asked, "title": "Why two tides?"}
    steps(stage, Reply(f"thoughts: [one, two]\ndraft: {A}", "it", 10, 5, 0.25))
    assert changes() == {
        "iteration": 1,
        "tokens_in": 10,
        "tokens_out": 5,
        "cost_usd": 0.25,
        "draft": A,
        "drafts": (A,),
        "draft_count": 1,
        "unseen_count": 1,
        "thoughts": ("one", "two"),
        "thought_count": 2,
        "thoughts_ever": 2,
        "unembedded_count": 2,
    }
    stage.does(MarkSeen())
    assert changes() == {"unseen_count": 0}
    steps(stage, Reply("draft: '+1'", "it"))
    assert changes() == {
        "iteration": 2,
        "drafts": (A, "+1"),
        "draft_count": 2,
        "unseen_count": 1,
        "unknown_costs": 1,
    }
    steps(stage, Reply("thoughts: []", "it", cost_usd=0.0), Reply("skip: true", "it", cost_usd=0))
    assert changes() == {"iteration": 4, "hard_signals": 2}
    steps(stage, Reply("42", "it", cost_usd=0), MindFailed("gone", retryable=False))
    assert changes() == {"iteration": 6, "unknown_costs": 2}
    stage.does(AcceptDraft())
    assert changes() == {
        "state": "idle",
        "answer": A,
        "exchanges": 1,
        "draft": None,
        "drafts": (),
        "draft_count": 0,
        "unseen_count": 0,
    }


def test_everything_else_fact_by_fact(stage: Stage) -> None:
    """Presence, settings, titles, clusters and runs."""
    changes = Changes(stage)
    stage.does(SetSignal(presence="reviewing", status="after lunch", time=SATURDAY))
    assert changes() == {"presence": "reviewing", "status": "after lunch"}
    config = facts(stage)["config"]
    stage.does(ChangeConfig(key="model", value="script:other"))
    assert changes() == {"model": "script:other", "config": {**config, "model": "script:other"}}
    stage.does(RenameSession(title="Tides and the Sun"), ArchiveSession())
    assert changes() == {"title": "Tides and the Sun", "archived": True}
    stage.does(*(InjectThought(text=text, by="user:ann") for text in "abcde"))
    assert changes()["thoughts"] == tuple("abcde")
    versions = [thought.version for thought in stage.state.pool.active]
    happens(stage, formed(1, *versions[:2]), formed(2, *versions[2:]))
    assert changes() == {"clusters": 2, "largest_cluster": 3}
    happens(stage, run_began())
    assert changes() == {"running": True}


def test_the_pool_forgets_and_the_count_does_not(stage: Stage) -> None:
    """As many thoughts as the pool has room for."""
    stage.does(ChangeConfig(key="active_pool_size", value="2"))
    stage.does(*(InjectThought(text=text, by="user:ann") for text in "abc"))
    now = facts(stage)
    assert (now["thoughts"], now["thought_count"], now["thoughts_ever"]) == (("b", "c"), 2, 3)


def test_texts_that_the_state_no_longer_holds(stage: Stage) -> None:
    """They are read from the log, also on a fork of a fork, and the answer as well."""
    stage.does(SendMessage(text="why two tides?"))
    texts = [f"{A}, for the {n}th time" for n in range(TEXTS_KEPT + 5)]
    steps(stage, *(f"draft: '{text}'" for text in texts))
    for child in ("tides/b", "tides/b/c"):
        fork_session(stage.log, stage.session, stage.state.version, SessionId(child), stage.world)
        stage.session = SessionId(child)
    assert facts(stage)["drafts"] == tuple(texts)
    stage.does(AcceptDraft(index=2))
    assert stage.state.dialogue.history[-1].answer is None
    assert facts(stage)["answer"] == texts[1]


def test_each_moment_has_its_own(stage: Stage) -> None:
    """At every version of a session and its fork: the facts are those of the board there."""
    stage.does(SendMessage(text="why two tides?"))
    steps(stage, f"draft: {A}", "draft: '+1'", f"thoughts: [three]\ndraft: {B}")
    middle = stage.state.version - 3
    stage.does(AcceptDraft(index=1), SendMessage(text="and neap tides?"))
    fork_session(stage.log, stage.session, middle, SessionId("tides/b"), stage.world)
    for session in ("tides", "tides/b"):
        stage.session = SessionId(session)
        for version in range(1, stage.state.version + 1):
            now, shown = facts(stage, version), board(stage.log, stage.session, upto=version)
            assert now["version"] == version
            assert json.loads(json.dumps(dict(now)))["version"] == version
            open_ = shown is not None and shown.is_open
            assert now["state"] == ("drafting" if open_ else "idle")
            assert now["question"] == (shown.question if shown else None)
            drafts = shown.drafts if shown and open_ else ()
            assert now["drafts"] == tuple(d.text for d in drafts)
            content = [d.text for d in drafts if not d.signal]
            assert now["draft"] == (content[-1] if content else None)


def test_a_late_draft_is_none_of_the_open_exchange(stage: Stage) -> None:
    """It belongs to the one that was closed."""
    stage.does(SendMessage(text="why two tides?"))
    steps(stage, f"draft: {A}")

    def act(*_: object) -> str:
        stage.does(AcceptDraft(), SendMessage(text="and neap tides?"))
        return f"draft: {B}"

    steps(stage, act)
    assert any(event.late for event in stage.events(DraftEmitted))
    now = facts(stage)
    assert (now["draft_count"], now["draft"], now["answer"]) == (0, None, A)


def test_what_was_redacted_shows_as_such(stage: Stage) -> None:
    """In every fact that held it; a redacted thought is in the pool no more."""
    stage.does(SendMessage(text="why two tides?"))
    steps(stage, f"thoughts: [one, two]\ndraft: {A}", f"draft: {B}")
    said = [
        next(r for r in stage.history() if isinstance(r.event, kind))
        for kind in (MessageSent, ThoughtAdded, DraftEmitted)
    ]
    redact_events(stage.log, said, "It names a patient.", stage.world)
    now = facts(stage)
    assert now["question"] == "[redacted]"
    assert now["drafts"] == ("[redacted]", B)
    assert (now["thoughts"], now["thoughts_ever"]) == (("two",), 2)
    stage.does(AcceptDraft(index=1))
    assert facts(stage)["answer"] == "[redacted]"


def test_only_what_is_asked_for_is_looked_up(stage: Stage) -> None:
    """A fact that needs the log is read when somebody wants it, and once."""
    stage.does(SendMessage(text="why two tides?"))
    steps(stage, *(f"draft: '{A}, {n}'" for n in range(TEXTS_KEPT + 1)))
    now = facts(stage)
    stage.log.close()
    assert now["draft_count"] == TEXTS_KEPT + 1
    assert now["draft"] == f"{A}, {TEXTS_KEPT}"
