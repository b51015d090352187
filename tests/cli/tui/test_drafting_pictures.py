"""Pictures of the screen of a draft; one of them stands in the documentation."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.tui.drafting_room import LONG, Line, Room, calls, play, report, room_in
from tests.cli.tui.house import PICTURES, assert_as_in, picture

LIGHT = PICTURES / "draft-light.svg"
DOCS = Path(__file__).parents[3] / "docs" / "pictures" / "chat-draft.svg"

ANALYST: tuple[Line, ...] = (
    calls(
        "draft_agent",
        "Before we plan anything, somebody should see what is there.",
        role="reader",
        prompt="Which harbours have tide tables since 1900? Name the source of each.",
    ),
    calls("await_agent", agentId="reader-1"),
    {
        "text": "Two harbours can carry a forecast today:\n\n"
        "- **Saint John** has hourly levels since 1896,\n"
        "- **Burntcoat Head** has high waters alone.\n\n"
        "Is an hour's notice enough for the pilots, or do they need the evening before?"
    },
    {
        **calls(
            "draft_agent",
            role="researcher",
            prompt="How far ahead do harbour pilots at Fundy plan?",
        ),
        "cost_usd": 0.04,
    },
    {
        "text": "Then the evening before it is. I have sent somebody to find out how pilots plan;"
        " meanwhile, who would read the forecast **first**?",
        "tokens_in": 3400,
        "cost_usd": 0.04,
    },
)

FOUND = report(
    summary="Two of nine harbours have tables that go back so far.",
    changes=["sources.md: nine harbours, with the archive of each"],
    questions=["Do tables count that were reconstructed later?"],
)


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short names of models, which look the same wherever the tests run."""
    monkeypatch.chdir(tmp_path)


async def taken(at: Room) -> str:
    """The screen, as if its agents had always been there for as long."""
    mode = at.mode
    long_ago = (datetime.now(UTC) - timedelta(seconds=83)).isoformat()
    mode._members = tuple(member._replace(begun=long_ago) for member in mode._members)
    mode._reports = {n: r._replace(duration_ms=41_000) for n, r in mode._reports.items()}
    mode.prompt.cursor_blink = False
    mode._drawing.ask()
    await at.rests()
    return re.sub(r"1:2\d&#160;min", "1:23&#160;min", picture(at.app.export_screenshot()))


def test_a_draft_with_its_workers_looks_as_it_did(tmp_path: Path) -> None:
    """Wide on a dark theme, with the agents beside it; and at 80x24 on a light one."""
    stage = room_in(tmp_path, product_analyst=ANALYST, reader=(FOUND,), researcher=(LONG,))

    async def act(at: Room) -> None:
        await at.sends("/draft product-analyst")
        await at.sends("We want to warn of the tides at Fundy. Where do we begin?")
        await at.sees("the evening before?")
        await at.sends("The evening before.")
        await at.sees("Context: 34% | Turns: 2 | $0.28", "● researcher-1", "✓ reader-1")
        await at.rests()
        at.app.mode.tell("")
        assert_as_in(DOCS, await taken(at))
        await at.pilot.resize_terminal(80, 24)
        await at.presses("ctrl+t")
        await at.until(lambda: not at.agents.display)
        assert_as_in(LIGHT, await taken(at))

    play(stage, act, (116, 38))
