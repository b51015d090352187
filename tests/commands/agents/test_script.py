"""Recorded agents: each call of the model gets its line, in whatever process it is made."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from commands.agents.backend import BackendUnavailable, SessionGone, Text
from commands.agents.choose import make_model
from commands.agents.neutral import NeutralBackend
from domain.errors import BadSetting
from tests.commands.agents.conftest import Played, agent_on


class Scripts:
    """Writes scripts and plays them."""

    def __init__(self, directory: Path) -> None:
        self.file = directory / "replies.jsonl"

    def plays(self, *lines: dict[str, Any] | str, calls: int = 0, **about: Any) -> Played:
        """A turn on a script, of an agent that has called its model so often before."""
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        self.file.write_text("\n".join(texts), "utf-8")
        backend = NeutralBackend(make_model(f"script:{self.file}", {}), base=0.0)
        return Played(backend, agent=agent_on("m", calls), **about)


@pytest.fixture
def scripts(tmp_path: Path) -> Scripts:
    """A place for scripts."""
    return Scripts(tmp_path)


def test_it_goes_on_where_the_agent_was(scripts: Scripts) -> None:
    """Line n answers the n-th call in the agent's life, which the log knows."""
    lines = ({"text": "one"}, {"text": "two"}, {"text": "three"})
    assert scripts.plays(*lines).answer().text == "one"
    assert scripts.plays(*lines, calls=2).answer().text == "three"


def test_it_streams_word_by_word_and_tells_what_it_took(scripts: Scripts) -> None:
    """Pieces are words; the figures are those of the line."""
    line = {"tokens_in": 9, "tokens_out": 3, "cache_read": 90, "cost_usd": 0.5}
    played = scripts.plays({"text": "in four short words", **line, "context_window": 200})
    assert played.answer().text == "in four short words"
    assert [one.text for one in played.heard if isinstance(one, Text)][:2] == ["in ", "four "]
    [called] = played.calls
    assert (called.context_tokens, called.context_window, called.cost_usd) == (99, 200, 0.5)


def test_it_calls_tools_and_then_answers(scripts: Scripts) -> None:
    """Each call of the model is a line; what a tool says does not change the next one."""
    played = scripts.plays(
        {
            "text": "I look.",
            "tool_calls": [
                {"name": "list_tasks", "arguments": {"project": "shop"}},
                {"name": "list_tasks", "arguments": "{no", "id": "own"},
            ],
        },
        {"text": "Two."},
    )
    assert played.answer().text == "I look.\n\nTwo."
    assert played.used == [
        ("call-1-1", "list_tasks", '{"project": "shop"}'),
        ("own", "list_tasks", "{no"),
    ]


def test_a_failure_passes_or_stays(scripts: Scripts) -> None:
    """With a text it answers after so many failures; without one it fails, and the call counts."""
    played = scripts.plays({"fail": "429", "times": 2, "text": "here"})
    assert played.answer().text == "here"
    assert len(played.warnings) == 2
    played = scripts.plays({"fail": "401"}, {"text": "next"})
    assert "key" in played.breaks().sentence
    assert [called.calls for called in played.calls] == [1]


def test_half_an_answer_stays_half(scripts: Scripts) -> None:
    """It streams half of the text and breaks off."""
    played = scripts.plays({"fail": "half", "text": "these words break off"})
    assert played.breaks().partial == played.text == "these word"


def test_a_conversation_can_be_gone(scripts: Scripts) -> None:
    """As with a backend that keeps conversations itself."""
    with pytest.raises(SessionGone):
        scripts.plays({"fail": "session gone"}).answer()


def test_a_long_wait_is_cancelled_at_once(scripts: Scripts) -> None:
    """A delay is no reason to outlive a kill; the call that was cut short counts."""
    played = scripts.plays({"text": "late", "delay": 3000})

    async def kill() -> None:
        task = asyncio.ensure_future(played.backend.turn(played.ask))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 1)

    asyncio.run(kill())
    assert played.text == ""


def test_a_script_that_is_over_says_so(scripts: Scripts) -> None:
    """The sentence says how many replies there are."""
    assert "holds 1 reply and" in scripts.plays({"text": "one"}, calls=1).breaks().sentence


@pytest.mark.parametrize(
    "line",
    ["no json", "[]", '{"txt": "a"}', '{"fail": "maybe"}', '{"delay": -1}', '{"tool_calls": [{}]}'],
)
def test_a_line_that_is_no_reply_is_refused(line: str, scripts: Scripts) -> None:
    """With its number, before anything is asked."""
    with pytest.raises(BadSetting, match="Line 2"):
        scripts.plays({"text": "fine"}, line)


def test_a_script_that_is_not_there_is_said(tmp_path: Path) -> None:
    """Before anything is asked."""
    with pytest.raises(BackendUnavailable, match="can't be read"):
        make_model(f"script:{tmp_path / 'none.jsonl'}", {})
