"""Between the mind and the agent: nothing old is shown, what is found is gone to, words fit."""

from pathlib import Path

import pytest

from cli.tui.agent_transcript import Conversation, place_of
from cli.tui.here import in_app
from commands.dialogue import SendMessage
from domain import agent_errors, errors
from domain.errors import Refused
from tests.cli.tui.drafting_room import Room, play, report, room_in


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short names of models, which look the same wherever the tests run."""
    monkeypatch.chdir(tmp_path)


def test_what_is_not_looked_at_misses_nothing(tmp_path: Path) -> None:
    """After ctrl+o either screen is as of now, also when the connection was lost meanwhile."""
    stage = room_in(tmp_path, analyst=({"text": "The first answer."}, {"text": "The second."}))

    async def act(at: Room) -> None:
        await at.sends("/draft analyst")
        await at.presses(*"half a prompt")
        at.client.drop()
        await at.sees("trying again")
        await at.presses("ctrl+o")
        await at.sees("trying again", "Transcript")
        await at.presses(*"half a message", "ctrl+o")
        stage.does(SendMessage(text="from another terminal"))
        at.client.drop(lost=False)
        await at.sees("● Connected", "Connected again.")
        await at.pilot.resize_terminal(120, 30)
        await at.presses("ctrl+o")
        await at.sees("from another terminal", "│ tides │ Drafting")
        assert "trying again" not in at.screen
        assert at.line == "half a message"
        at.client.drop()
        await at.client._service.harness.submit("analyst-1", "said by somebody else")
        await at.until(lambda: "turn.completed" in at.kinds("analyst-1"))
        at.client.drop(lost=False)
        await at.sees("● Connected", "Connected again.")
        await at.presses("f4")
        await at.sees("said by somebody else", "The first answer.", "Turns: 1")
        assert "trying again" not in at.screen
        assert at.line == "half a prompt"

    play(stage, act)


def test_what_was_said_to_an_agent_is_found_and_gone_to(tmp_path: Path) -> None:
    """On the agent's own screen while it is drafted; else on a page; the mind stays as it was."""
    said = tuple({"text": f"Answer {number}." + "\n\nso it is" * 9} for number in range(3))
    stage = room_in(tmp_path, analyst=said, reader=(report(summary="Zebras have no tides."),))

    async def act(at: Room) -> None:
        await at.sends("/draft analyst")
        for text in ("Which quagga?", "Which okapi?", "Which gnu?"):
            await at.sends(text)
            await at.until(lambda: not at.mode.talk.running)
        await at.presses("ctrl+o")
        await at.sees("Transcript")
        view = at.app.mind.view
        await at.sends("/search okapi")
        await at.sees("agent:analyst-1@")
        await at.presses("enter")
        await at.sees("Which okapi?", "Answer 1.", "Draft: analyst")
        await at.rests()
        pane = at.mode.query_one(Conversation)
        assert 0 < pane.scroll_y < pane.max_scroll_y
        await at.sends("/work reader Look at zebras.")
        await at.until(lambda: at.notice.startswith("reader-1 reports"))
        await at.presses("ctrl+o")
        await at.sends("/search zebras")
        await at.sees("agent:reader-1@")
        await at.presses("enter")
        await at.sees("Said to reader-1", "Look at zebras.", "✓ reader-1 success", "Zebras have no")
        await at.presses("escape")
        assert at.app.mode is at.app.mind
        assert at.app.mind.view == view
        await at.sends("/undraft")
        await at.sends("/search gnu")
        await at.sees("agent:analyst-1@")
        await at.presses("enter")
        await at.sees("Said to analyst-1", "Which gnu?", "Answer 2.")
        assert "Which quagga?" not in at.screen

    play(stage, act)


def test_the_prompt_that_an_event_belongs_to_is_the_newest_before_it() -> None:
    """An answer belongs to the prompt above it; before the first prompt there is none."""
    assert [place_of(version, [2, 5, 9]) for version in (1, 2, 4, 5, 8, 99)] == [
        None,
        0,
        0,
        1,
        1,
        2,
    ]
    assert place_of(3, []) is None


@pytest.mark.parametrize(
    ("refused", "here"),
    [
        (errors.NothingAwaits("s"), "Session 's' is idle: send a message first."),
        (errors.NothingToAccept("s"), "an answer: run the mind (ctrl+r)."),
        (errors.NoSuchDraft(3, 1), "the exchange has draft 1 (ctrl+n)."),
        (errors.AnswerFirst("s", 2), "accept one of 2 drafts first (ctrl+n, /accept)."),
        (errors.AnswerFirst("s", 0), "run the mind first (ctrl+r)."),
        (errors.NoSuchSession("x"), "(/switch lists them)."),
        (errors.NoSuchSession("x", ()), "(/new NAME makes one)."),
        (agent_errors.NoSuchProject("p"), "make one with /project new NAME."),
        (agent_errors.NoSuchTask("p", "t"), "make one with /task new TITLE."),
        (agent_errors.NoSuchAgent("a"), "draft one with /draft ROLE."),
        (agent_errors.DraftIsActive("chat", "a-1"), "undraft it first (/undraft)."),
        (agent_errors.NoActiveDraft("chat"), "draft an agent first (/draft ROLE)."),
    ],
)
def test_a_refusal_names_what_can_be_typed_here(refused: Refused, here: str) -> None:
    """Keys and slash commands stand where the command line would name its verbs."""
    said = in_app(refused.sentence)
    assert said.endswith(here)
    assert "mind " not in said.replace("the mind ", "")
