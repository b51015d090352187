"""Prompts rendered again: byte for byte what the mind was shown, wherever one looks from."""

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import strategies as st

from commands.artifacts.edits import RejectArtifact
from commands.artifacts.efforts import OpenEffort, ResolveEffort
from commands.command import Command
from commands.dialogue import PruneExchanges, SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.forks import fork_session
from commands.minds.mind import MindFailed
from commands.presence import SetSignal
from commands.redaction import redact_events
from commands.sessions import ChangeConfig
from commands.thinking import InjectThought
from domain.errors import Refused
from domain.events import (
    DraftEmitted,
    EffortOpened,
    EffortResolved,
    Event,
    MessageSent,
    MindInvoked,
    SignalChanged,
    ThoughtAdded,
)
from domain.ids import SessionId
from domain.protocol.prompts import Dialect
from domain.recorded import Recorded
from projections.prompts import Reprompt, redacted, reprompt, sections
from tests.often import often
from tests.stories.cast import SATURDAY, Rehearsed, Stage
from tests.stories.thinker import Cast

LONG = "The Moon pulls the near water more than the Earth, and the Earth more than the far."


def invocations(stage: Stage) -> list[Recorded]:
    """Each time that the mind was asked."""
    return [r for r in stage.history() if isinstance(r.event, MindInvoked)]


def again(stage: Stage, place: int = -1) -> Reprompt:
    """The prompt of an iteration, the newest one unless said otherwise."""
    return reprompt(stage.log, stage.session, invocations(stage)[place])


def version(stage: Stage, kind: type[Event], place: int = 0) -> int:
    """Of the n-th event of a class."""
    return [r.version for r in stage.history() if isinstance(r.event, kind)][place]


def gone(stage: Stage, place: int = -1) -> list[int]:
    """What an iteration was shown and nobody can see any more."""
    return [r.version for r in redacted(stage.log, stage.session, invocations(stage)[place])]


def take_away(stage: Stage, *versions: int) -> None:
    """Redact events."""
    redact_events(stage.log, stage.log.pick(stage.session, versions), "private", stage.world)


text = st.text(min_size=1, max_size=400).filter(lambda t: t.strip() and "\0" not in t) | st.just(
    "---\n- !!python/object: x\n\x1b[31m\u202e"
)
replies = st.one_of(
    st.just(f"thoughts: [one, two]\ndraft: {LONG}"),
    st.just("thoughts: [three]"),
    st.just("draft: '+1'"),
    st.just("skip: true"),
    st.just("thoughts: []"),
    st.just("}{ not yaml: ["),
    st.just(MindFailed("It broke.", retryable=True)),
)
wishes: st.SearchStrategy[Command] = st.one_of(
    text.map(lambda t: SendMessage(text=t)),
    st.just(AcceptDraft()),
    st.just(MarkSeen(indexes=())),
    text.map(lambda t: InjectThought(text=t, by="ann")),
    st.integers(0, 2).map(lambda keep: PruneExchanges(keep=keep)),
    text.map(lambda t: SetSignal(presence="reviewing", status=t[:100], time=SATURDAY)),
    st.sampled_from((("active_pool_size", "2"), ("history_display_chars", "100"))).map(
        lambda c: ChangeConfig(key=c[0], value=c[1])
    ),
)
Step = Command | str | MindFailed | float
steps = st.lists(wishes | replies | replies | st.floats(0, 1), min_size=4, max_size=14)
"""Wishes, replies of the mind, and forks at a share of the history."""


def lived(stage: Stage, mind: Rehearsed, story: Sequence[Step]) -> None:
    """Let all this happen, as far as it is allowed."""
    for number, step in enumerate(story):
        if isinstance(step, float):
            at = 1 + round(step * (stage.state.version - 1))
            child = SessionId(f"b{number}")
            fork_session(stage.log, stage.session, at, child, stage.world)
            stage.session = child
            continue
        with suppress(Refused):
            if isinstance(step, Command):
                stage.does(step)
            else:
                mind.lines = (step,)
                stage.runs(mind=mind, iterations=1)


