"""What each prompt has in common with the one before, and why its artifacts are others."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from commands.artifacts.efforts import OpenEffort, ResolveEffort
from commands.command import Command, Decision
from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.forks import fork_session
from commands.sessions import ChangeConfig
from domain.events import Event, MindInvoked
from domain.ids import SessionId
from domain.protocol.prompts import Dialect
from projections.prompts import reprompt
from projections.reuse import Change, Reuse, reuses
from tests.domain.happened import evicted, excluded, happens, learned, recalled, routed, superseded
from tests.stories.cast import Rehearsed, Stage

LONG = "The Moon pulls the near water more than the Earth, and the Earth more than the far."


class Happen(Command):
    """These events, whoever decided them."""

    events: tuple[Any, ...]

    def decide(self, session: object) -> Decision:
        """As they are."""
        del session
        yield from self.events


class Story(Stage):
    """A dialogue in which things happen between two looks of the mind."""

    def happens(self, *events: Event) -> int:
        """The version of the last of these events."""
        return self.does(Happen(events=events)).state.version

    def looks(self, dialect: Dialect = "full", name: str = "rehearsed") -> None:
        """The mind is shown a prompt once."""
        self.runs(mind=Rehearsed("thoughts: [one]", dialect=dialect, name=name), iterations=1)

    def found(self, **more: Any) -> list[Reuse]:
        """The prompts beside each other."""
        return reuses(self.log, self.session, **more)

    @property
    def changes(self) -> tuple[Change, ...]:
        """Of the newest prompt."""
        return self.found(limit=1)[-1].changes


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """A message awaits an answer."""
    story = Story(tmp_path)
    story.begins("why two tides?")
    return story


def test_the_same_artifacts_are_a_hit(story: Story) -> None:
    """To the byte; what follows them in a prompt is another matter."""
    story.happens(learned("the moon pulls"))
    for _ in range(3):
        story.looks()
    found = story.found()
    assert [one.hit for one in found] == [None, True, True]
    assert [one.iteration for one in found] == [1, 2, 3]
    texts = [
        reprompt(story.log, story.session, r).text
        for r in story.history()
        if isinstance(r.event, MindInvoked)
    ]
    for (before, text), one in zip(pairwise(texts), found[1:], strict=True):
        same = one.same_chars
        assert before[:same] == text[:same]
        assert before[same] != text[same]
        assert one.chars == len(text)
        assert same > text.index("meta:")
        assert one.matches
    assert story.found(limit=2) == found[1:]
    assert story.found(limit=None) == found


def test_where_there_are_no_artifacts_there_is_nothing_to_change(story: Story) -> None:
    """Two prompts without any are a hit; a session without prompts has none to compare."""
    assert story.found() == []
    story.looks()
    story.looks()
    assert [(one.hit, one.memory_tokens) for one in story.found()] == [(None, 0), (True, 0)]


def test_what_came_changed_and_left(story: Story) -> None:
    """By the event that did it, and its version."""
    fact = story.happens(learned("the moon pulls"))
    story.looks()
    effort = story.does(OpenEffort(goal="explain the tides")).state.version
    story.looks()
    assert story.changes == (Change(f"effort {effort}", "came", "effort.opened", effort),)
    ended = story.does(ResolveEffort(effort=effort, resolution="the moon")).state.version
    other = story.happens(learned("the sun pulls too"))
    story.happens(routed("exc_1_000", effort, mentions=(other,)))
    story.looks()
    assert story.changes == (
        Change(f"effort {effort}", "changed", "effort.resolved", ended),
        Change(f"fact {other}", "came", "fact.learned", other),
    )
    gone = story.happens(evicted(effort))
    replaced = story.happens(superseded(fact, other))
    story.looks()
    assert story.changes == (
        Change(f"fact {fact}", "left", "fact.superseded", replaced),
        Change(f"effort {effort}", "left", "artifacts.evicted", gone),
    )
    back = story.happens(recalled(effort, "explain the tides", "effort", resolution="the moon"))
    story.looks()
    assert story.changes == (Change(f"effort {effort}", "came", "artifact.recalled", back),)
    out = story.happens(excluded(other))
    story.looks()
    assert story.changes == (Change(f"fact {other}", "left", "artifact.excluded", out),)


def test_what_left_without_an_event(story: Story) -> None:
    """Since its day is over, or there is no room for it any more; and it may come again."""
    past = story.happens(happens("spring tide", "2026-05-01"), happens("neap tide", "2026-05-09"))
    story.looks()
    assert story.found()[-1].memory_tokens > 0
    story.does(ChangeConfig(key="memory_tokens", value="100"))
    long = story.happens(
        learned("the moon pulls " * 15), happens("a longer one " * 20, "2026-06-01")
    )
    story.looks()
    whys = {change.what: change.why for change in story.changes}
    assert whys[f"event {long}"] == "event.noted"
    story.does(ChangeConfig(key="memory_tokens", value="1200"))
    story.looks()
    assert Change(f"fact {long - 1}", "came", "there is room for it") in story.changes
    story.does(ChangeConfig(key="memory_tokens", value="100"))
    story.looks()
    why = "there is no room left for it"
    assert Change(f"fact {long - 1}", "left", why) in story.changes
    assert past < long


def test_another_mind_has_nothing_in_its_cache(story: Story) -> None:
    """Though its artifacts are the same; in another dialect they are not."""
    story.happens(learned("the moon pulls"))
    story.looks()
    story.looks(name="another")
    story.looks("compact", name="another")
    story.looks("compact", name="another")
    found = story.found()
    assert [one.hit for one in found] == [None, True, False, True]
    assert [one.same_chars > 0 for one in found] == [False, False, False, True]
    assert [one.another_mind for one in found] == [False, True, True, False]
    why = "the dialect shows them otherwise"
    assert found[2].changes == (Change("artifacts", "changed", why),)


def test_a_branch_goes_on_from_the_prompts_of_its_parent(story: Story) -> None:
    """The first prompt of its own is beside the last that it inherited."""
    fact = story.happens(learned("the moon pulls"))
    story.looks()
    child = SessionId("b")
    fork_session(story.log, story.session, story.state.version, child, story.world)
    story.session = child
    out = story.happens(excluded(fact))
    story.looks()
    found = story.found()
    assert [one.hit for one in found] == [None, False]
    assert found[1].changes == (Change(f"fact {fact}", "left", "artifact.excluded", out),)


def test_as_of_the_past(story: Story) -> None:
    """Only what had been shown by then."""
    story.looks()
    version = story.state.version
    story.runs(f"draft: {LONG}", iterations=1)
    story.does(AcceptDraft(), SendMessage(text="and now?"))
    story.looks()
    assert len(story.found()) == 3
    assert [one.version <= version for one in story.found(upto=version)] == [True]


def test_tokens_are_counted_as_one_is_told(story: Story) -> None:
    """Those of the artifacts, of the prompt, and of what is the same."""
    story.happens(learned("the moon pulls"))
    story.looks()
    story.looks()
    one = story.found(counted=lambda texts: [len(text) for text in texts])[-1]
    assert (one.tokens, one.same_tokens) == (one.chars, one.same_chars)
    assert one.memory_tokens < one.same_tokens
