"""The screen of a draft: draft, talk, send out, lose, come back, undraft."""

import re
import socket
from pathlib import Path

import pytest

from cli.tui.agent_transcript import Spoken
from commands.agents.wishes import StartTurn, SubmitPrompt
from commands.handle import handle
from domain.streams import agent_stream
from tests.cli.tui.drafting_room import LONG, Line, Room, calls, play, report, room_in

SENDS = calls(
    "draft_agent",
    "Somebody should **read** that first.",
    role="reader",
    prompt="Find all tide tables since 1900, and say which harbours they cover.",
)
READ = report(changes=["tables.md"], questions=["Which unit?"])
WAITS = calls("await_agent", agentId="reader-1")


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short names of models, which look the same wherever the tests run."""
    monkeypatch.chdir(tmp_path)


def test_somebody_is_drafted_talked_with_and_undrafted(tmp_path: Path) -> None:
    """A whole conversation by keys at 80x24; whatever is missing is said with what makes it."""
    answer = {"text": "Because the moon pulls the **near** water more.\n\n- one\n- two"}
    unknown = {"text": "Nobody knows.", "cost_usd": None}
    stage = room_in(tmp_path, place=False, analyst=(answer, unknown), critic=(READ,))

    async def act(at: Room) -> None:
        await at.sends("/draft analyst")
        assert at.notice == "There is no project: make one with /project new NAME."
        assert at.line == "/draft analyst"
        await at.sends("/project new tides")
        await at.sends("/draft analyst")
        assert at.notice == "Project 'tides' has no open task: make one with /task new TITLE."
        await at.sends("/task new Predict Fundy")
        await at.sends("/draft analist")
        assert "There is no role 'analist': there are analyst" in at.notice
        await at.sends("/draft analyst")
        assert at.title == "Logosphere ● Connected | Draft: analyst | Context: ? | Turns: 0 | $0.00"
        await at.sends("/draft critic")
        assert "'analyst-1' is drafted already by 'chat': undraft it first" in at.notice
        await at.sends("Why two tides?")
        await at.sees("Why two tides?", "analyst-1  turn 1", "• two")
        await at.sees("Draft: analyst | Context: 9% | Turns: 1 | $0.05")
        await at.sends("/context")
        assert at.notice.startswith("Context: 900 of 10,000 tokens, 9%. 1 turn, $0.05,")
        await at.sends("And the sun?")
        await at.sees("Nobody knows.", "Turns: 2 | $0.05 + ?")
        await at.sends("/reset")
        await at.presses("ctrl+o")
        await at.sees("Transcript", "Thinking")
        await at.sends("/context")
        await at.sees("What stands in the next prompt")
        await at.presses("escape", "f4")
        await at.sees("The conversation begins anew", "Draft: analyst")
        await at.sends("/undraft")
        assert re.match(r"analyst-1 is undrafted: 2 turns, \$0.05 \+ \?, .* s\.", at.notice)
        assert at.title == "Logosphere ● Connected | No draft | Agents: 0"
        await at.sends("Hello?")
        assert at.notice.startswith("Nobody is drafted: /draft ROLE")
        assert at.line == "Hello?"
        await at.sends("/work critic Read the tables.")
        await at.until(lambda: at.notice.startswith("critic-1 reports: It is done."))
        await at.sends("/report critic-1")
        await at.sees("✓ critic-1 success", "change: tables.md", "question: Which unit?")

    play(stage, act)


def test_what_waits_what_is_used_and_who_works_is_seen(tmp_path: Path) -> None:
    """An answer streams in, a prompt waits behind it, and a worker is ended by hand."""
    lines = (SENDS, WAITS, {"text": "It was ended."})
    stage = room_in(tmp_path, product_analyst=lines, reader=(LONG,))

    async def act(at: Room) -> None:
        await at.sends("/draft product-analyst")
        await at.sends("Which harbours have tables?")
        await at.sees("✓ draft_agent role=reader", "… await_agent agentId=reader-1", "answering …")
        await at.sees("Somebody should **read** that first.", "● reader-1  working", " s · ?")
        await at.sends("And which have not?")
        await at.sees("And which have not?", "waits for its turn", "1 waits")
        await at.sends("/withdraw")
        await at.sees("Taken back before its turn came.")
        assert at.title.startswith("Logosphere ● Connected | Draft: product-analyst | Context: ?")
        await at.presses("ctrl+l")
        assert not at.agents.display
        await at.presses("f3")
        assert at.agents.display
        await at.sends("/agents")
        await at.sees("2 agents at work", "sent out by product-analyst-1")
        await at.presses("escape")
        await at.sends("/mind")
        await at.sends("/kill reader-1")
        await at.until(lambda: "turn.completed" in at.kinds("product-analyst-1"))
        await at.sends("/agent")
        await at.sees("It was ended.", "✗ reader-1 ended by hand", "Sent out: reader-1")

    play(stage, act, (110, 34))


def slowly(begin: str) -> Line:
    """A reply of a model that is at it for a minute."""
    return {"text": f"{begin} the **moon** " + "pulls and " * 600, "pace": 0.05}


def test_a_key_stops_an_answer_and_the_conversation_goes_on(tmp_path: Path) -> None:
    """While one is being written the footer says which; what had arrived stays on the screen."""
    stage = room_in(tmp_path, analyst=(slowly("Because"), {"text": "The sun, too."}))

    async def act(at: Room) -> None:
        await at.sends("/draft analyst")
        assert "^x Stop" not in at.screen
        await at.sends("Why?")
        await at.sees("Because the **moon**", "^x Stop")
        await at.presses("escape")
        await at.sees("! It was stopped.", "Because the moon pulls", "Turns: 0 | ?")
        await at.until(lambda: at.notice == "Stopped.")
        assert "^x Stop" not in at.screen
        await at.sends("So?")
        await at.sees("The sun, too.", "Turns: 1")

    play(stage, act)


@pytest.mark.slow
def test_what_waits_behind_a_stopped_answer_is_answered(tmp_path: Path) -> None:
    """Another key and a command stop as well; at the mind, the command means its run."""
    stage = room_in(tmp_path, analyst=(slowly("Because"), slowly("Since")))

    async def act(at: Room) -> None:
        await at.sends("/draft analyst")
        await at.sends("/stop")
        assert at.notice == "'analyst-1' is not answering now: there is nothing to stop."
        await at.sends("Why?")
        await at.sees("Because the **moon**")
        await at.sends("And else?")
        await at.sees("waits for its turn")
        await at.presses("ctrl+x")
        await at.until(lambda: at.notice == "Stopped. What waited is answered now.")
        await at.sees("Since the **moon**")
        await at.sends("/stop")
        await at.until(lambda: at.notice == "Stopped.")
        await at.sends("/mind")
        await at.sends("/stop")
        assert at.notice == "There is no run to stop here."
        kinds = at.kinds("analyst-1")
        assert kinds.count("stop.asked") == kinds.count("turn.failed") == 2

    play(stage, act)


def test_the_draft_outlives_the_app_and_lost_and_failed_turns_are_told(tmp_path: Path) -> None:
    """Started again, the app is where it was; each turn that has no answer says why, and stays."""
    refused, gone = {"fail": "400"}, {"fail": "session gone"}
    stage = room_in(tmp_path, analyst=({"text": "First."}, refused, gone))

    async def before(at: Room) -> None:
        await at.sends("/draft analyst")
        await at.sends("one")
        await at.sees("First.")

    async def after(at: Room) -> None:
        await at.sees("Draft: analyst", "First.", "This turn was lost when its process ended")
        assert at.app.mode is at.mode
        assert at.notice.startswith("analyst-1 is still drafted")
        texts = [spoken._exchange.text for spoken in at.mode.query(Spoken)]
        assert texts == ["one", "two"]
        await at.sends("three")
        await at.sees("refused the request (HTTP 400", "analyst-1  turn 3")
        await at.sends("/mind")
        await at.sends("/signal engaged")
        await at.sends("/agent")
        await at.sends("/signal reviewing")
        assert at.notice == "The mind is told that you are reviewing."
        await at.sends("four")
        await at.sees("No draft", "draft again to go on")
        assert at.notice.startswith("analyst-1 is undrafted (session gone): 1 turn, ")
        await at.sends("/timeline")
        assert at.app.mode is at.app.mind

    play(stage, before)
    agent = agent_stream("analyst-1")
    dead = f"{socket.gethostname()}:999999999:1"
    handle(stage.log, agent, SubmitPrompt(text="two"), stage.world)
    handle(stage.log, agent, StartTurn(holder=dead), stage.world)
    play(stage, after)


def test_a_lost_connection_is_made_good(tmp_path: Path) -> None:
    """What happened while nobody was connected, or looked, is there afterwards, once."""
    stage = room_in(
        tmp_path, analyst=(SENDS, WAITS, {"text": "All of it."}, {"text": "More."}), reader=(LONG,)
    )

    async def act(at: Room) -> None:
        await at.sends("/draft analyst")
        await at.sends("Look.")
        await at.sees("Somebody should", "… await_agent")
        at.client.drop()
        await at.sees("Logosphere ○ Not connected | Draft: analyst")
        await at.sends("Are you there?")
        assert at.notice.startswith("Not connected")
        assert at.line == "Are you there?"
        await at.client._service.harness.kill("reader-1")
        await at.until(lambda: "turn.completed" in at.kinds("analyst-1"))
        at.client.drop(lost=False)
        await at.sees("● Connected", "All of it.", "Turns: 1")
        await at.rests()
        assert at.screen.count("Somebody should") == 1
        assert at.screen.count("All of it.") == 1
        assert at.screen.count("await_agent") == 1
        await at.presses("ctrl+o")
        await at.client.call("submit_prompt", content="And?")
        await at.sees("analyst-1 has answered: ctrl+o goes there.", "Transcript")
        await at.presses("ctrl+o")
        await at.sees("And?", "More.")

    play(stage, act)


HOSTILE = "[red]x[/red] [@click=app.quit]y[/] \x1b[31mz\x9b2J <b>w</b> \\[a"


def test_nothing_that_was_written_takes_the_screen_over(tmp_path: Path) -> None:
    """Prompts, answers, tools, reports and roles are shown as they were written."""
    sends = calls("draft_agent", role="reader", prompt=HOSTILE)
    waits = calls(f"look {HOSTILE}", where=HOSTILE)
    told = report(status="partial", summary=HOSTILE, issues=[HOSTILE])
    stage = room_in(tmp_path, analyst=(sends, waits, {"text": HOSTILE}), reader=(told,))
    (stage.directory / "roles" / "bad.md").write_text(f"---\nname: {HOSTILE}\n---\n", "utf-8")

    async def act(at: Room) -> None:
        await at.sends("/draft analyst")
        await at.sends(HOSTILE.replace("\x1b", "").replace("\x9b", ""))
        await at.sees("✗ look [red]x[/red]", "reader-1 partial", "issue: [red]x[/red]", "<b>w</b>")
        await at.rests()
        assert "\x1b" not in at.screen
        assert "\x9b" not in at.screen
        assert at.screen.count("[red]x[/red]") >= 6
        await at.sends("/roles")
        await at.sees("Roles: /draft ROLE", "For tests.", "may agent-draft", "! ")
        await at.presses("escape")
        await at.sends("/kill [red]x[/red]")
        assert "There is no agent '[red]x[/red]'" in at.notice

    play(stage, act, (120, 40))