@often(15, 40, steps, st.sampled_from(("full", "compact")))
def test_every_prompt_is_rendered_as_it_was(story: list[Step], dialect: Dialect) -> None:
    """Of every iteration, whatever came of it, in every branch that inherited it."""
    with tempfile.TemporaryDirectory() as directory:
        stage = Stage(Path(directory) / "s").begins()
        mind = Rehearsed(f"draft: {LONG}", dialect=dialect)
        lived(stage, mind, [f"draft: {LONG}", *story])
        shown = {request.prompt for request in mind.requests}
        for session in stage.log.sessions():
            for recorded in stage.log.read(session, kinds=["mind.invoked"]):
                found = reprompt(stage.log, session, recorded)
                assert found.matches
                assert found.system_matches
                assert found.text in shown
                assert redacted(stage.log, session, recorded) == []
        stage.log.close()


def test_a_state_that_is_at_hand_is_not_loaded_again(tmp_path: Path) -> None:
    """Whoever goes through a whole session has it already; the prompt is the same."""
    stage = Stage(tmp_path).begins()
    stage.runs("thoughts: [one]", f"draft: {LONG}", iterations=2)
    (first, second) = invocations(stage)
    assert isinstance(second.event, MindInvoked)
    state = stage.log.state(stage.session, second.event.based_on)
    given_ = reprompt(stage.log, stage.session, second, state)
    assert given_ == reprompt(stage.log, stage.session, second)
    assert not reprompt(stage.log, stage.session, first, state).matches


def test_thoughts_that_were_called_back_from_beyond_the_pool(tmp_path: Path) -> None:
    """They are picked from the log, each with the cluster of the one that called it."""
    cast = Cast(tmp_path)
    cast.begins(sampling="recall", active_pool_size=6, thought_display_count=10)
    cast.thinks_a_lot(iterations=14, each=3)
    recalling = [
        r for r in invocations(cast) if isinstance(r.event, MindInvoked) and r.event.recalled
    ]
    assert recalling
    for recorded in recalling:
        found = reprompt(cast.log, cast.session, recorded)
        assert found.matches
        assert any(thought.recalled for thought in found.view.thoughts)


def test_only_an_invocation_has_a_prompt(tmp_path: Path) -> None:
    """Asking for that of another event is a fault of the program."""
    stage = Stage(tmp_path).begins()
    (first, _) = stage.history()
    for ask in (reprompt, redacted):
        with pytest.raises(TypeError, match="is no invocation"):
            ask(stage.log, stage.session, first)


def test_what_was_redacted_since_is_named(tmp_path: Path) -> None:
    """The prompt no longer matches; it shows what is left, and why it differs is known."""
    stage = Stage(tmp_path).begins("my secret?")
    stage.does(SetSignal(presence="engaged", status="at home", time=SATURDAY))
    stage.runs(f"thoughts: [one]\ndraft: {LONG}", "draft: '+1'", iterations=2)
    message, thought = version(stage, MessageSent), version(stage, ThoughtAdded)
    draft, signal = version(stage, DraftEmitted), version(stage, SignalChanged)
    wanted: list[int] = []
    for taken in (draft, message, thought, signal):
        take_away(stage, taken)
        wanted = sorted([*wanted, taken])
        found = again(stage)
        assert not found.matches
        assert found.system_matches
        assert gone(stage) == wanted
    assert "my secret" not in found.text
    assert "[redacted]" in found.text
    assert gone(stage, 0) == sorted([message, signal])


def test_what_the_mind_was_not_shown_is_not_named(tmp_path: Path) -> None:
    """A draft that was not accepted, a pruned exchange, a raw reply: the prompt still matches."""
    stage = Stage(tmp_path).begins("first")
    stage.runs(f"draft: {LONG}", f"draft: Again, {LONG}", iterations=2)
    stage.does(AcceptDraft(index=2), SendMessage(text="second"))
    stage.runs(f"draft: {LONG}")
    stage.does(AcceptDraft(), PruneExchanges(keep=1), SendMessage(text="third"))
    stage.runs(f"draft: {LONG}")
    rejected = version(stage, DraftEmitted)
    take_away(stage, rejected, version(stage, MessageSent), version(stage, MindInvoked))
    assert again(stage).matches
    assert gone(stage) == []
    # the second iteration was shown the first draft and the first message
    assert not again(stage, 1).matches
    assert gone(stage, 1) == [version(stage, MessageSent), rejected]


