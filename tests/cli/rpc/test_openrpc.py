"""rpc.discover: what it says is well formed, complete, and true of what the server sends."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cli.rpc.dispatcher import Dispatcher
from cli.rpc.draft_session import DraftSession
from cli.rpc.errors import ALWAYS, CODES, code_of
from cli.rpc.handshake import handshake
from cli.rpc.openrpc import discover, document, notes_of
from cli.rpc.service import all_methods, open_service
from domain import agent_errors, errors
from domain.errors import LogosphereError
from tests.cli.rpc.serving import Someone
from tests.stories.cast import Stage

CONTENT = {
    "type": "object",
    "required": ["name", "schema"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "summary": {"type": "string"},
        "description": {"type": "string"},
        "required": {"type": "boolean"},
        "deprecated": {"type": "boolean"},
        "schema": {"type": "object"},
    },
}
REFERENCE = {
    "type": "object",
    "required": ["$ref"],
    "additionalProperties": False,
    "properties": {"$ref": {"type": "string"}},
}
ERROR = {
    "type": "object",
    "required": ["code", "message"],
    "additionalProperties": False,
    "properties": {"code": {"type": "integer"}, "message": {"type": "string"}, "data": {}},
}
OPENRPC = {
    "type": "object",
    "required": ["openrpc", "info", "methods"],
    "additionalProperties": False,
    "patternProperties": {"^x-": {}},
    "properties": {
        "openrpc": {"enum": ["1.3.2"]},
        "info": {
            "type": "object",
            "required": ["title", "version"],
            "additionalProperties": False,
            "properties": {
                "title": {"type": "string"},
                "version": {"type": "string"},
                "description": {"type": "string"},
                "license": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"name": {"type": "string"}, "url": {"type": "string"}},
                },
            },
        },
        "servers": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["url"],
                "additionalProperties": False,
                "properties": {"url": {"type": "string"}, "name": {"type": "string"}},
            },
        },
        "methods": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "params", "result"],
                "additionalProperties": False,
                "properties": {
                    "name": {"type": "string", "minLength": 1},
                    "summary": {"type": "string", "minLength": 1},
                    "description": {"type": "string"},
                    "paramStructure": {"enum": ["by-name", "by-position", "either"]},
                    "params": {"type": "array", "items": CONTENT},
                    "result": CONTENT,
                    "errors": {"type": "array", "items": REFERENCE},
                },
            },
        },
        "components": {
            "type": "object",
            "properties": {
                "schemas": {"patternProperties": {"[0-z]+": {"type": "object"}}},
                "errors": {"patternProperties": {"[0-z]+": ERROR}},
            },
        },
    },
}
"""The part of the meta-schema of OpenRPC 1.3.2 that our document makes use of."""


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What ``rpc.discover`` answers, as a client reads it."""
    stage = Stage(tmp_path_factory.mktemp("described")).begins()

    async def ask() -> Any:
        async with open_service(stage.directory, {}) as service:
            methods = {"handshake": handshake(), **all_methods(service)}
            itself = discover(methods)
            call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"})
            text = await Dispatcher({**methods, itself.name: itself}).answer(Someone(), call)
            return json.loads(text or "")["result"]

    found: dict[str, Any] = asyncio.run(ask())
    return found


def refs(value: Any) -> Iterator[str]:
    """All references that stand in it."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from [one] if key == "$ref" else refs(one)
    elif isinstance(value, list):
        for one in value:
            yield from refs(one)


def test_it_is_as_the_specification_wants_it(described: dict[str, Any]) -> None:
    """By its meta-schema; and each of its schemas is one."""
    jsonschema.Draft7Validator(OPENRPC).validate(described)
    for schema in described["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    for method in described["methods"]:
        for one in method["params"]:
            jsonschema.Draft202012Validator.check_schema(one["schema"])


def test_every_reference_leads_somewhere_and_nothing_is_left_over(
    described: dict[str, Any],
) -> None:
    """Each shape stands there once, under a name that a person can read."""
    components = described["components"]
    there = {f"#/components/{kind}/{name}" for kind, of in components.items() for name in of}
    named = set(refs(described))
    assert named <= there
    assert {f"#/components/schemas/{name}" for name in components["schemas"]} <= named
    assert not [name for name in components["schemas"] if "__" in name or "-" in name]


def test_every_method_has_all_that_is_promised(described: dict[str, Any]) -> None:
    """A summary, its parameters with the required ones first, a result, its errors."""
    names = [method["name"] for method in described["methods"]]
    assert len(names) == len(set(names))
    assert {"handshake", "subscribe", "rpc.discover", "status", "draft", "query"} <= set(names)
    for method in described["methods"]:
        required = [one["required"] for one in method["params"]]
        assert required == sorted(required, reverse=True), method["name"]
        codes = [CODES[-int(ref.rpartition("E")[2])] for ref in refs(method["errors"])]
        assert len(codes) >= len(ALWAYS)


def test_every_refusal_has_a_code_that_is_described(described: dict[str, Any]) -> None:
    """Whatever class of this project it is of."""
    known = {one["code"] for one in described["components"]["errors"].values()}
    for module in (errors, agent_errors):
        for one in vars(module).values():
            if isinstance(one, type) and issubclass(one, LogosphereError):
                assert code_of(one.__new__(one)) in known


def test_fields_are_described_where_the_source_describes_them(described: dict[str, Any]) -> None:
    """The strings under fields, in one line; those of nested shapes, too."""
    (event,) = [one for one in described["x-notifications"] if one["name"] == "event"]
    position = next(one for one in event["params"] if one["name"] == "position")
    assert position["description"].startswith("Its place in the store")
    assert notes_of(DraftSession)["context_pct"] == "0 to 100; None while nobody knows."


def test_what_clients_are_told_is_as_described(tmp_path: Path) -> None:
    """Of an agent that is drafted and ended, and of what that leaves in the log."""
    stage, peer = Stage(tmp_path / "store").begins(), Someone()
    lines = tmp_path / "agent.jsonl"
    lines.write_text('{"text": "Twice."}', encoding="utf-8")
    draft = {"role": "researcher", "project": "payments", "task": "refunds"}
    draft["model"] = f"script:{lines}"

    async def talk() -> None:
        async with open_service(stage.directory, {}) as service:
            service.attach(peer)
            dispatcher = Dispatcher(all_methods(service))
            for method, params in (
                ("create_project", {"name": "payments"}),
                ("create_task", {"project": "payments", "name": "Refunds"}),
                ("draft", draft),
                ("submit_prompt", {"content": "how often?", "wait": True}),
                ("undraft", {}),
            ):
                call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                answer = json.loads(await dispatcher.answer(peer, json.dumps(call)) or "")
                assert "result" in answer, answer
            whole = service.log.position()
            await service.subscriptions.begin(peer, 0, None)
            await peer.hears(lambda _, params: params.get("position") == whole)

    asyncio.run(talk())
    shapes = {one["name"]: one["params"] for one in document({})["x-notifications"]}
    for method, params in peer.told:
        needed = {one["name"] for one in shapes[method] if one["required"]}
        assert needed <= set(params) <= {one["name"] for one in shapes[method]}, method
        for one in shapes[method]:
            if one["name"] in params:
                value = json.loads(json.dumps(params[one["name"]], default=str))
                jsonschema.validate(value, one["schema"])
    told = {method for method, _ in peer.told}
    assert {"event", "channel_message", "draft_status", "pool_status"} <= told
