"""A store over MCP: the official client lists and calls tools, and reads resources."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from cli.tools.reading import Reader, read_tools
from commands.agents.agent_tools import agent_tools
from commands.agents.tools import PERMISSIONS, Tool
from commands.dialogue import SendMessage
from commands.forks import fork_session
from domain.ids import SessionId
from tests.stories.cast import Stage

pytest.importorskip("mcp")
import mcp_types as types
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from cli.mcp import resources
from cli.mcp.hints import PERMISSION
from cli.mcp.server import mcp_server

READING = [
    *("list_sessions", "read_history", "read_drafts", "read_thoughts", "read_artifacts"),
    *("show_event", "search", "query", "describe_tables"),
]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A session with one accepted exchange, and a fork of it."""
    stage = Stage(tmp_path / "store").begins(embedding_model="off")
    stage.answers("why two tides?", "The Moon pulls at both halves of it.")
    at = stage.log.head(stage.session).version
    fork_session(stage.log, stage.session, at, SessionId("tides/colder"), stage.world)
    stage.does(SendMessage(text="and the Sun?"))
    return stage


def with_client(
    stage: Stage,
    use: Callable[[Client], Awaitable[None]],
    *more: Tool,
    mode: str = "legacy",
) -> None:
    """Let a client speak to a server over the stage's store, in this process."""

    async def meet() -> None:
        reader = Reader(stage.log, stage.directory, stage.world)
        server = mcp_server(reader, [*read_tools(*reader), *more])
        async with Client(server, mode=mode) as client:
            await use(client)

    asyncio.run(asyncio.wait_for(meet(), 30))


def said(result: types.CallToolResult) -> str:
    """The text of a result."""
    [content] = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_tools_that_read_are_listed_and_answer(stage: Stage, mode: str) -> None:
    """In either era of the protocol; as text, and the same as data."""

    async def use(client: Client) -> None:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == READING
        for tool in listed:
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is True
            assert tool.input_schema["additionalProperties"] is False
        for name, given in {
            "list_sessions": {},
            "read_history": {"count": 1},
            "read_drafts": {},
            "read_thoughts": {"session": "tides"},
            "read_artifacts": {"type": "fact"},
            "show_event": {"version": 1},
            "search": {"query": "Moon"},
        }.items():
            result = await client.call_tool(name, given)
            assert not result.is_error, said(result)
            assert json.loads(said(result)) == result.structured_content

    with_client(stage, use, mode=mode)


def test_the_page_about_it_names_every_tool() -> None:
    """With the permission that it needs, which is the one that gives it."""
    page = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text("utf-8")
    cells = [[cell.strip(" `") for cell in line.split("|")] for line in page.splitlines()]
    told = {row[1]: row[2] for row in cells if len(row) > 2}
    assert told.keys() >= {*READING, *PERMISSION}
    nobody: Any = None  # none of them is called
    given = agent_tools(nobody, nobody, nobody, client="", permissions=PERMISSIONS, role="")
    assert {tool.name: tool.permission for tool in given} == PERMISSION
    assert {name: told[name] or None for name in PERMISSION} == PERMISSION


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        (
            "read_history",
            {"cont": 3},
            'read_history has no "cont": it takes session, count, before.',
        ),
        ("read_history", {"count": "3"}, "it has to be a whole number"),
        ("show_event", {}, "show_event needs version."),
        ("read_history", {"session": "nope"}, "There is no session 'nope'"),
        ("read_history", {"session": "../x"}, "can't name a session"),
        ("draft_agent", {}, "draft_agent is for those who have a role"),
    ],
)
def test_a_refusal_is_a_result_that_says_why(
    stage: Stage, name: str, given: dict[str, Any], says: str
) -> None:
    """Models see the sentence, so that they can do better."""

    async def use(client: Client) -> None:
        result = await client.call_tool(name, given)
        assert result.is_error
        assert says in said(result)

    with_client(stage, use)


def test_a_tool_that_nobody_has_is_an_error(stage: Stage) -> None:
    """The protocol wants it so; the connection goes on."""

    async def use(client: Client) -> None:
        with pytest.raises(MCPError, match="There is no tool 'nope'"):
            await client.call_tool("nope", {})
        assert len((await client.list_tools()).tools) == len(READING)

    with_client(stage, use)


