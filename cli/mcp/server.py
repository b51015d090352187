"""What is the same over every wire: tools, resources, one prompt."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from itertools import count
from typing import Any, NamedTuple

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError

from cli.mcp import resources
from cli.mcp.hints import PERMISSION, described
from cli.mcp.pages import transcript
from cli.tools.reading import Reader
from commands.agents.arguments import checked
from commands.agents.role_file import Role
from commands.agents.tools import Tool
from domain.agent_errors import NoSuchTool, NotPermitted
from domain.errors import LogosphereError, Refused

LOGGER = logging.getLogger(__name__)

INSTRUCTIONS = """\
A Logosphere store: long dialogues between people and language models, kept as an append-only log.
A session is one dialogue; the user sends a message, the mind writes drafts, the user accepts one,
and message and answer are an exchange. Begin with list_sessions or search; where no session is
named, the current one is meant. Nothing that reads here changes anything."""

CONTINUE = types.Prompt(
    name="continue",
    title="Continue a session",
    description="Take up a dialogue where it was left: its transcript, and what awaits an answer.",
    arguments=[
        types.PromptArgument(name="session", description="Its name; else the current session.")
    ],
)

CLIENT = "mcp"
"""Who agents belong to where a client is given no name."""

TICK = 10.0
"""Seconds between two words that a call still goes on."""

_MOST_VALUES = 100

Context = ServerRequestContext[Any, Any]


class Caller(NamedTuple):
    """For whom a call is made."""

    client: str
    """Agents that are drafted belong to it."""
    role: Role | None = None
    """What it may do beyond reading; None is reading alone."""


def mcp_server(
    reader: Reader,
    read: Sequence[Tool],
    *,
    caller_of: Callable[[Context], Caller] = lambda _: Caller(CLIENT),
    tools_of: Callable[[Caller], Sequence[Tool]] = lambda _: (),
) -> Server[Any]:
    """A server over a store that is open for as long as it is used.

    Args:
        reader: the store.
        read: the tools that everybody is given.
        caller_of: who makes a request.
        tools_of: the further tools of whoever has a role.
    """
    house = _House(reader, read, caller_of, tools_of)
    return Server(
        "logosphere",
        title="Logosphere",
        version=version("logosphere"),
        instructions=INSTRUCTIONS,
        on_list_tools=house.list_tools,
        on_call_tool=house.call_tool,
        on_list_resources=house.list_resources,
        on_list_resource_templates=house.list_templates,
        on_read_resource=house.read_resource,
        on_list_prompts=house.list_prompts,
        on_get_prompt=house.get_prompt,
        on_completion=house.complete,
    )


class _House(NamedTuple):
    reader: Reader
    read: Sequence[Tool]
    caller_of: Callable[[Context], Caller]
    tools_of: Callable[[Caller], Sequence[Tool]]

    def tools(self, caller: Caller) -> Mapping[str, Tool]:
        given = self.tools_of(caller) if caller.role is not None else ()
        return {tool.name: tool for tool in (*self.read, *given)}

    async def list_tools(
        self, context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools = self.tools(self.caller_of(context)).values()
        return types.ListToolsResult(tools=[described(tool) for tool in tools])

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        caller = self.caller_of(context)
        tools = self.tools(caller)
        tool = tools.get(params.name)
        if tool is None:
            return _not_given(params.name, caller, tools)
        try:
            given = checked(tool, params.arguments)
            async with _patience(context):
                return _told(await tool.run(given))
        except LogosphereError as error:
            return _failed(error.sentence)
        except Exception:
            LOGGER.exception("The tool %s failed", params.name)
            return _failed(
                f"{params.name} failed: this is a fault of the server; its log says more."
            )

    async def list_resources(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params is not None else None
        return await asyncio.to_thread(resources.listed, self.reader, cursor)

    async def list_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.TEMPLATES)

    async def read_resource(
        self, _: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        try:
            return await asyncio.to_thread(resources.read, self.reader, str(params.uri))
        except LogosphereError as error:
            raise _error(error) from None

    async def list_prompts(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[CONTINUE])

    async def get_prompt(
        self, _: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        if params.name != CONTINUE.name:
            sentence = f"There is no prompt {params.name[:80]!r}: there is {CONTINUE.name}."
            raise MCPError(types.INVALID_PARAMS, sentence)
        try:
            session = self.reader.session((params.arguments or {}).get("session") or None)
            text = await asyncio.to_thread(transcript, self.reader.log, session)
        except LogosphereError as error:
            raise _error(error) from None
        page = types.TextResourceContents(
            uri=resources.uri_of(session), mime_type=resources.MARKDOWN, text=text
        )
        ask = (
            f"This is the session {session} so far. Take it up where it was left: answer the"
            " message that awaits its answer if there is one; else say in a few sentences where"
            " it stands and what could come next."
        )
        return types.GetPromptResult(
            description=f"Continue the session {session}.",
            messages=[
                types.PromptMessage(role="user", content=types.EmbeddedResource(resource=page)),
                types.PromptMessage(role="user", content=types.TextContent(text=ask)),
            ],
        )

    async def complete(
        self, _: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        begun = params.argument.value
        found = [name for name in self.reader.log.sessions() if name.startswith(begun)]
        values = [str(name) for name in found[::-1][:_MOST_VALUES]]
        return types.CompleteResult(
            completion=types.Completion(
                values=values, total=len(found), has_more=len(found) > len(values)
            )
        )


@asynccontextmanager
async def _patience(context: Context) -> AsyncIterator[None]:
    """Tell a client that wants to know that a call still goes on: many give up where none does."""
    if "progress_token" not in (context.meta or {}):
        yield
        return
    telling = asyncio.create_task(_tell_of(context.session))
    try:
        yield
    finally:
        telling.cancel()


async def _tell_of(session: ServerSession) -> None:
    for times in count(1):
        await asyncio.sleep(TICK)
        with suppress(Exception):  # who does not hear this may hear the answer
            await session.report_progress(times * TICK)


def _told(result: Any) -> types.CallToolResult:
    """What a tool gave, as text and, where it is an object, as data."""
    text = result if isinstance(result, str) else _json(result)
    return types.CallToolResult(
        content=[types.TextContent(text=text)],
        structured_content=json.loads(text) if isinstance(result, Mapping) else None,
    )


def _json(result: Any) -> str:
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"), default=str)


def _failed(sentence: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=sentence)], is_error=True)


def _not_given(name: str, caller: Caller, having: Mapping[str, Tool]) -> types.CallToolResult:
    """Why a tool can't be called.

    Raises:
        MCPError: there is none of this name for anybody.
    """
    if name not in PERMISSION:
        raise MCPError(types.INVALID_PARAMS, NoSuchTool(name[:80], having).sentence)
    needed = PERMISSION[name]
    if caller.role is None or needed is None:
        return _failed(
            f"{name} is for those who have a role: name one (mind mcp --role NAME, or ?role=NAME"
            " behind the address of mind serve)."
        )
    return _failed(NotPermitted(caller.role.name, needed, name).sentence)


def _error(error: LogosphereError) -> MCPError:
    code = types.INVALID_PARAMS if isinstance(error, Refused) else types.INTERNAL_ERROR
    return MCPError(code, error.sentence)
