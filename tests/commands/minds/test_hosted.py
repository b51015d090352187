"""Hosted minds against a real HTTP server: each behaviour has its stated result."""

import logging
import os
import signal
import traceback
from collections.abc import Mapping

import pytest

from commands.minds.choose import make_mind
from commands.minds.failures import QUOTED
from commands.minds.hosted import MOST_TEXT
from commands.minds.mind import Mind, MindFailed, Reply, Request
from tests.commands.minds.conftest import KEY
from tests.fakes import provider as fake
from tests.fakes.provider import Answer, Behaviour, Provider

CHAT = ("openai", "openrouter", "url")
"""The ways to speak chat completions that every behaviour is tried on."""


def mind_of(way: str, provider: Provider, env: Mapping[str, str]) -> Mind:
    """A mind that asks the provider on loopback."""
    names = {
        "openai": "openai:gpt-5-mini",
        "openrouter": "openrouter:anthropic/claude-haiku-4.5",
        "url": f"{provider.url}/v1#qwen3",
        "ollama": "ollama:qwen3",
        "anthropic": "anthropic:claude-haiku-4-5",
    }
    return make_mind(names[way], env=env)


@pytest.fixture(params=CHAT)
def mind(request: pytest.FixtureRequest, provider: Provider, env: dict[str, str]) -> Mind:
    """One mind of each way."""
    return mind_of(request.param, provider, env)


@pytest.fixture(params=["whole", "streamed"])
def ask(request: pytest.FixtureRequest, mind: Mind, request_: Request) -> "Ask":
    """Ask that mind, with and without a listener."""
    return Ask(mind, request_, streamed=request.param == "streamed")


class Ask:
    """One way to ask, so that each behaviour is met by both."""

    def __init__(self, mind: Mind, request: Request, *, streamed: bool) -> None:
        self.mind, self.request, self.streamed = mind, request, streamed
        self.heard: list[str] = []

    def __call__(self, timeout: float | None = None) -> Reply:
        """Ask once."""
        request = self.request if timeout is None else self.request._replace(timeout=timeout)
        return self.mind.reply(request, self.heard.append if self.streamed else None)

    def fails(self, timeout: float | None = None) -> MindFailed:
        """Ask once, and expect no reply."""
        with pytest.raises(MindFailed) as failed:
            self(timeout)
        return failed.value


def test_a_reply_says_what_it_took(provider: Provider, ask: Ask) -> None:
    """Text, model, tokens, latency and the reason of its end arrive, streamed or whole."""
    provider.behaves(Answer())
    reply = ask()
    assert reply.text == Answer().text
    assert (reply.model, reply.tokens_in, reply.tokens_out) == ("gpt-5-mini", 120, 40)
    assert (reply.finish, reply.attempts) == ("stop", 1)
    assert reply.latency_ms > 0
    assert "".join(ask.heard) == (reply.text if ask.streamed else "")
    assert len(ask.heard) == (Answer().pieces if ask.streamed else 0)


