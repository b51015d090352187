"""MCP over HTTP: the same store behind a token, for roles as their permissions say."""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.stories.crew import PROJECT, TASK, lay_out, report

pytest.importorskip("mcp")
pytest.importorskip("uvicorn")
import httpx
import mcp_types as types
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from cli.mcp.http import mcp_app
from cli.rpc.server import House, Server
from cli.rpc.service import open_service

TOKEN = "a-token-that-is-long-enough-for-a-test"  # noqa: S105 — of a test
BEARER = {"Authorization": f"Bearer {TOKEN}"}
ALWAYS = {"list_agents", "list_tasks", "get_task_context"}
DRAFTING = {"draft_agent", "await_agent", "kill_agent", "ask_agent"}
PROJECTS = {"list_projects", "create_project"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a project, an open task, roles, and a worker that answers from a file."""
    directory = tmp_path / "store"
    directory.mkdir()
    lay_out(directory)
    lines = tmp_path / "lines.jsonl"
    lines.write_text(json.dumps(report("success", "Fundy is predicted.")) + "\n", "utf-8")
    worker = f"---\nname: digger\ndescription: digs\nmodel: script:{lines}\n---\nYou dig.\n"
    (directory / "roles" / "digger.md").write_text(worker, "utf-8")
    return directory


@asynccontextmanager
async def serving(store: Path) -> AsyncIterator[str]:
    """The address of a server over a store, as `mind serve` mounts it."""
    async with open_service(store, {**os.environ, "HOME": str(store)}) as service:
        with socket.create_server(("127.0.0.1", 0)) as bound:
            app = mcp_app(service, TOKEN)
            house = House(methods={}, mounts={"/mcp": app})
            server = Server(house, TOKEN, bound=bound)
            address = (await server.open()).replace("ws:", "http:", 1)
            try:
                yield f"{address}mcp"
            finally:
                app.close()
                await server.close()


@asynccontextmanager
async def client_at(url: str, mode: str = "legacy") -> AsyncIterator[Client]:
    """A client that brings the token."""
    async with (
        httpx.AsyncClient(headers=BEARER, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


def story(told: Callable[[], Awaitable[None]]) -> None:
    """Tell it to its end."""
    asyncio.run(asyncio.wait_for(told(), 60))


def said(result: types.CallToolResult) -> str:
    """The text of a result."""
    [content] = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_tools_are_given_by_role(store: Path, mode: str) -> None:
    """Without a role those that read; with one also what its permissions say, and no more."""

    async def told() -> None:
        async with serving(store) as url:
            given: dict[str, set[str]] = {}
            for role in ("", "reader", "analyst"):
                async with client_at(f"{url}?role={role}", mode) as client:
                    given[role] = {tool.name for tool in (await client.list_tools()).tools}
                    drafted = await client.call_tool("draft_agent", {})
                    assert drafted.is_error
                    assert {
                        "": "for those who have a role",
                        "reader": "permissions lack 'agent-draft'",
                        "analyst": "draft_agent needs role",
                    }[role] in said(drafted)
            assert given["reader"] - given[""] == ALWAYS
            assert given["analyst"] - given["reader"] == DRAFTING | PROJECTS

    story(told)


def test_an_agent_is_drafted_and_reports(store: Path) -> None:
    """A worker does its task and its report comes back; it belongs to the client that is named."""

    async def told() -> None:
        async with serving(store) as url:
            async with client_at(f"{url}?role=analyst&client=editor") as client:
                about = {"project": PROJECT, "taskSlug": TASK}
                work = {"role": "digger", "prompt": "Predict it.", **about}
                drafted = await client.call_tool("draft_agent", work)
                agent = data(drafted)["agentId"]
                ended = data(await client.call_tool("await_agent", {"agentId": agent}))
                assert (ended["status"], ended["summary"]) == ("success", "Fundy is predicted.")
                context = await client.call_tool("get_task_context", about)
                assert "Fundy is predicted." in said(context)
            async with client_at(f"{url}?role=analyst&client=another") as other:
                refused = await other.call_tool("kill_agent", {"agentId": agent})
                assert refused.is_error
                assert f"There is no agent {agent!r}" in said(refused)

    story(told)


def data(result: types.CallToolResult) -> dict[str, Any]:
    """What a tool gave."""
    assert not result.is_error, said(result)
    found: dict[str, Any] = result.structured_content
    return found


def test_who_may_not_come_in_stays_outside(store: Path) -> None:
    """No token, a wrong one, a wrong Host or Origin, an unknown role: nothing is answered."""
    cases: list[tuple[int, dict[str, str], str]] = [
        (401, {}, ""),
        (401, {"Authorization": "Bearer wrong"}, ""),
        (401, {"Authorization": f"Basic {TOKEN}"}, ""),
        (421, {**BEARER, "Host": "evil.example"}, ""),
        (403, {**BEARER, "Origin": "https://evil.example"}, ""),
        (400, BEARER, "?role=nobody"),
        (400, BEARER, "?role=..%2F..%2Fetc%2Fpasswd"),
        (400, BEARER, f"?client={'x' * 65}"),
        (400, BEARER, "?client=a%1b[31m"),
        (400, {**BEARER, "mind-role": "nobody"}, ""),
        (200, BEARER, ""),
    ]

    async def told() -> None:
        async with serving(store) as url, httpx.AsyncClient(trust_env=False) as http:
            for status, headers, query in cases:
                accepts = {"Accept": "application/json, text/event-stream"}
                answer = await http.post(
                    url + query, json=INITIALIZE, headers={**accepts, **headers}
                )
                assert answer.status_code == status, (headers, query)
                assert ("serverInfo" in answer.text) == (status == 200)
                assert TOKEN not in answer.text

    story(told)


def test_a_server_ends_while_clients_still_listen(
    store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Streams of news are closed in order, not broken off after a while."""

    async def told() -> None:
        async with contextlib.AsyncExitStack() as clients:
            async with serving(store) as url:
                client = await clients.enter_async_context(client_at(url))
                assert (await client.list_tools()).tools
                http = await clients.enter_async_context(httpx.AsyncClient(trust_env=False))
                accepts = {"Accept": "text/event-stream", **BEARER}
                begun = await http.post(
                    url,
                    json=INITIALIZE,
                    headers={**accepts, "Accept": "application/json, text/event-stream"},
                )
                named = {**accepts, "mcp-session-id": begun.headers["mcp-session-id"]}
                news = await clients.enter_async_context(http.stream("GET", url, headers=named))
                assert news.status_code == 200
            assert [piece async for piece in news.aiter_bytes()] == []

    story(told)
    assert [r.getMessage() for r in caplog.records if r.levelname == "ERROR"] == []


def test_a_cancelled_call_is_over_on_the_server_too(store: Path) -> None:
    """Who stops waiting for an agent can go on asking; the agent is not ended by that."""

    async def told() -> None:
        slow = store.parent / "slow.jsonl"
        slow.write_text(json.dumps({"text": "late", "delay": 600}) + "\n", "utf-8")
        role = f"---\nname: sleeper\ndescription: x\nmodel: script:{slow}\n---\nYou sleep.\n"
        (store / "roles" / "sleeper.md").write_text(role, "utf-8")
        async with serving(store) as url, client_at(f"{url}?role=analyst") as client:
            work = {"role": "sleeper", "prompt": "Sleep.", "project": PROJECT, "taskSlug": TASK}
            agent = data(await client.call_tool("draft_agent", work))["agentId"]
            waiting = asyncio.ensure_future(client.call_tool("await_agent", {"agentId": agent}))
            listed = data(await client.call_tool("list_agents", {}))["agents"]
            assert [one["agentId"] for one in listed] == [agent]
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            killed = data(await client.call_tool("kill_agent", {"agentId": agent}))
            assert killed["agentId"] == agent
            assert data(await client.call_tool("list_agents", {}))["agents"] == []

    story(told)
