"""What is heard and what is read of a conversation come to the same, whatever comes first."""

from typing import Any

import pytest

from cli.client.client import CallFailed
from cli.tui.agent_shapes import Draft, Exchange, dollars
from cli.tui.agent_slash import Wanted, wanted_of
from cli.tui.agent_talk import MISSED, Talk

Told = tuple[str, str, dict[str, Any]]

CALL = {"turn": 1, "call": "c1", "name": "look", "arguments": '{"where": "sea"}'}

STORY: tuple[tuple[Told, dict[str, Any]], ...] = (
    (("prompt", "why?", {"prompt": 2, "sender": None}), {"outcome": "waiting"}),
    (("turn", "", {"turn": 1, "prompt": 2}), {"outcome": "running", "turn": 1}),
    (("chunk", "Because ", {"turn": 1}), {}),
    (("tool_use", "look", CALL), {}),
    (
        ("tool_result", "water", {**CALL, "failed": False}),
        {"tools": [{"name": "look", "arguments": CALL["arguments"], "failed": False}]},
    ),
    (("chunk", "of the ", {"turn": 1}), {}),
    (("chunk", "moon.", {"turn": 1}), {}),
    (
        ("answer", "Because of the moon.", {"turn": 1, "prompt": 2}),
        {"outcome": "completed", "answer": "Because of the moon."},
    ),
)
"""What is told one after the other, and what that changes in the log."""


def told(told: Told) -> dict[str, Any]:
    """A notification."""
    kind, text, data = told
    return {"sessionId": "a-1", "type": kind, "content": text, "metadata": data}


def log_after(number: int) -> list[dict[str, Any]]:
    """What ``agent_transcript`` says after so many notices."""
    row: dict[str, Any] = {"prompt": 2, "promptText": "why?"}
    for _, changes in STORY[:number]:
        row |= changes
    return [row] if number else []


def test_whenever_the_log_is_read_nothing_is_lost_doubled_or_taken_back() -> None:
    """A read as of any moment may come at any other: the answer grows, and ends whole."""
    for as_of in range(len(STORY) + 1):
        for arrives in range(len(STORY) + 1):
            talk, rank, moment = Talk("a-1"), 0, f"read as of {as_of}, after {arrives} notices"
            for number in range(len(STORY) + 1):
                if number == arrives:
                    talk.read(log_after(as_of))
                if number:
                    talk.hear(told(STORY[number - 1][0]))
                for one in talk.exchanges:
                    now = ["waiting", "running", "completed"].index(one.outcome)
                    assert now >= rank, moment
                    rank = now
                    assert len(one.tools) <= 1, moment
                    heard = one.answer.replace(MISSED, "")
                    assert heard in "Because of the moon.", moment
            talk.read(log_after(len(STORY)))
            (one,) = talk.exchanges
            assert (one.outcome, one.answer) == ("completed", "Because of the moon."), moment
            assert [(tool.name, tool.failed) for tool in one.tools] == [("look", False)], moment


def test_pieces_that_nobody_heard_leave_a_gap_until_the_answer_is_whole() -> None:
    """After a lost connection the answer goes on behind a mark; the whole one replaces it."""
    talk = Talk("a-1")
    for message, _ in STORY[:3]:
        talk.hear(told(message))
    talk.missed()
    talk.hear(told(STORY[6][0]))
    assert talk.exchanges[0].answer == "Because  […] moon."
    talk.hear(told(STORY[7][0]))
    assert talk.exchanges[0].answer == "Because of the moon."


def test_what_is_told_beside_a_turn_is_shown_once() -> None:
    """A compaction is shown when it is told, and once when the log has it too; others' are not."""
    talk = Talk("a-1")
    talk.hear(told(STORY[0][0]))
    talk.compacted(9000)
    talk.hear({**told(("warning", "It is asked again.", {})), "sessionId": "b-1"})
    assert [aside.kind for aside in talk.exchanges[0].passing] == ["conversation.compacted"]
    aside = {"kind": "conversation.compacted", "text": "up to turn 1, 9000 tokens", "agent": None}
    talk.read([{**log_after(2)[0], "asides": [aside]}])
    (one,) = talk.exchanges
    assert [a.text for a in (*one.asides, *one.passing)] == ["up to turn 1, 9000 tokens"]
    talk.hear(told(("error", "The model is gone.", {"reason": "session gone"})))
    assert [a.kind for a in talk.exchanges[0].passing] == ["error"]


@pytest.mark.parametrize(
    ("usd", "unknown", "said"),
    [(0.0, 0, "$0.00"), (0.0012, 0, "$0.0012"), (0.0, 2, "?"), (0.234, 1, "$0.23 + ?")],
)
def test_what_nobody_knows_is_never_a_zero(usd: float, unknown: int, said: str) -> None:
    """Unknown costs and an unknown context are told as ``?``."""
    assert dollars(usd, unknown) == said
    session = {"sessionId": "a-1", "role": "a", "project": "p", "taskSlug": "t"}
    assert Draft.of({**session, "contextWindow": 0, "lastInputTokens": 900}).context == "?"
    assert Draft.of({**session, "contextWindow": 1000, "lastInputTokens": 0}).context == "?"
    assert Draft.of({**session, "contextWindow": 1000, "lastInputTokens": 340}).context == "34%"


def test_whom_to_draft_is_read_in_any_order() -> None:
    """Options may stand anywhere; what can't be read is refused with how to write it."""
    assert wanted_of("--task=t analyst --project p") == Wanted("analyst", "p", "t")
    for line in ("", "analyst --project", "analyst --boss x", "analyst critic"):
        with pytest.raises(CallFailed, match="/draft ROLE"):
            wanted_of(line)
    assert Exchange(2, "x").over is False
