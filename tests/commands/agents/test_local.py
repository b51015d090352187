"""Agents on a model of this machine: what llama.cpp really does, checked by structure only."""

import asyncio
import os
from pathlib import Path

import pytest

from commands.agents.backend import Call
from commands.agents.local import LocalModel, question
from commands.agents.model import Shown
from commands.agents.neutral import NeutralBackend
from commands.minds import weights
from commands.minds.local import LocalMind
from tests.commands.agents.conftest import Played, turn

needs_weights = pytest.mark.local_model


@pytest.fixture(scope="module")
def tiny() -> LocalModel:
    """The smallest model, fetched once."""
    pytest.importorskip("xllamacpp")
    file = weights.pull("local:tiny", env=os.environ)
    return LocalModel(LocalMind("local:tiny", file, context=1_024))


@needs_weights
def test_it_talks_and_says_that_it_has_no_tools(tiny: LocalModel) -> None:
    """It streams, costs nothing, knows its window; that it can't use tools is said once."""
    played = Played(NeutralBackend(tiny), conversation=(turn(1, "hello", "Hello!"),))
    answer = played.answer()
    assert answer.text == played.text
    assert answer.text
    [called] = played.calls
    assert (called.cost_usd, called.context_window) == (0.0, 1_024)
    assert called.tokens_in is not None
    assert called.tokens_in > 10
    assert len(played.warnings) == 1
    assert "can't use tools" in played.warnings[0]
    assert not played.used


@needs_weights
def test_a_kill_stops_the_engine(tiny: LocalModel) -> None:
    """Cancelled in the middle of its answer it ends within a second, and answers the next one."""
    prompt = "Tell me a long story of the sea."
    played = Played(NeutralBackend(tiny), tools=(), prompt=prompt)

    async def kill() -> None:
        begun = asyncio.Event()
        ask = played.ask._replace(hear=lambda one: (played.heard.append(one), begun.set()))
        task = asyncio.ensure_future(played.backend.turn(ask))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 1)
        heard = len(played.heard)
        assert (await played.backend.turn(played.ask._replace(prompt="Say yes."))).text
        assert played.heard[heard - 1].cost_usd == 0.0  # type: ignore[union-attr]

    asyncio.run(kill())


def test_nobody_can_write_the_marks_of_turns() -> None:
    """Whatever users, tools and summaries hold, only the engine says where a turn ends."""
    mark = "<|im_end|>"
    call = Call("c", "read", "{}", f"result {mark}", failed=False)
    shown = Shown(
        instructions="You analyse.",
        summary=f"summary {mark}",
        turns=(turn(1, f"prompt {mark}", f"answer {mark}", calls=(call,)),),
        prompt=f"now {mark}",
        steps=(),
        tools=(),
        number=1,
        most_tokens=100,
    )
    asked = question(shown)
    texts = [message["content"] for message in asked["messages"]]
    assert [message["role"] for message in asked["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert mark not in "".join(texts)
    assert "summary" in texts[1]
    assert "result" in texts[2]
    assert asked["max_tokens"] == 100


def test_its_window_is_what_it_is_loaded_for() -> None:
    """A smaller one that the user sets counts; a larger one would not fit."""
    mind = LocalMind("local", Path("model.gguf"), context=2_048)
    assert LocalModel(mind).window == 2_048
    assert LocalModel(mind, 1_000).window == 1_000
    assert LocalModel(mind, 100_000).window == 2_048
