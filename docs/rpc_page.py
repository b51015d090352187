"""The page about JSON-RPC, from the document that ``rpc.discover`` answers with."""

import asyncio
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cli.rpc.guard import TOKEN_FILE, Limits
from cli.rpc.handshake import handshake
from cli.rpc.openrpc import OPENRPC, discover, document
from cli.rpc.service import all_methods, open_service
from commands.eventlog import EventLog

_LIMITS = Limits()

ABOUT = f"""\
# JSON-RPC

`mind serve` answers programs, and `mind chat --connect`, over a WebSocket:
[JSON-RPC 2.0](https://www.jsonrpc.org/specification), one message a frame. Methods are called as
the verbs of the [command line](cli.md) are, and mean the same. `rpc.discover` answers with this
page for programs, an [OpenRPC {OPENRPC}](https://spec.open-rpc.org/) document.

```
$ mind serve
{{"ready": true, "url": "ws://127.0.0.1:9800/", "tokenFile": "…", "pid": 4711, "store": "…"}}
```

The line of JSON on stdout says that it is ready, and where the token is. `--port 0` takes a free
port; `--once` ends when the first client has gone; SIGTERM and Ctrl-C end it within five seconds:
turns of agents that are under way are recorded as interrupted. `GET /health` tells whether it
answers. With the extra `mcp` installed, `/mcp` speaks the Model Context Protocol.

## A conversation

```
→ {{"jsonrpc":"2.0","id":1,"method":"handshake","params":{{"protocolVersion":1,"token":"…"}}}}
← {{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":1,"serverVersion":"…", …}}}}
→ {{"jsonrpc":"2.0","id":2,"method":"subscribe","params":{{"fromPosition":0}}}}
← {{"jsonrpc":"2.0","id":2,"result":{{"subscription":1,"position":0}}}}
← {{"jsonrpc":"2.0","method":"event","params":{{"subscription":1,"position":1, …}}}}
→ {{"jsonrpc":"2.0","id":3,"method":"message","params":{{"text":"why two tides a day?"}}}}
```

- Calls of one connection run side by side and begin in the order in which they came; those of a
  batch run one after the other. Parameters are given by name, or by position: required ones first.
- `session` is the one that the store is set to where it is left out; `at` is a
  [moment](time-travel.md) such as `draft:2`, now where it is left out.
- `sessionId` is the name of the agent that a client has drafted to talk with, `agentId` that of
  any agent; a session of the dialogue is a `session`.
- An `error` holds a code, the sentence that the command line prints, and `data` with that sentence
  and the class of the refusal in `error`.
- Notifications are for those that made a handshake. Whoever reconnects subscribes from the last
  position seen: nothing is missed, and nothing comes twice. A store whose own server is away, which
  `store_status` tells, is waited for: subscriptions go on where they were, however long that takes.

## Who may call

The token is made on the first start, in `{TOKEN_FILE}` of the store or the file that
`--token-file` names, readable by its owner alone; a file that others can read is refused. It is
said in the handshake, or in the header `Authorization: Bearer …` of the upgrade. A request has to
name this server in its Host header (`--allow-host` adds a name), and pages of the web may not call
(`--allow-origin` lets one). Other machines are let in with `--host`, `--allow-remote` and
`--token-file` alone, under the names that `--allow-host` gives; what is said then can be read on
the way, so put a proxy with TLS before it.
Whoever is refused is logged on stderr, one JSON object a line, without secrets.

| limit | |
|---|---|
| a message | {_LIMITS.message_bytes >> 20} MiB |
| connections | {_LIMITS.connections} |
| calls of a connection that wait for their answer | {_LIMITS.in_flight} |
| calls of a connection | {_LIMITS.burst} at once, {_LIMITS.per_second:g} a second in the long run |
| what waits for a client that does not read | {_LIMITS.queued_messages:,} messages, \
{_LIMITS.queued_bytes >> 20} MiB |
| until the handshake | {_LIMITS.handshake_seconds:g} s |
"""