def test_the_request_carries_all_that_was_asked(provider: Provider, ask: Ask) -> None:
    """System, example turns and prompt are sent in this order, with limits, seed and key."""
    provider.behaves(Answer())
    ask.request = ask.request._replace(examples=(("q", "a"),), temperature=0.5)
    ask()
    [asked] = provider.requests
    spoken = [(turn["role"], turn["content"]) for turn in asked.body["messages"]]
    assert [role for role, _ in spoken] == ["system", "user", "assistant", "user"]
    assert [text for _, text in spoken] == [ask.request.system, "q", "a", ask.request.prompt]
    limit = asked.body.get("max_tokens") or asked.body.get("max_completion_tokens")
    assert (limit, asked.body["seed"]) == (400, 7)
    # a reasoning model takes no temperature, and nothing is printed about it
    reasons = asked.body["model"] == "gpt-5-mini"
    assert asked.body.get("temperature") == (None if reasons else 0.5)
    assert asked.headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("way", "answer", "cost"),
    [
        ("openrouter", Answer(cost=0.0123, model="anthropic/claude-haiku-4.5"), 0.0123),
        ("openrouter", Answer(model="nobody/knows-this"), None),
        ("openai", Answer(model="nobody-knows-this"), None),
        ("url", Answer(model="gpt-5-mini"), None),
        ("ollama", Answer(model="qwen3"), 0.0),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_an_unknown_cost_is_never_zero(
    way: str,
    answer: Answer,
    cost: float | None,
    streamed: bool,
    provider: Provider,
    env: dict[str, str],
    request_: Request,
) -> None:
    """The charge that was reported counts; a price nobody knows is None; Ollama is free."""
    provider.behaves(answer)
    reply = Ask(mind_of(way, provider, env), request_, streamed=streamed)()
    assert reply.cost_usd == cost


def test_a_known_model_has_its_list_price(
    provider: Provider, env: dict[str, str], request_: Request
) -> None:
    """Where the provider reports no charge, the price list gives one."""
    provider.behaves(Answer(model="gpt-5-mini", tokens_in=1_000_000))
    reply = mind_of("openai", provider, env).reply(request_)
    assert reply.cost_usd is not None
    assert 0.01 < reply.cost_usd < 10


def test_no_text_is_a_reply_without_text(provider: Provider, ask: Ask) -> None:
    """An empty completion is silence, which is an answer; it is no failure."""
    provider.behaves(Answer(text=""))
    assert ask().text == ""


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_its_variable(status: int, provider: Provider, ask: Ask) -> None:
    """401 and 403 are not tried again; the sentence says which variable to check."""
    provider.behaves(fake.refusal(status, "bad key"))
    failed = ask.fails()
    assert not failed.retryable
    assert "check OPEN" in failed.sentence
    assert failed.sentence.rstrip(".").endswith("_API_KEY")


def test_a_limit_says_how_long_to_wait(provider: Provider, ask: Ask) -> None:
    """429 may be tried again, and Retry-After is handed on in seconds."""
    provider.behaves(fake.refusal(429, "slow down", Retry_After="7"))
    failed = ask.fails()
    assert (failed.retryable, failed.retry_after) == (True, 7.0)
    assert "slow down" in failed.sentence


def test_no_credit_is_not_a_limit(provider: Provider, ask: Ask) -> None:
    """402 is final: waiting fills no account."""
    provider.behaves(fake.refusal(402, "pay first"))
    failed = ask.fails()
    assert not failed.retryable
    assert "top up" in failed.sentence


@pytest.mark.parametrize(
    ("status", "retryable"), [(400, False), (404, False), (422, False), (408, True)]
)
def test_a_refused_request_is_final(
    status: int, retryable: bool, provider: Provider, ask: Ask
) -> None:
    """Other 4xx are not tried again, except the one that says the server was too slow."""
    provider.behaves(fake.refusal(status))
    assert ask.fails().retryable is retryable


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_trouble_of_the_provider_may_pass(status: int, provider: Provider, ask: Ask) -> None:
    """5xx may be tried again."""
    provider.behaves(fake.refusal(status))
    failed = ask.fails()
    assert failed.retryable
    assert str(status) in failed.sentence


def test_one_attempt_is_one_request(provider: Provider, ask: Ask) -> None:
    """The libraries' own retries are off: the log would not know of them."""
    provider.behaves(fake.refusal(503), Answer())
    ask.fails()
    assert len(provider.requests) == 1


def test_silence_ends_with_the_time_of_the_attempt(provider: Provider, ask: Ask) -> None:
    """A provider that never answers is a timeout, which may be tried again."""
    provider.behaves(fake.silence)
    failed = ask.fails(timeout=0.5)
    assert failed.retryable
    assert "within 0.5 s" in failed.sentence


def test_a_stalled_stream_keeps_what_came(
    provider: Provider, mind: Mind, request_: Request
) -> None:
    """The time is that of the whole attempt, and the text before it ran out is kept."""
    provider.behaves(fake.stalled("draft: Because the"))
    failed = Ask(mind, request_, streamed=True).fails(timeout=1.0)
    assert (failed.retryable, failed.partial) == (True, "draft: Because the")


def test_no_server_is_a_failure_that_may_pass(request_: Request) -> None:
    """A port where nobody listens can't be reached; it may be tried again."""
    with Provider() as gone:
        url = gone.url
    mind = make_mind(f"{url}/v1#m", env={})
    failed = Ask(mind, request_, streamed=False).fails()
    assert failed.retryable
    assert "can't be reached" in failed.sentence


@pytest.mark.parametrize("behaviour", [fake.half(), fake.unfinished(), fake.failing_stream()])
def test_half_a_stream_is_kept(
    behaviour: Behaviour, provider: Provider, mind: Mind, request_: Request
) -> None:
    """A broken, an unfinished and a failing stream may be tried again; what came is kept."""
    provider.behaves(behaviour)
    ask = Ask(mind, request_, streamed=True)
    failed = ask.fails()
    assert (failed.retryable, failed.partial) == (True, "draft: Because the")
    assert "".join(ask.heard) == failed.partial


@pytest.mark.parametrize(
    "behaviour",
    [fake.GARBAGE, fake.EMPTY, fake.WRONG_TYPE, fake.WRONG_SHAPE, fake.NO_CHOICES],
    ids=["garbage", "empty", "wrong type", "wrong shape", "no choices"],
)
def test_what_is_no_reply_may_be_tried_again(
    behaviour: Behaviour, provider: Provider, ask: Ask
) -> None:
    """Bytes that the protocol does not know are one short sentence, not a traceback."""
    provider.behaves(behaviour)
    failed = ask.fails()
    assert failed.retryable
    assert "no reply" in failed.sentence
    assert len(failed.sentence) < QUOTED + 200


def test_a_reply_without_end_is_cut(provider: Provider, ask: Ask) -> None:
    """A reply far beyond any limit is refused for good, whatever it says."""
    provider.behaves(Answer(text="x" * (2 * MOST_TEXT), pieces=40))
    failed = ask.fails()
    assert not failed.retryable
    assert len(failed.partial) == MOST_TEXT


@pytest.mark.parametrize("way", [*CHAT, "anthropic"])
@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_key_that_comes_back_is_cut_out(
    way: str,
    status: int,
    provider: Provider,
    env: dict[str, str],
    request_: Request,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """No error, no traceback and no log line repeats the key, not even the beginning of it."""
    caplog.set_level(logging.DEBUG)
    provider.behaves(fake.echoing(status))
    failed = Ask(mind_of(way, provider, env), request_, streamed=False).fails()
    told = "".join(traceback.format_exception(failed)) + repr(failed.__dict__)
    for text in (failed.sentence, told, caplog.text):
        assert KEY[:12] not in text
    assert len(failed.sentence) < QUOTED + 200
    assert "bad key [key]" in failed.sentence
    assert failed.__context__ is None


def test_anthropic_answers_in_its_own_protocol(
    provider: Provider, env: dict[str, str], request_: Request
) -> None:
    """The messages protocol gives the same reply: text, tokens, price and reason."""
    provider.behaves(Answer(model="claude-haiku-4-5-20251001"))
    reply = mind_of("anthropic", provider, env).reply(request_)
    assert reply.text == Answer().text
    assert (reply.tokens_in, reply.tokens_out, reply.finish) == (120, 40, "stop")
    assert reply.cost_usd is not None
    [asked] = provider.requests
    assert asked.body["max_tokens"] == 400
    assert KEY in (asked.headers["Authorization"] or asked.headers["x-api-key"])


@pytest.mark.parametrize(
    ("behaviour", "retryable"),
    [
        (fake.refusal(401), False),
        (fake.refusal(429, Retry_After="3"), True),
        (fake.refusal(529), True),
        (fake.EMPTY, True),
        (fake.WRONG_SHAPE, True),
    ],
)
def test_anthropic_fails_by_the_same_rules(
    behaviour: Behaviour,
    retryable: bool,
    provider: Provider,
    env: dict[str, str],
    request_: Request,
) -> None:
    """What may be tried again does not depend on the protocol."""
    provider.behaves(behaviour)
    failed = Ask(mind_of("anthropic", provider, env), request_, streamed=False).fails()
    assert failed.retryable is retryable


def test_what_a_listener_raises_is_not_the_providers_fault(
    provider: Provider, mind: Mind, request_: Request
) -> None:
    """A listener's own error comes out as it is."""

    def broken(_piece: str) -> None:
        raise BrokenPipeError("the terminal is gone")

    provider.behaves(Answer())
    with pytest.raises(BrokenPipeError, match="terminal"):
        mind.reply(request_, broken)


def test_ctrl_c_ends_a_request_at_once(provider: Provider, mind: Mind, request_: Request) -> None:
    """An interrupt does not wait for the provider, and is no failed attempt."""

    def interrupt(exchange: fake.Exchange) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        fake.silence(exchange)

    provider.behaves(interrupt)
    with pytest.raises(KeyboardInterrupt):
        mind.reply(request_)
