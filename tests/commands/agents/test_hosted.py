"""Agents on hosted models, against a real HTTP server that speaks their protocols."""

import asyncio
import json
import traceback
from collections.abc import Mapping

import pytest

from commands.agents.backend import BackendUnavailable, Call, Compacted, Text, TurnBroke
from commands.agents.choose import make_model
from commands.agents.neutral import NeutralBackend
from commands.agents.tools import Outcome
from tests.commands.agents.conftest import KEY, Played, agent_on, turn
from tests.fakes import provider as fake
from tests.fakes.provider import Answer, Provider
from tests.fakes.tool_calls import Calls, Endless

LOOK = ("call_1", "list_tasks", '{"project": "payments"}')


def backend(env: Mapping[str, str], model: str = "openai:gpt-5-mini") -> NeutralBackend:
    """A backend that does not wait between two tries."""
    return NeutralBackend(make_model(model, env), base=0.0, chance=lambda: 0.0)


def test_an_answer_streams_and_says_what_it_took(provider: Provider, env: dict[str, str]) -> None:
    """Pieces, usage, cached tokens apart, cost and the known window: all of it is told."""
    provider.behaves(Calls("It is the refunds.", tokens_in=1_000, tokens_out=40, cached=600))
    played = Played(backend(env))
    answer = played.answer()
    assert answer.text == played.text == "It is the refunds. "
    assert (answer.model, answer.finish) == ("gpt-5-mini", "stop")
    assert sum(isinstance(one, Text) for one in played.heard) == 4
    [called] = played.calls
    assert (called.tokens_in, called.cache_read, called.tokens_out) == (400, 600, 40)
    assert (called.context_tokens, called.context_window) == (1_000, 400_000)
    assert called.cost_usd is not None
    assert 0 < called.cost_usd < 0.01


@pytest.mark.parametrize("model", ["openai:gpt-5-mini", "openrouter:x/y", "ollama:qwen3"])
def test_a_tool_is_used_and_its_result_shown(
    model: str, provider: Provider, env: dict[str, str]
) -> None:
    """The call goes to the tool, its result back to the model, and all text is the answer."""
    provider.behaves(Calls("I look.", calls=(LOOK,)), Calls("The refunds."))
    played = Played(backend(env, model))
    answer = played.answer()
    assert played.used == [LOOK]
    assert answer.text == played.text == "I look. \n\nThe refunds. "
    first, second = provider.requests
    [tool] = first.body["tools"]
    assert tool["function"]["name"] == "list_tasks"
    *_, asked, called, result = second.body["messages"]
    assert asked["content"] == "What is open?"
    assert json.loads(called["tool_calls"][0]["function"]["arguments"]) == {"project": "payments"}
    assert (result["tool_call_id"], result["content"]) == ("call_1", '["refunds"]')
    assert len(played.calls) == 2


def test_anthropic_is_spoken_to_in_its_own_words(provider: Provider, env: dict[str, str]) -> None:
    """Its stream, its tool calls, and its cache, which is asked for and counted apart."""
    provider.behaves(
        Calls("I look.", calls=(LOOK,), model="claude-haiku-4-5", cached=100),
        Calls("The refunds.", model="claude-haiku-4-5"),
    )
    played = Played(backend(env, "anthropic:claude-haiku-4-5"))
    played.outcome = Outcome("no such project", failed=True)
    assert played.answer().text == "I look.\n\nThe refunds."
    assert played.used == [LOOK]
    first, second = provider.requests
    assert "cache_control" in json.dumps(first.body)
    [result] = second.body["messages"][-1]["content"]
    assert (result["type"], result["is_error"]) == ("tool_result", True)
    called = played.calls[0]
    assert (called.tokens_in, called.cache_read, called.context_tokens) == (20, 100, 120)
    assert called.context_window == 200_000


def test_two_tools_are_used_one_after_another(provider: Provider, env: dict[str, str]) -> None:
    """Several calls in one reply: in their order, each result under its own call."""
    other = ("call_2", "list_tasks", '{"project": "shop"}')
    provider.behaves(Calls(calls=(LOOK, other)), Calls("Both."))
    played = Played(backend(env))
    assert played.answer().text == "Both. "
    assert played.used == [LOOK, other]
    results = [m["tool_call_id"] for m in provider.requests[1].body["messages"][-2:]]
    assert results == ["call_1", "call_2"]