def test_a_fault_of_ours_says_nothing_of_the_inside(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """The log of the server has the trace; the client is told that there is one."""

    async def fails(_: dict[str, Any]) -> str:
        raise KeyError("secret")

    async def use(client: Client) -> None:
        result = await client.call_tool("fails", {})
        assert result.is_error
        assert "secret" not in said(result)
        assert "its log says more" in said(result)

    with_client(stage, use, Tool("fails", "Fails.", {"type": "object"}, fails))
    assert "KeyError: 'secret'" in caplog.text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_cancelled_call_cancels_the_tool(stage: Stage, mode: str) -> None:
    """Whoever stops waiting stops the work; other calls go on meanwhile and after."""
    began, ended = asyncio.Event(), asyncio.Event()

    async def waits(_: dict[str, Any]) -> str:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    async def use(client: Client) -> None:
        call = asyncio.ensure_future(client.call_tool("waits", {}))
        await began.wait()
        assert not (await client.call_tool("list_sessions", {})).is_error
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await ended.wait()
        assert not (await client.call_tool("list_sessions", {})).is_error

    with_client(stage, use, Tool("waits", "Waits.", {"type": "object"}, waits), mode=mode)


def test_a_long_call_says_that_it_goes_on(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """To a client that asked for it, which would give up otherwise."""
    monkeypatch.setattr("cli.mcp.server.TICK", 0.01)
    heard = asyncio.Event()

    async def waits(_: dict[str, Any]) -> str:
        await heard.wait()
        return "at last"

    async def progress(so_far: float, _: float | None, __: str | None) -> None:
        assert so_far > 0
        heard.set()

    async def use(client: Client) -> None:
        result = await client.call_tool("waits", {}, progress_callback=progress)
        assert said(result) == "at last"

    with_client(stage, use, Tool("waits", "Waits.", {"type": "object"}, waits))


def test_sessions_are_resources(stage: Stage) -> None:
    """A transcript and the drafts of each, by a URI in which slashes are written as %2F."""

    async def use(client: Client) -> None:
        listed = (await client.list_resources()).resources
        assert [str(one.uri) for one in listed] == [
            "logosphere://session/tides%2Fcolder",
            "logosphere://session/tides",
        ]
        page = await read(client, "logosphere://session/tides")
        assert "> why two tides?\n\nThe Moon pulls at both halves of it." in page
        assert "> and the Sun?\n\nThis message awaits its answer" in page
        fork = await read(client, "logosphere://session/tides%2Fcolder")
        assert "The Moon pulls" in fork
        assert "Sun" not in fork
        drafts = await read(client, "logosphere://session/tides%2Fcolder/drafts")
        assert "## Draft 1 (iteration 1, accepted" in drafts
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == [
            "logosphere://session/{name}",
            "logosphere://session/{name}/drafts",
        ]

    with_client(stage, use)


async def read(client: Client, uri: str) -> str:
    """The Markdown behind a URI."""
    [content] = (await client.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    assert content.mime_type == "text/markdown"
    return content.text


@pytest.mark.parametrize(
    "uri",
    [
        "logosphere://session/nope",
        "logosphere://session/",
        "logosphere://session/..%2F..%2Fetc",
        "logosphere://other/tides",
        "file:///etc/passwd",
    ],
)
def test_other_addresses_lead_nowhere(stage: Stage, uri: str) -> None:
    """Only sessions of the store are there."""

    async def use(client: Client) -> None:
        with pytest.raises(MCPError):
            await client.read_resource(uri)

    with_client(stage, use)


def test_many_sessions_are_listed_page_by_page(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them once; a cursor from elsewhere is refused."""
    monkeypatch.setattr(resources, "PAGE", 1)

    async def use(client: Client) -> None:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        assert [one.name for one in (*first.resources, *second.resources)] == [
            "tides/colder",
            "tides",
        ]
        assert second.next_cursor is None
        for wrong in ("-1", "999", "x"):
            with pytest.raises(MCPError, match="no cursor"):
                await client.list_resources(cursor=wrong)

    with_client(stage, use)


def test_a_prompt_takes_a_session_up(stage: Stage) -> None:
    """With its transcript; names of sessions are completed."""

    async def use(client: Client) -> None:
        [prompt] = (await client.list_prompts()).prompts
        given = await client.get_prompt(prompt.name, {"session": "tides"})
        page, ask = (message.content for message in given.messages)
        assert isinstance(page, types.EmbeddedResource)
        assert isinstance(page.resource, types.TextResourceContents)
        assert "and the Sun?" in page.resource.text
        assert isinstance(ask, types.TextContent)
        about = types.PromptReference(name=prompt.name)
        found = await client.complete(about, {"name": "session", "value": "tides/"})
        assert found.completion.values == ["tides/colder"]
        for name, session in (("continue", "nope"), ("nope", "tides")):
            with pytest.raises(MCPError, match="There is no"):
                await client.get_prompt(name, {"session": session})

    with_client(stage, use)
