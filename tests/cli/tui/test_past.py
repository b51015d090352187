"""Looking back: the timeline, the state as of an event, forks, and what search finds."""

from pathlib import Path

from commands.dialogue import SendMessage
from tests.cli.tui.house import Sitting, play, stage_in


def test_the_past_is_shown_as_it_was_and_can_be_forked(tmp_path: Path) -> None:  # noqa: PLR0915 — one way through a whole screen
    """Each key of the timeline moves the whole screen; f goes on from there, on a branch.

    Enter and escape return to now, and what search finds is gone to.
    """
    stage = stage_in(tmp_path)
    stage.answers("why two tides?", "The Moon pulls the near water.")
    stage.answers("and the Sun?", "It adds to it twice a month.")
    stage.does(SendMessage(text="what of lakes?"))
    last = stage.state.version
    sun = next(r.version for r in stage.history() if "and the Sun?" in str(r.event))

    async def act(at: Sitting) -> None:
        await at.sees("what of lakes?", "twice a month")
        await at.presses("ctrl+l")
        await at.sees("Timeline", f"{last} of {last}", "message.sent")
        await at.presses("left")
        await at.sees(f"Looking at event {last - 1} of {last}, this iteration")
        await at.presses(*("j",) * (last - 1 - sun))
        await at.sees(f"Looking at event {sun} of {last}, 1 iteration ago", "at this moment")
        await at.settles()
        await at.sees("and the Sun?", "Drafting")
        assert "twice a month" not in at.screen
        assert "what of lakes?" not in at.screen
        await at.sends("a message to the past")
        assert at.notice.startswith("This is the past, which can only be read")
        assert at.line == "a message to the past"
        await at.sends("/config timeout=7")
        assert at.notice.startswith("This is the past")
        at.timeline.focus()
        await at.presses("f")
        await at.sees(f"A branch of tides at event {sun}")
        await at.presses(*"what-if", "enter")
        await at.sees("│ what-if │", "and the Sun?", "is a branch of its own")
        await at.settles()
        assert "Looking at" not in at.screen
        assert at.app.mind.view == ("what-if", None)
        await at.presses("ctrl+r")
        await at.sees("▸ #1", "one bulge towards the Moon")
        await at.sends("/switch tides")
        await at.sees("│ tides │", "what of lakes?", "twice a month")
        await back_and_search(at)

    async def back_and_search(at: Sitting) -> None:
        for key in ("enter", "escape"):
            at.timeline.focus()
            await at.presses("home")
            await at.sees("Looking at event 1 of", "2 iterations ago")
            await at.settles()
            assert not at.transcript.children
            await at.presses(key)
            await at.sees("what of lakes?")
            assert "Looking at" not in at.screen
        await at.sends("/search near water")
        await at.sees("Found for near water", "answer")
        await at.presses("enter")
        await at.sees("Looking at event", "The Moon pulls the near water.")
        await at.settles()
        assert "twice a month" not in at.screen
        await at.sends("/search zebra")
        assert at.notice == "Nothing was found: try fewer or other words."

    play(stage, act)
    assert stage.state.version == last