def test_enough_ends_the_turn_behind_a_tool(provider: Provider, env: dict[str, str]) -> None:
    """Once nothing more is wanted, the model is not asked again; what it said is the answer."""
    provider.behaves(Calls("I look.", calls=(LOOK,)))
    played = Played(backend(env))
    played.enough = lambda: bool(played.used)
    assert played.answer().text == "I look. "
    assert len(provider.requests) == 1


def test_arguments_that_are_no_json_come_back_to_the_model(
    provider: Provider, env: dict[str, str]
) -> None:
    """They are passed on as they are; what the tool makes of them is shown to the model."""
    provider.behaves(Calls(calls=(("c", "list_tasks", '{"project": '),)), Calls("Sorry."))
    played = Played(backend(env))
    played.outcome = Outcome("The arguments are no JSON.", failed=True)
    assert played.answer().text == "Sorry. "
    assert played.used == [("c", "list_tasks", '{"project": ')]
    assert "are no JSON" in provider.requests[1].body["messages"][-1]["content"]


def test_the_conversation_is_shown_in_order(provider: Provider, env: dict[str, str]) -> None:
    """Earlier turns with their tools, a failed one with what had arrived, a summary before all."""
    provider.behaves(Calls("Yes."))
    used = (Call("1", "list_tasks", "[redacted]", "[redacted]", failed=False),)
    earlier = (
        turn(4, "hello", "Good day.", calls=used),
        turn(5, "again", "Good", failed=True),
        turn(6, "well?", ""),
    )
    Played(backend(env), conversation=earlier, summary="User: I am Ann.").answer()
    [asked] = provider.requests
    roles = [message["role"] for message in asked.body["messages"]]
    assert roles == [
        "system",
        *("user", "assistant", "tool", "assistant"),
        *("user", "assistant"),
        *("user", "assistant"),
        "user",
    ]
    texts = [message.get("content") for message in asked.body["messages"]]
    assert texts[0] == "You analyse."
    assert "User: I am Ann." in texts[1]
    assert texts[1].endswith("hello")
    assert (texts[3], texts[4]) == ("[redacted]", "Good day.")
    assert texts[6].startswith("Good\n\n[This answer broke off")
    assert texts[8]
    assert texts[9] == "What is open?"


def test_too_many_requests_are_asked_again_later(provider: Provider, env: dict[str, str]) -> None:
    """A refusal that passes is waited for, and whoever waits is told so."""
    provider.behaves(fake.refusal(429, "slow down"), fake.refusal(503), Calls("Here."))
    played = Played(backend(env))
    assert played.answer().text == "Here. "
    first, second = played.warnings
    assert "429" in first
    assert "503" in second
    assert len(played.calls) == 1


def test_patience_ends(provider: Provider, env: dict[str, str]) -> None:
    """After the last try the turn has failed, and has cost nothing."""
    provider.behaves(fake.refusal(503, "down"))
    played = Played(backend(env))
    broke = played.breaks()
    assert "asked 4 times" in broke.sentence
    assert (len(provider.requests), broke.partial) == (4, "")
    [called] = played.calls
    assert (called.calls, called.cost_usd) == (1, 0.0)


def test_a_stream_that_breaks_keeps_what_arrived(provider: Provider, env: dict[str, str]) -> None:
    """It is not asked again, since what was heard can't be taken back; its cost is unknown."""
    provider.behaves(Calls("I look.", calls=(LOOK,)), fake.half("It is the"))
    played = Played(backend(env))
    broke = played.breaks()
    assert broke.partial == played.text
    assert broke.partial.startswith("I look. \n\nIt is")
    assert "broke off" in broke.sentence
    assert len(provider.requests) == 2
    assert played.calls[-1].cost_usd is None


@pytest.mark.parametrize("behaviour", [fake.GARBAGE, fake.NO_CHOICES, fake.unfinished("")])
def test_no_reply_at_all_is_a_sentence(
    behaviour: fake.Behaviour, provider: Provider, env: dict[str, str]
) -> None:
    """Bytes that are no reply break the turn; nothing else does."""
    provider.behaves(behaviour)
    assert "openai:gpt-5-mini" in Played(backend(env)).breaks().sentence