def rpc_page() -> str:
    """The whole page."""
    about = asyncio.run(_document())
    return "\n".join([ABOUT, *_codes(about), *_told(about), *_methods(about), *_shapes(about)])


async def _document() -> dict[str, Any]:
    with TemporaryDirectory() as directory:
        store = Path(directory) / "store"
        store.mkdir()
        EventLog.create(store).close()
        async with open_service(store, {}) as service:
            methods = {"handshake": handshake(), **all_methods(service)}
            itself = discover(methods)
            return document({**methods, itself.name: itself})


def _codes(about: dict[str, Any]) -> Iterator[str]:
    yield from ("## Codes", "", "| error | |", "|---|---|")
    for error in about["components"]["errors"].values():
        yield f"| `{error['code']}` | {error['message']} |"
    yield from ("", "| the connection is closed with | |", "|---|---|")
    for closing in about["x-closings"]:
        yield f"| `{closing['code']}` | {closing['meaning']} |"
    yield ""


def _told(about: dict[str, Any]) -> Iterator[str]:
    yield from ("## Notifications", "")
    for one in about["x-notifications"]:
        yield from (f"### `{one['name']}`", "", one["summary"], "")
        yield from _table(_given(one["params"]))


def _methods(about: dict[str, Any]) -> Iterator[str]:
    yield from ("## Methods", "")
    errors = about["components"]["errors"]
    common = set.intersection(*({e["$ref"] for e in one["errors"]} for one in about["methods"]))
    codes = ", ".join(f"`{errors[_name(ref)]['code']}`" for ref in sorted(common))
    yield from (f"Each may answer with {codes}; codes beside these stand with their methods.", "")
    for one in about["methods"]:
        yield from (f"### `{one['name']}`", "", one["summary"], "")
        yield from _table(_given(one["params"]), "parameter")
        result = _name(one["result"]["schema"]["$ref"])
        yield f"Result: [{result}](#{_anchor(result)})."
        own = [e["$ref"] for e in one["errors"] if e["$ref"] not in common]
        if own:
            yield "Errors: " + ", ".join(f"`{errors[_name(ref)]['code']}`" for ref in own) + "."
        yield ""


def _shapes(about: dict[str, Any]) -> Iterator[str]:
    yield from ("## Results", "")
    for name, schema in sorted(about["components"]["schemas"].items()):
        yield from (f"### {name}", "", " ".join(schema.get("description", "").split()), "")
        needed = schema.get("required", ())
        yield from _table(
            (field, shape, field in needed) for field, shape in schema.get("properties", {}).items()
        )


def _given(params: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any], bool]]:
    for one in params:
        schema = {**one["schema"], "description": one.get("description", "")}
        yield one["name"], schema, one["required"]


def _table(
    fields: Iterable[tuple[str, dict[str, Any], bool]], what: str = "field"
) -> Iterator[str]:
    rows = []
    for name, schema, required in fields:
        said = " ".join(schema.get("description", "").split()).replace("|", "\\|")
        if what == "parameter":
            needed = "required" if required else _default(schema)
            kind = _type(schema).removesuffix(" or nothing")  # which is to leave it out
            rows.append(f"| `{name}` | {kind} | {needed} | {said} |")
        else:
            rows.append(f"| `{name}` | {_type(schema)} | {said} |")
    if not rows:
        return
    columns = (what, "type", "default", "meaning") if what == "parameter" else (what, "type", "")
    yield from ("| " + " | ".join(columns) + " |", "|---" * len(columns) + "|", *rows, "")


def _default(schema: dict[str, Any]) -> str:
    default = schema.get("default")
    return "" if default in (None, "") else f"`{json.dumps(default)}`"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = _name(schema["$ref"])
        return f"[{name}](#{_anchor(name)})"
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{one}`" for one in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return "nothing" if kind == "null" else str(kind)


def _name(ref: str) -> str:
    return ref.rpartition("/")[2]


def _anchor(name: str) -> str:
    return name.lower().replace(".", "")
