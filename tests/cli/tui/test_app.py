"""The app around a mind: slash commands, help, and small screens."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from cli.tui.slash import Slash, SlashCommands
from cli.tui.slash_common import COMMON
from cli.tui.slash_mind import OF_MINDS
from tests.cli.tui.house import Sitting, compare, play, stage_in


def test_slash_commands_say_complete_and_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command answers on the screen; a file is never written over."""
    monkeypatch.chdir(tmp_path)
    stage = stage_in(tmp_path)
    stage.answers("why two tides?", "The Moon pulls the near water.")

    async def act(at: Sitting) -> None:
        await at.sends("/think")
        assert at.notice == "Say more: /think TEXT"
        await at.sends("/exprt talk.md")
        assert at.notice == "There is no command /exprt: did you mean /export?"
        assert at.line == "/exprt talk.md"
        at.app.mind.prompt.text = ""
        await at.presses(*"/exp")
        await at.sees("/export [markdown|jsonl] FILE: Write the session")
        await at.presses("tab")
        assert at.line == "/export "
        await at.presses(*"talk.md", "enter")
        await at.until(lambda: at.notice.startswith("Written to"))
        assert "The Moon pulls" in (tmp_path / "talk.md").read_text("utf-8")
        await at.sends("/export talk.md")
        assert at.notice == "'talk.md' is there already: choose another name."
        await at.sends("/export jsonl talk.jsonl")
        assert (tmp_path / "talk.jsonl").read_text("utf-8").startswith("{")
        await at.sends("/signal r back at my desk")
        await at.sees("You: reviewing “back at my desk”")
        await at.sends("/config timeout=99")
        assert at.notice == "timeout is 99.0 from now on."
        await at.sends("/config nonsense=1")
        assert "nonsense" in at.notice
        await at.sends("/config")
        await at.sees("Settings", "timeout = 99.0")
        await at.presses("escape")
        await at.sends("/think of the Bay of Fundy")
        await at.sees("of the Bay of Fundy", "injected")
        await at.sends("/accept")
        assert "NothingToAccept" not in at.notice
        assert at.app.mind.query_one("#notice").has_class("-refused")
        await at.sends("/new lakes how deep?")
        await at.sees("│ lakes │", "how deep?")
        await at.sends("/switch")
        assert at.notice == "Sessions: tides, lakes. Go to one with /switch NAME."
        await at.sends("/switch nowhere")
        assert "nowhere" in at.notice
        await at.sends("//not a command")
        assert "message still awaits its drafts" in at.notice

    play(stage, act)


def test_a_small_terminal_without_colours_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """60x16 has room for session, drafts, line and keys; signs tell what colours would.

    f1 lists all keys and commands, ctrl+p finds them by any letters, /quit ends the app.
    """
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)
    stage = stage_in(tmp_path, message="why two tides?", model="script:replies.jsonl")

    async def act(at: Sitting) -> None:
        await at.sends("/run 2")
        await at.sees("tides │ Drafting", "why two tides?", "▸ #2", "The Moon pulls", "^r Run")
        await compare(at, "small")
        await at.presses("ctrl+n", "d")
        await at.sees("From draft 1 to draft 2", "+ - one bulge", "- The Moon")
        await at.presses("escape", "ctrl+l")
        await at.sees("Timeline", "run.stopped", "Message the mind")
        await at.presses("f1")
        await at.sees("Everywhere", "enter", "send the line")
        await at.presses("end")
        await at.sees("//text", "begins with a slash")
        await at.presses("escape", "ctrl+p", *"acc")
        await at.sees("/accept [N]")
        await at.presses("escape")
        await at.sends("/quit")

    play(stage, act, (60, 16))


def test_every_command_is_found_by_the_shortest_name_that_is_sure() -> None:
    """A name may be cut where only one begins so; others add to what is known."""
    commands = SlashCommands()
    commands.add(*COMMON, *OF_MINDS)

    def names(found: Sequence[Slash | None]) -> list[str]:
        return [command.name for command in found if command]

    assert names([commands.get("acc"), commands.get("s"), commands.get("")]) == ["accept"]
    assert commands.completed("/f") == "/fork "
    assert commands.completed("/s") == "/s"
    assert commands.completed("/se") == "/se"
    assert commands.completed("/nothing") == "/nothing"
    assert commands.completed("text") == "text"
    assert commands.nearest("acept") == "accept"
    assert commands.nearest("serch") == "search"
    assert commands.nearest("zzzz") is None