@pytest.mark.parametrize("status", [401, 503])
@pytest.mark.parametrize("model", ["openai:gpt-5-mini", "anthropic:claude-haiku-4-5"])
def test_a_key_is_in_no_error(
    model: str, status: int, provider: Provider, env: dict[str, str]
) -> None:
    """A provider that repeats the key is quoted without it, in warnings and tracebacks too."""
    provider.behaves(fake.echoing(status))
    played = Played(backend(env, model))
    broke = played.breaks()
    told = [*traceback.format_exception(broke), *played.warnings]
    assert len(played.warnings) == (3 if status == 503 else 0)
    assert KEY[:20] not in "".join(told)
    assert ("API_KEY" in broke.sentence) == (status == 401)


def test_cancelling_ends_the_request(provider: Provider, env: dict[str, str]) -> None:
    """The provider sees that nobody listens any more; the call counts, at an unknown cost."""
    endless = Endless()
    provider.behaves(endless)
    played = Played(backend(env))

    async def kill() -> None:
        begun = asyncio.Event()
        ask = played.ask._replace(hear=lambda one: (played.heard.append(one), begun.set()))
        task = asyncio.ensure_future(played.backend.turn(ask))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 1)

    asyncio.run(kill())
    assert endless.hung_up.wait(10)
    [called] = played.calls
    assert (called.calls, called.cost_usd) == (1, None)


def test_a_missing_key_is_said_before_anything_is_asked(env: dict[str, str]) -> None:
    """The sentence names the variable."""
    with pytest.raises(BackendUnavailable, match="OPENAI_API_KEY"):
        make_model("openai:gpt-5-mini", {**env, "OPENAI_API_KEY": ""})


def test_a_window_of_the_users_is_the_window(provider: Provider, env: dict[str, str]) -> None:
    """MIND_CONTEXT_WINDOW stands above what the price list knows."""
    provider.behaves(Answer())
    played = Played(backend({**env, "MIND_CONTEXT_WINDOW": "5000"}))
    played.answer()
    assert played.calls[0].context_window == 5_000
    [asked] = provider.requests
    assert asked.body["max_completion_tokens"] == 1_250


def test_what_can_never_fit_is_not_sent(provider: Provider, env: dict[str, str]) -> None:
    """A prompt beyond the window is a sentence with the numbers; no request is made."""
    one = backend({**env, "MIND_CONTEXT_WINDOW": "1000"})
    played = Played(one, agent=agent_on("m"), prompt="word " * 5_000)
    broke = played.breaks()
    assert isinstance(broke, TurnBroke)
    assert "MIND_CONTEXT_WINDOW" in broke.sentence
    assert not provider.requests


LONG = tuple(
    turn(n, f"What of region {n}? " + "so " * 60, "It owes refunds.") for n in range(1, 30)
)


def test_a_hosted_model_sums_up_what_makes_way(provider: Provider, env: dict[str, str]) -> None:
    """One call more, without tools, counted too; its notes stand before the newest turns."""
    provider.behaves(Calls("Ann audits refunds."), Calls("Yes."))
    one = backend({**env, "MIND_CONTEXT_WINDOW": "2500"})
    played = Played(one, conversation=LONG, summary="User: I am Ann.")
    assert played.answer().text == played.text == "Yes. "
    summing, asked = provider.requests
    assert "I am Ann" in summing.body["messages"][1]["content"]
    assert "region 1?" in summing.body["messages"][1]["content"]
    assert "tools" not in summing.body
    assert "Ann audits refunds." in asked.body["messages"][1]["content"]
    [compacted] = [heard for heard in played.heard if isinstance(heard, Compacted)]
    assert compacted.summary == "Ann audits refunds."
    assert 1 <= compacted.upto < 29
    assert len(played.calls) == 2


def test_a_summary_that_fails_is_made_without_the_model(
    provider: Provider, env: dict[str, str]
) -> None:
    """The turn goes on, with a summary of the conversation's own sentences."""
    provider.behaves(fake.refusal(500), Calls("Yes."))
    one = backend({**env, "MIND_CONTEXT_WINDOW": "2500"})
    played = Played(one, conversation=LONG)
    assert played.answer().text == "Yes. "
    assert "User: What of region" in provider.requests[1].body["messages"][1]["content"]