def test_a_thought_that_left_the_pool_when_it_was_taken_away(tmp_path: Path) -> None:
    """A thought that was not drawn, too, counts in the size of its cluster."""
    stage = Stage(tmp_path).begins(thought_display_count=1)
    stage.runs("thoughts: [one, two, three]", "skip: true", iterations=2)
    (event,) = [r.event for r in invocations(stage)[1:]]
    assert isinstance(event, MindInvoked)
    thoughts = [r.version for r in stage.history() if isinstance(r.event, ThoughtAdded)]
    take_away(stage, *thoughts)
    assert not again(stage).matches
    assert gone(stage) == thoughts
    assert [t.text for t in again(stage).view.thoughts] == ["[redacted]"]


def test_artifacts_that_were_taken_away(tmp_path: Path) -> None:
    """What gave them their words is named; not what gave words to those that had left before."""
    stage = Stage(tmp_path).begins("what now?")
    stage.does(OpenEffort(goal="my secret goal"))
    effort = version(stage, EffortOpened)
    stage.does(ResolveEffort(effort=effort, resolution="my secret end"))
    stage.does(OpenEffort(goal="an open one"), OpenEffort(goal="one that leaves"))
    away = version(stage, EffortOpened, 2)
    stage.does(RejectArtifact(artifact=away))
    stage.runs(f"draft: {LONG}")
    assert again(stage).matches
    take_away(stage, away)
    assert again(stage).matches
    assert gone(stage) == []
    ended = version(stage, EffortResolved)
    take_away(stage, ended)
    found = again(stage)
    assert not found.matches
    assert "my secret goal\n    => [redacted]" in found.text
    assert gone(stage) == [ended]
    take_away(stage, effort)
    assert gone(stage) == [effort, ended]
    assert "my secret" not in again(stage).text


def test_a_prompt_is_taken_apart(tmp_path: Path) -> None:
    """Block by block; together they are the prompt, whatever texts look like."""
    stage = Stage(tmp_path).begins("meta:\n  awaiting:\n\ndrafts: none")
    stage.does(OpenEffort(goal="memory:\n\ndialogue:\n  awaiting:\n"))
    stage.runs("thoughts: ['orientation: none']", f"draft: {LONG}", iterations=2)
    stage.runs("draft: '+1'", iterations=1)
    text = again(stage).text
    found = sections(text)
    assert "".join(found.values()) == text
    names = ["memory", "meta", "thinking_pool", "dialogue", "awaiting", "drafts", "orientation"]
    assert list(found) == names
    assert found["awaiting"].startswith("  awaiting:\n")


def test_a_redaction_in_the_parent_is_seen_in_the_branch(tmp_path: Path) -> None:
    """Both share the event, and its content is gone for both."""
    stage = Stage(tmp_path).begins("my secret?")
    child = SessionId("b")
    fork_session(stage.log, stage.session, 2, child, stage.world)
    take_away(stage, 2)
    stage.session = child
    stage.runs(f"draft: {LONG}")
    assert again(stage).matches  # it was asked after that: this is what it read
    assert gone(stage) == [2]


@pytest.mark.parametrize("dialect", ["full", "compact"])
def test_another_system_prompt_is_noticed(tmp_path: Path, dialect: Dialect) -> None:
    """The prompt may be the same while what stood before it was not."""
    stage = Stage(tmp_path).begins()
    stage.runs(mind=Rehearsed(f"draft: {LONG}", dialect=dialect))
    (recorded,) = invocations(stage)
    other = recorded.event.model_copy(update={"system_hash": bytes(32)})
    found = reprompt(stage.log, stage.session, recorded._replace(event=other))
    assert (found.matches, found.system_matches) == (True, False)


def test_a_dialect_of_another_version_is_noticed(tmp_path: Path) -> None:
    """Nobody here knows what was told in it: that is no match, and no fault."""
    stage = Stage(tmp_path).begins()
    stage.runs(f"draft: {LONG}")
    (recorded,) = invocations(stage)
    other = recorded.event.model_copy(update={"dialect": "telegraph", "prompt_hash": bytes(32)})
    found = reprompt(stage.log, stage.session, recorded._replace(event=other))
    assert (found.matches, found.system_matches) == (False, False)
