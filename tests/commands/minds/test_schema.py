"""A reply that is held to a JSON schema: what each kind of mind is sent, and what without one."""

import json
import os
from collections.abc import Mapping

import pytest

from commands.minds import weights
from commands.minds.choose import make_mind
from commands.minds.local import LocalMind
from commands.minds.mind import Request
from tests.commands.minds.test_hosted import mind_of
from tests.fakes.provider import Answer, Provider

SCHEMA = {
    "type": "object",
    "properties": {
        "tides": {"type": "integer"},
        "why": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["tides", "why"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("way", ["openai", "openrouter", "url", "ollama"])
@pytest.mark.parametrize("streamed", [False, True])
def test_chat_completions_carry_the_schema(
    way: str, streamed: bool, provider: Provider, env: Mapping[str, str], request_: Request
) -> None:
    """It is sent as the format of the response, and only where one is asked for."""
    provider.behaves(Answer('{"tides": 2, "why": null}'))
    mind = mind_of(way, provider, env)
    heard: list[str] = []
    listener = heard.append if streamed else None
    reply = mind.reply(request_._replace(schema=SCHEMA), listener)
    assert json.loads(reply.text) == {"tides": 2, "why": None}
    mind.reply(request_, listener)
    held, free = provider.requests
    form = held.body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"]["properties"].keys() == {"tides", "why"}
    assert form["json_schema"]["schema"]["required"] == ["tides", "why"]
    assert "response_format" not in free.body
    assert held.body["messages"] == free.body["messages"]


@pytest.mark.parametrize(
    ("model", "can_be_held"), [("claude-haiku-4-5", True), ("claude-unheard-of", False)]
)
def test_anthropic_carries_it_where_the_model_knows_it(
    model: str, can_be_held: bool, provider: Provider, env: Mapping[str, str], request_: Request
) -> None:
    """A model that can't be held is asked without, and not refused."""
    provider.behaves(Answer("{}"))
    make_mind(f"anthropic:{model}", env=env).reply(request_._replace(schema=SCHEMA))
    [asked] = provider.requests
    assert ("output_config" in asked.body) == can_be_held


@pytest.mark.local_model
def test_a_mind_on_this_machine_is_held_to_it(compact: Request) -> None:
    """The engine constrains what is decoded to the schema instead of the compact form."""
    pytest.importorskip("xllamacpp")
    tiny = LocalMind("local:tiny", weights.pull("local:tiny", env=os.environ))
    reply = tiny.reply(compact._replace(schema=SCHEMA, max_tokens=60))
    if reply.finish == "length":
        assert "".join(reply.text.split()).startswith('{"tides":')
    else:
        assert set(json.loads(reply.text)) == {"tides", "why"}
