"""One turn of Claude Code: what it is started with, how it reaches our tools, how it ends."""

import asyncio
import json
import logging
import os
import re
import stat
import tempfile
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any, cast

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    Message,
    PermissionResultDeny,
    ProcessError,
    ResultError,
    SdkMcpTool,
    ToolPermissionContext,
    create_sdk_mcp_server,
)

from commands.agents.backend import Answer, Ask, BackendUnavailable, SessionGone, TurnBroke
from commands.agents.claude_messages import PREFIX, SERVER, Listener, Took, took_so_far
from commands.agents.claude_process import FLUSH, GRACE, ClaudeProcess, environment, executable
from commands.agents.tools import Tool
from domain.errors import Broken, LogosphereError

USAGE = 10.0
"""Seconds for which Claude Code is waited for when it is to say what a conversation has taken."""

_RULE = re.compile(r"[A-Za-z]\w*(\([^(),\"\\\x00-\x1f]*\))?")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL", re.IGNORECASE)
_KEY = re.compile(r"\bsk-[\w-]{8,}")

# what the SDK has to say is said in a sentence of ours; without this, Python prints it to stderr
logging.getLogger("claude_agent_sdk").addHandler(logging.NullHandler())

_endings: set[asyncio.Future[Any]] = set()


class ClaudeTurn:
    """One turn that is to be answered."""

    def __init__(self, model: str | None, env: Mapping[str, str], ask: Ask) -> None:
        self._model, self._env, self._ask = model, env, ask
        self._resumed = ask.agent.backend
        self._session = self._resumed or str(uuid.uuid4())
        self._listener = Listener(
            ask.hear,
            None if self._resumed else self._session,
            None if self._resumed else Took(),
        )
        self._prompted = self._stopped = False

    async def answer(self) -> Answer:
        """Answer the prompt.

        Raises:
            TurnBroke: Claude Code or the service behind it failed.
            SessionGone: Claude Code has no such conversation any more.
            BackendUnavailable: it can't be started, or nobody is logged in.
        """
        directory = self._directory()
        with tempfile.TemporaryDirectory(prefix="mind-claude-", dir=self._env.get("TMPDIR")) as own:
            # a file, since everybody on a machine can read what a process was started with
            instructions = Path(own) / "instructions.md"
            instructions.write_text(self._ask.instructions, encoding="utf-8")
            process = ClaudeProcess(
                self._command(instructions),
                environment(self._env),
                directory,
                self._listener.look,
            )
            client = ClaudeSDKClient(self._options(), transport=process)
            conversing = asyncio.create_task(self._converse(client, process))
            try:
                await asyncio.shield(conversing)
            except asyncio.CancelledError:
                await self._part(conversing, process)
                raise
            except LogosphereError:
                raise
            except Exception as error:
                if not self._stopped:
                    raise self._failure(error, process.errors) from error
            finally:
                self._listener.over()
                await _end(client, process)
        return self._whole()

    async def _part(self, conversing: "asyncio.Task[None]", process: ClaudeProcess) -> None:
        """Let it note that it was stopped, and say what it took; it may have no time for that."""
        self._stopped = True
        try:
            if self._prompted:
                await process.interrupt()
                await asyncio.wait({conversing}, timeout=GRACE)
        finally:
            conversing.cancel()
            conversing.add_done_callback(lambda late: late.cancelled() or late.exception())
            if self._listener.result is None:
                process.hurry()
            else:
                process.patience = GRACE

    async def _converse(self, client: ClaudeSDKClient, process: ClaudeProcess) -> None:
        await client.connect()
        if self._resumed:
            usage = await process.request("get_usage", USAGE, skip_behaviors=True)
            self._listener.before = took_so_far(usage)
        await client.query(self._ask.prompt)
        self._prompted = True
        with suppress(TimeoutError):
            async with (
                asyncio.timeout(None) as bound,
                aclosing(_messages(client)) as messages,
            ):
                async for message in messages:
                    again = self._listener.take(message)
                    if self._listener.result is not None:
                        process.patience = FLUSH
                        return
                    if again and not self._stopped and self._enough():
                        self._stopped = True
                        bound.reschedule(asyncio.get_running_loop().time() + FLUSH)
                        await process.interrupt()

    def _enough(self) -> bool:
        most = self._ask.agent.limits.tokens
        if most is not None and self._ask.agent.spent.tokens + self._listener.tokens >= most:
            return True
        return self._ask.enough()

    # what it is started with

    def _command(self, instructions: Path) -> list[str]:
        agent = self._ask.agent
        rules = _checked(agent.drafted.tools)
        ours = [f"{PREFIX}{tool.name}" for tool in self._ask.tools]
        servers = {SERVER: {"type": "sdk", "name": SERVER}} if ours else {}
        command = [
            *(executable(self._env), "--output-format", "stream-json", "--verbose"),
            *("--input-format", "stream-json", "--include-partial-messages"),
            *("--system-prompt-file", str(instructions)),
            *("--tools", ",".join(dict.fromkeys(rule.partition("(")[0] for rule in rules))),
            *("--permission-mode", "default", "--permission-prompt-tool", "stdio"),
            *("--setting-sources=", "--strict-mcp-config"),
            *("--mcp-config", json.dumps({"mcpServers": servers})),
            f"--resume={self._resumed}" if self._resumed else f"--session-id={self._session}",
        ]
        if rules or ours:
            command += ["--allowedTools", ",".join([*rules, *ours])]
        if self._model is not None:
            command += ["--model", self._model]
        limits, spent = agent.limits, agent.spent
        if limits.turns is not None:
            command += ["--max-turns", str(max(1, limits.turns - spent.calls))]
        if limits.budget_usd is not None:
            left = max(0.000001, limits.budget_usd - spent.cost_usd)
            command += ["--max-budget-usd", f"{left:.6f}"]
        return command

    def _options(self) -> ClaudeAgentOptions:
        tools = [self._tool(tool) for tool in self._ask.tools]
        return ClaudeAgentOptions(
            mcp_servers={SERVER: create_sdk_mcp_server(SERVER, tools=tools)} if tools else {},
            can_use_tool=self._deny,
            skills=[],
            # a prompt is text: no command of Claude Code, no file that it names
            verbatim_prompts=True,
        )

    def _directory(self) -> Path:
        """Where Claude Code works: conversations are found again by it."""
        path = self._ask.path
        if path is not None:
            if not path.is_dir():
                raise BackendUnavailable(
                    f"The project's directory {str(path)!r} is not there: put it back, or make a"
                    " project with another one."
                )
            return path.resolve()
        base = Path(self._env.get("TMPDIR") or tempfile.gettempdir()).resolve()
        home = base / f"mind-claude-{os.getuid()}"
        for directory in (home, home / self._session):
            directory.mkdir(mode=0o700, exist_ok=True)
            about = directory.lstat()
            if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid():
                raise BackendUnavailable(
                    f"{str(directory)!r} belongs to somebody else: remove it, or set TMPDIR."
                )
        return home / self._session

    # tools

    def _tool(self, tool: Tool) -> SdkMcpTool[Any]:
        async def used(arguments: dict[str, Any]) -> dict[str, Any]:
            call = self._listener.call_of(tool.name, arguments) or f"call-{uuid.uuid4().hex[:12]}"
            given = json.dumps(arguments, ensure_ascii=False)
            outcome = await self._ask.use(call, tool.name, given)
            content = [{"type": "text", "text": outcome.text}]
            return {"content": content, "is_error": outcome.failed}

        schema = {"type": "object", "properties": {}, **tool.parameters}
        return SdkMcpTool(tool.name, tool.description, schema, used)

    async def _deny(
        self, name: str, _: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultDeny:
        """Refuse what Claude Code asks about: what a role allows, it does not ask about."""
        why = f" ({context.decision_reason})" if context.decision_reason else ""
        role = self._ask.agent.drafted.role
        return PermissionResultDeny(
            message=f"The role {role!r} does not allow this use of {name}{why}."
        )

    # how it ends

    def _whole(self) -> Answer:
        """The answer, or why there is none."""
        listener, result = self._listener, self._listener.result
        model = listener.model or self._model or "claude"
        if self._stopped:
            self._ask.enough()  # by now it is known what the turn took
            return Answer(listener.text, model, "stopped")
        if result is None:
            raise TurnBroke(
                "Claude Code ended in the middle of the turn: try again.", listener.text
            )
        if not result.is_error:
            return Answer(listener.text or result.result or "", model, result.stop_reason)
        if result.subtype == "error_max_budget_usd" and result.stop_reason == "end_turn":
            return Answer(listener.text, model, result.stop_reason)
        raise self._error(result.subtype, result.errors or [], result.result)

    def _failure(self, error: Exception, stderr: str) -> Broken | BackendUnavailable:
        """What an exception of the SDK means."""
        if isinstance(error, ResultError):
            return self._error(error.subtype or "", error.errors, error.result)
        if isinstance(error, ProcessError):
            lines = [line.strip() for line in stderr.splitlines() if line.strip()]
            if self._lost(lines):
                return self._gone()
            code = error.exit_code or 0
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            why = f": {self._clean(lines[-1])}" if lines else ""
            return self._broke(f"Claude Code ended in the middle of the turn ({how}){why}")
        if isinstance(error, ClaudeSDKError):
            return self._broke(
                f"Claude Code said something that can't be read ({self._clean(str(error))})"
            )
        return self._broke(f"Claude Code failed ({self._clean(str(error))})")

    def _error(
        self, subtype: str, errors: Sequence[str], said: str | None
    ) -> Broken | BackendUnavailable:
        """What a result means that says it is an error."""
        if self._lost(errors):
            return self._gone()
        if self._listener.trouble == "authentication_failed":
            return BackendUnavailable(
                "Claude Code is not logged in: run `claude` and /login, or set ANTHROPIC_API_KEY"
                f" to a valid key ({self._clean(said or 'authentication failed')})."
            )
        if subtype == "error_max_turns":
            self._ask.enough()
            return self._broke("Claude Code has called the model as often as it may")
        if subtype == "error_max_budget_usd":
            self._ask.enough()
            return self._broke("Claude Code has spent what it may")
        why = self._clean("; ".join(errors) or said or subtype or "no reason given")
        return self._broke(f"Claude Code could not answer ({why})")

    def _lost(self, errors: Sequence[str]) -> bool:
        """Whether it says that there is nothing to resume, in the one way that it says so."""
        return self._resumed is not None and (
            f"No conversation found with session ID: {self._resumed}" in errors
        )

    def _gone(self) -> SessionGone:
        return SessionGone(
            f"Claude Code no longer has the conversation {self._session}: draft the role again;"
            " everything that was said is in the log."
        )

    def _broke(self, what: str) -> TurnBroke:
        return TurnBroke(f"{what.removesuffix('.')}.", self._listener.text)

    def _clean(self, text: str) -> str:
        """One line for a person, without any secret of the environment."""
        for name, value in self._env.items():
            if len(value) >= 6 and _SECRET.search(name):
                text = text.replace(value, "…")
        return " ".join(_KEY.sub("…", text).split())[:300]


def _checked(rules: Sequence[str]) -> Sequence[str]:
    for rule in rules:
        if not _RULE.fullmatch(rule) or rule.startswith("mcp__"):
            raise BackendUnavailable(
                f"{rule!r} is no tool of Claude Code: a role names tools such as Read or"
                " Bash(git log *)."
            )
    return rules


def _messages(client: ClaudeSDKClient) -> AsyncGenerator[Message, None]:
    # it is one, and closing it is what ends it
    return cast("AsyncGenerator[Message, None]", client.receive_messages())


async def _end(client: ClaudeSDKClient, process: ClaudeProcess) -> None:
    """End a process and all that waits for it, even when cancelled meanwhile."""
    ending = asyncio.gather(process.close(), client.disconnect(), return_exceptions=True)
    _endings.add(ending)
    ending.add_done_callback(_endings.discard)
    try:
        await asyncio.shield(ending)
    except asyncio.CancelledError:
        process.kill()
        raise
