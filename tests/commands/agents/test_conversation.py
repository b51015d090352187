"""What an agent's model is shown again: rebuilt from the log, whatever happened in between."""

from pathlib import Path
from typing import Any

import pytest

from commands.agents.backend import Call, Spoken
from commands.agents.conversation import conversation_of
from commands.agents.wishes import (
    AgentWish,
    Happened,
    LoseTurn,
    ResetContext,
    StartTurn,
    SubmitPrompt,
    WithdrawPrompt,
)
from commands.handle import handle
from domain.actors import Actor
from domain.agents import Agent
from domain.events import (
    AgentDrafted,
    Caused,
    ConversationCompacted,
    ToolCalled,
    TurnCompleted,
    TurnFailed,
)
from domain.ids import CommandId
from domain.log import Log
from domain.recorded import BEGINNING, Draw
from domain.streams import agent_stream
from tests.stories.cast import Stage

STREAM = agent_stream("analyst-1")


class Talk:
    """An agent of a real log, and short words for what happens to it."""

    def __init__(self, directory: Path) -> None:
        self.stage = Stage(directory)
        drafted = AgentDrafted(
            role="analyst", instructions="i", model="m", client="cli", project="p", task="t"
        )
        draw = Draw((Caused(drafted),), 1, Actor("user", "ann"), CommandId(bytes(16)))
        self.stage.log.begin(STREAM.id, BEGINNING, draw)

    def does(self, *wishes: AgentWish) -> Agent:
        """Something happens."""
        for wish in wishes:
            handle(self.stage.log, STREAM, wish, self.stage.world)
        return self.stage.log.stands(STREAM)

    def begins(self, prompt: str) -> int:
        """A turn begins; its number."""
        return self.does(SubmitPrompt(text=prompt), StartTurn(holder="h")).turns

    def calls(self, name: str, arguments: str, result: str) -> None:
        """The turn that is going on uses a tool."""
        turn = self.stage.log.stands(STREAM).turns
        event = ToolCalled(turn=turn, call="c", name=name, arguments=arguments, result=result)
        self.does(Happened(turn=turn, event=event))

    def answers(self, text: str) -> None:
        """The turn that is going on ends."""
        agent = self.stage.log.stands(STREAM)
        assert agent.turn is not None
        event = TurnCompleted(turn=agent.turns, prompt=agent.turn.prompt.id, text=text, model="m")
        self.does(Happened(turn=agent.turns, event=event))

    def fails(self, partial: str) -> None:
        """The turn that is going on fails."""
        agent = self.stage.log.stands(STREAM)
        assert agent.turn is not None
        prompt = agent.turn.prompt.id
        event = TurnFailed(
            turn=agent.turns, prompt=prompt, reason="failed", detail="d", partial=partial
        )
        self.does(Happened(turn=agent.turns, event=event))

    def says(self, prompt: str, answer: str) -> None:
        """A whole turn."""
        self.begins(prompt)
        self.answers(answer)

    @property
    def shown(self) -> tuple[Spoken, ...]:
        """What the next turn is shown."""
        return conversation_of(self.stage.log, self.stage.log.stands(STREAM))

    @property
    def prompts(self) -> list[str]:
        """The prompts among it."""
        return [turn.prompt for turn in self.shown]


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    """An agent that nobody has spoken to."""
    return Talk(tmp_path)


def test_turns_come_back_in_order_with_their_tools(talk: Talk) -> None:
    """Prompt, tool calls and answer of each finished turn, oldest first."""
    talk.begins("which tasks?")
    talk.calls("list_tasks", "{}", "two")
    talk.calls("get_task", '{"n": 1}', "refunds")
    talk.answers("Refunds, and one more.")
    talk.says("and now?", "Nothing.")
    assert talk.shown == (
        Spoken(
            1,
            "which tasks?",
            (
                Call("c", "list_tasks", "{}", "two", failed=False),
                Call("c", "get_task", '{"n": 1}', "refunds", failed=False),
            ),
            "Refunds, and one more.",
            failed=False,
        ),
        Spoken(2, "and now?", (), "Nothing.", failed=False),
    )


