"""The screen of a mind: send, watch, choose, accept, stop; what others do shows up by itself."""

from pathlib import Path

import pytest

from commands.command import Command
from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.eventlog import EventLog
from commands.handle import handle
from commands.presence import SetSignal
from domain.events import DraftAccepted, RunStopped
from tests.cli.tui.house import Sitting, compare, play, stage_in
from tests.fakes.provider import Provider, stalled


def test_a_message_is_sent_its_drafts_are_compared_and_one_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole exchange by keys alone, at 80x24: plain text waits while a choice is open."""
    monkeypatch.chdir(tmp_path)
    stage = stage_in(tmp_path, model="script:replies.jsonl")

    async def act(at: Sitting) -> None:
        await at.presses(*"why two tides?", "enter")
        await at.sees("why two tides?", "▸ #1 seen, age 1", "near water", "surprising half")
        assert at.line == ""
        await at.sends("and in the Baltic?")
        assert "Accept a draft first" in at.notice
        assert at.line == "and in the Baltic?"
        await at.presses("ctrl+r")
        await at.settles()
        await at.presses("ctrl+r")
        await at.settles()
        await at.sees("▸ #2 seen, age 2", "#3 signal", "1 older →", "Iteration 3", "$0.0036")
        assert "2.8k in, 180 out" in at.screen
        await at.presses("ctrl+n")
        await compare(at, "drafts")
        await at.presses("d")
        await at.sees("From draft 1 to draft 2", "+ - one bulge towards", "- The Moon pulls")
        await at.presses("escape", "right")
        await at.sees("▸ #1", "← 1 newer")
        await at.presses("left", "a")
        await at.settles()
        await at.sees("Idle", "draft 2, of 3 drafts", "• one bulge away from it")
        assert not at.drafts.display
        assert at.app.focused is at.app.mind.prompt
        assert at.line == "and in the Baltic?"
        await at.presses("ctrl+t", "ctrl+l", "left", "left", "left")
        await at.settles()
        await compare(at, "past")

    play(stage, act)
    assert [event.index for event in stage.events(DraftAccepted)] == [2]


def test_a_reply_streams_in_and_a_key_stops_it(tmp_path: Path) -> None:
    """What the mind writes is there before it ends; escape ends the run, and the app goes on."""
    with Provider() as provider:
        provider.behaves(stalled("draft: Because the moon"))
        stage = stage_in(tmp_path, model=f"{provider.url}/v1#slow")

        async def act(at: Sitting) -> None:
            await at.presses(*"why?", "enter")
            await at.sees("iteration 1 …", "Because the moon", "Running", "^x Stop", "escape stops")
            await at.presses(*"more", "enter")
            await at.until(lambda: "awaits its drafts" in at.notice)
            assert at.line == "more"
            await at.presses("escape")
            await at.settles()
            await at.sees("Drafting", "Stopped.", "No draft yet")

        play(stage, act)
    assert [event.reason for event in stage.events(RunStopped)] == ["interrupted"]


def test_what_others_do_shows_up_by_itself_and_after_a_lost_connection(tmp_path: Path) -> None:
    """Nobody who scrolled up is disturbed; nothing that was missed stays missing.

    Only the newest exchanges of a long history are fetched, until somebody scrolls to the top.
    """
    stage = stage_in(tmp_path, *["draft: a reply to whatever it was\n"] * 16)
    for number in range(13):
        stage.answers(f"question {number}.", f"this is the answer to {number}")

    async def act(at: Sitting) -> None:
        await at.sees("question 12.", "this is the answer to 12")
        assert at.transcript.held == 12
        at.transcript.focus()
        await at.presses("home")
        await at.until(lambda: at.transcript.held == 13)
        await at.settles()
        await at.until(lambda: at.transcript.scroll_y > 0)  # what came above moves nothing
        before = at.transcript.scroll_y
        assert before < at.transcript.max_scroll_y
        with EventLog(stage.directory) as other:

            def does(wish: Command) -> None:
                handle(other, stage.session, wish, stage.world)

            does(SendMessage(text="from another terminal"))
            await at.sees("Drafting")
            assert at.transcript.scroll_y == before
            await at.presses("end")
            await at.sees("from another terminal")
            stage.runs("draft: the draft of somebody else\nthoughts: [a thought]")
            await at.sees("▸ #1", "the draft of somebody else", "a thought")
            does(AcceptDraft(index=1))
            await at.sees("draft 1, of 1 draft", "Idle")
            await at.presses("ctrl+l")
            does(SetSignal(presence="engaged", status="reading", time=stage.world.local_time()))
            await at.sees("You: engaged “reading”", "signal.changed")
            await at.presses("ctrl+l")
        at.client.drop()
        await at.sees("○ Not connected", "Not connected: trying again…")
        await at.sends("hello?")
        assert at.notice == "Not connected: wait until the server is back, then try again."
        assert at.line == "hello?"
        stage.answers("meanwhile, somebody asked.", "And somebody answered that.")
        at.client.drop(lost=False)
        await at.sees("● Connected", "And somebody answered that.", "Connected again.")
        assert "trying again" not in at.screen
        await at.presses("enter")
        await at.sees("hello?", "a reply to whatever it was")
        await _without_a_store(at)

    play(stage, act)


async def _without_a_store(at: Sitting) -> None:
    """A store that is away is told in a phrase; what can't go on is begun anew."""
    gone = {"away": True, "reason": "The server is gone: going on when it is back."}
    at.client.notify("store_status", gone)
    await at.sees("○ Store away", "The store is away. The server is gone: going on when")
    at.client.notify("store_status", {"away": False, "reason": None})
    await at.sees("● Connected", "The store is back.")
    assert "is away" not in at.screen
    heard = at.app.mind._subscription
    ended = {"subscription": heard, "reason": "It was put back.", "position": 2}
    at.client.notify("cut_off", ended)
    await at.sees("! It was put back.")
    await at.until(lambda: at.app.mind._subscription not in {None, heard})


HOSTILE = "[red]x[/red] [@click=app.quit]y[/] \x1b[31mz\x9b2J <b>w</b> [$primary] \\[a"


def test_markup_and_escape_sequences_are_shown_as_they_were_written(tmp_path: Path) -> None:
    """Neither a user nor a mind can colour the screen, click it or take it over."""
    written = HOSTILE.replace("\\", "\\\\").replace("\x1b", "\\e").replace("\x9b", "\\x9b")
    stage = stage_in(tmp_path, message=HOSTILE)
    stage.does(SetSignal(presence="engaged", status="[b]s[/b]", time=stage.world.local_time()))
    stage.runs(f'thoughts:\n  - "{written}"\ndraft: "{written}"\n')

    async def act(at: Sitting) -> None:
        seen = "[red]x[/red] [@click=app.quit]y[/] ␛[31mz\N{REPLACEMENT CHARACTER}2J <b>w</b>"
        await at.sees("You: engaged “[b]s[/b]”", "▸ #1", seen)
        assert at.screen.count("[red]x[/red]") == 3  # message, draft, thought
        assert "\x1b" not in at.screen
        assert "\x9b" not in at.screen
        await at.presses("ctrl+n", "a")
        await at.settles()
        await at.sees("mind  draft 1", "<b>w</b>")
        await at.sends("/search [red]")
        await at.sees("Found for [red]", "[red]x[/red]")
        await at.presses("escape")
        await at.sends("/[b]x[/b]")
        assert at.notice.startswith("There is no command /[b]x[/b]")
        await at.sends("/thoughts")
        await at.sees("The newest 1 thought", "[@click=app.quit]y[/]")

    play(stage, act, (140, 40))
