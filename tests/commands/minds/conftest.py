"""What the tests of minds share: a provider on loopback, and a request to ask with."""

import json
from collections.abc import Iterator

import pytest

from commands.minds.mind import Request
from tests.fakes.provider import Provider

KEY = "sk-a-secret-that-nobody-may-read-0123456789"


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """A provider that listens for the time of one test."""
    # a proxy of the machine must not come between the test and its own loopback
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Provider() as running:
        yield running


@pytest.fixture
def env(provider: Provider) -> dict[str, str]:
    """An environment in which every provider is the one on loopback."""
    return {
        "OPENAI_API_KEY": KEY,
        "OPENROUTER_API_KEY": KEY,
        "ANTHROPIC_API_KEY": KEY,
        "OPENAI_COMPATIBLE_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{provider.url}/v1",
        "OPENROUTER_BASE_URL": f"{provider.url}/api/v1",
        "ANTHROPIC_BASE_URL": provider.url,
        "OLLAMA_HOST": provider.url,
    }


@pytest.fixture
def request_() -> Request:
    """A small request with time enough for loopback."""
    return Request(
        system="You are a mind.",
        examples=(),
        prompt="dialogue: {awaiting: why two tides?}",
        max_tokens=400,
        temperature=None,
        seed=7,
        timeout=10.0,
        iteration=1,
    )


@pytest.fixture
def compact(request_: Request) -> Request:
    """The same for a local mind: with an example turn, in the compact dialect."""
    shown = {
        "thoughts": ["The far bulge is what people find odd."],
        "draft": "The moon pulls near water more and far water less, so two bulges stand.",
    }
    return request_._replace(
        system="Reply in JSON: thoughts are short remarks to yourself, draft is your answer.",
        examples=(("awaiting: why is there a far bulge?", json.dumps(shown)),),
        timeout=120.0,
    )