def test_a_failed_turn_is_shown_with_what_had_arrived(talk: Talk) -> None:
    """So that the user can say: go on."""
    talk.begins("tell me all")
    talk.fails("It begins with")
    [turn] = talk.shown
    assert (turn.answer, turn.failed) == ("It begins with", True)


def test_lost_and_running_turns_are_not_shown(talk: Talk) -> None:
    """What nobody has finished is no part of the conversation, nor are its tools."""
    talk.says("one", "1")
    talk.begins("two")
    talk.calls("list_tasks", "{}", "lost")
    talk.does(LoseTurn(dead="h"))
    talk.says("three", "3")
    talk.begins("four")
    talk.calls("list_tasks", "{}", "going on")
    assert talk.prompts == ["one", "three"]
    assert not any(turn.calls for turn in talk.shown)


def test_prompts_that_were_taken_back_are_not_shown(talk: Talk) -> None:
    """Nor is one that waits."""
    agent = talk.does(SubmitPrompt(text="never mind"))
    talk.does(WithdrawPrompt(prompt=agent.queue[0].id))
    talk.says("one", "1")
    talk.does(SubmitPrompt(text="waits"))
    assert talk.prompts == ["one"]


def test_nothing_before_a_reset_is_shown(talk: Talk) -> None:
    """A prompt that waited through the reset is shown with its turn, which came after."""
    talk.says("before", "gone")
    talk.begins("during")
    talk.does(SubmitPrompt(text="waited"))
    talk.answers("gone too")
    talk.does(ResetContext(), StartTurn(holder="h"))
    talk.answers("here")
    assert talk.prompts == ["waited"]


def test_compacted_turns_are_shown_as_their_summary(talk: Talk) -> None:
    """Turns up to the one that the compaction names are no longer shown in their words."""
    for number in (1, 2, 3):
        talk.says(f"question {number}", f"answer {number}")
    turn = talk.begins("question 4")
    event = ConversationCompacted(upto=2, pre_tokens=9_000, summary="User: question 1")
    talk.does(Happened(turn=turn, event=event))
    assert talk.prompts == ["question 3"]
    talk.answers("answer 4")
    assert talk.prompts == ["question 3", "question 4"]
    assert talk.stage.log.stands(STREAM).summary == "User: question 1"


def test_a_reset_after_a_compaction_shows_only_what_is_new(talk: Talk) -> None:
    """Both bounds hold, whichever is nearer."""
    talk.says("one", "1")
    turn = talk.begins("two")
    talk.does(Happened(turn=turn, event=ConversationCompacted(upto=1, pre_tokens=9, summary="s")))
    talk.answers("2")
    talk.does(ResetContext())
    assert talk.prompts == []
    talk.says("three", "3")
    assert talk.prompts == ["three"]


def test_it_is_the_conversation_of_its_moment(talk: Talk) -> None:
    """An earlier state of the agent is shown what was said until then."""
    talk.says("one", "1")
    then = talk.stage.log.stands(STREAM)
    talk.says("two", "2")
    assert [turn.prompt for turn in conversation_of(talk.stage.log, then)] == ["one"]


class Counting:
    """A log that counts the events that it hands out."""

    def __init__(self, log: Log) -> None:
        self.log, self.read_events = log, 0

    def read(self, *about: Any, **more: Any) -> Any:
        """As the log."""
        for recorded in self.log.read(*about, **more):
            self.read_events += 1
            yield recorded

    def __getattr__(self, name: str) -> Any:
        """Everything else is the log's."""
        return getattr(self.log, name)


def test_a_long_history_behind_a_summary_is_not_read(talk: Talk) -> None:
    """It reads in proportion to what it shows."""
    for number in range(30):
        talk.says(f"q{number}", "a")
    turn = talk.begins("now")
    talk.does(Happened(turn=turn, event=ConversationCompacted(upto=28, pre_tokens=9)))
    counting: Any = Counting(talk.stage.log)
    shown = conversation_of(counting, talk.stage.log.stands(STREAM))
    assert [one.turn for one in shown] == [29, 30]
    assert counting.read_events < 10
