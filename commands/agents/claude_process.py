"""A process of Claude Code: started with what it needs and no more, ended with all it started.

To the SDK it is a transport. The one of the SDK itself hands on the whole environment, and its
process outlives a cancelled turn by seconds.
"""

import asyncio
import json
import os
import shutil
import signal
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import claude_agent_sdk
from claude_agent_sdk import CLIJSONDecodeError, ProcessError, Transport

from commands.agents.backend import BackendUnavailable

EXECUTABLE = "MIND_CLAUDE"
"""The variable that names another executable."""

LINE = 64 * 1024 * 1024
"""Bytes of the longest message that is read."""

GRACE = 0.4
"""Seconds between asking a process to end and ending it."""

FLUSH = 5.0
"""Seconds in which a process that has answered may finish writing its conversation."""

_PASSED = frozenset(
    [
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ"),
        *("TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "API_TIMEOUT_MS"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"),
        *("http_proxy", "https_proxy", "no_proxy", "all_proxy"),
        *("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
        *("CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CODE_SHELL", "CLAUDE_CODE_CLIENT_CERT"),
        *("CLAUDE_CODE_CLIENT_KEY", "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE"),
    ]
)
_PREFIXES = ("LC_", "XDG_", "ANTHROPIC_")
_CLOUDS = {
    "BEDROCK": ("AWS_",),
    "VERTEX": ("GOOGLE_", "GCLOUD_", "CLOUD_ML_", "VERTEX_"),
    "FOUNDRY": ("AZURE_",),
}


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that Claude Code needs: its keys, the network, the locale."""
    prefixes: tuple[str, ...] = _PREFIXES
    names = _PASSED
    for cloud, clouds_own in _CLOUDS.items():
        if env.get(f"CLAUDE_CODE_USE_{cloud}"):
            prefixes = (*prefixes, *clouds_own)
            names |= {f"CLAUDE_CODE_USE_{cloud}", f"CLAUDE_CODE_SKIP_{cloud}_AUTH"}
    passed = {n: value for n, value in env.items() if n in names or n.startswith(prefixes)}
    return {
        **passed,
        "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
        "CLAUDE_AGENT_SDK_VERSION": claude_agent_sdk.__version__,
        # an agent is what its role and the log say, not what a file of the machine remembers
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def executable(env: Mapping[str, str]) -> str:
    """The path of Claude Code: the one that is named, else the SDK's own, else one on the PATH.

    Raises:
        BackendUnavailable: there is none.
    """
    named = env.get(EXECUTABLE)
    if named:
        found = shutil.which(Path(named).expanduser(), path=env.get("PATH"))
        if found is None:
            raise BackendUnavailable(
                f"{EXECUTABLE} says that Claude Code is {named!r}, and no program is there:"
                " correct it, or leave it away for the one that comes with the SDK."
            )
        return str(Path(found).absolute())  # it is started somewhere else
    bundled = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
    found = str(bundled) if bundled.is_file() else shutil.which("claude", path=env.get("PATH"))
    if found is None:
        raise BackendUnavailable(
            "Claude Code is not on this machine: install it, and set"
            f" {EXECUTABLE} to its path if it is not on the PATH."
        )
    return found


class ClaudeProcess(Transport):
    """One process of Claude Code, as the transport of one client of its SDK."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        directory: Path,
        look: Callable[[dict[str, Any]], None],
    ) -> None:
        """Nothing is started yet.

        Args:
            command: the executable and its flags.
            env: all of the process's environment.
            directory: where it works.
            look: shown each message before anything comes of it.
        """
        self._command, self._env, self._directory, self._look = command, env, directory, look
        self.patience = 0.0
        """Seconds that it is given to end by itself."""
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._exit: asyncio.Task[None] | None = None
        self._errors: deque[bytes] = deque(maxlen=8)
        self._asked: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._closing: asyncio.Task[None] | None = None
        self._ending = False
        self._family: set[tuple[int, str]] = set()
        """Every process that it is known to have started."""

    @property
    def errors(self) -> str:
        """The end of what it wrote to its stderr."""
        return b"".join(self._errors).decode(errors="replace")

    async def connect(self) -> None:
        """Start the process, as the head of a group of its own.

        Raises:
            BackendUnavailable: it can't be started.
        """
        pipe = asyncio.subprocess.PIPE
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                cwd=self._directory,
                env={**self._env, "PWD": str(self._directory)},
                start_new_session=True,
                limit=LINE,
            )
        except OSError as error:
            raise BackendUnavailable(
                f"Claude Code can't be started ({error.strerror}): see that"
                f" {self._command[0]!r} is its executable ({EXECUTABLE} names another one)."
            ) from error
        self._reading = asyncio.create_task(self._read_errors(self._process))
        self._exit = asyncio.create_task(_exit(self._process))

    async def write(self, data: str) -> None:
        """Hand it a message; one that it can't take any more is known by its end."""
        process = self._process
        if process is None or process.stdin is None or process.stdin.is_closing():
            return
        with suppress(ConnectionError):
            process.stdin.write(data.encode())
            await process.stdin.drain()

    async def request(self, subtype: str, seconds: float, **more: Any) -> dict[str, Any] | None:
        """Ask it something beside the conversation; None where it has no answer in time."""
        name = f"mind_{subtype}"
        self._asked[name] = future = asyncio.get_running_loop().create_future()
        await self.write(_control(name, {"subtype": subtype, **more}))
        with suppress(TimeoutError):
            return await asyncio.wait_for(future, seconds)
        return None

    async def interrupt(self) -> None:
        """Ask it to end the turn, and to say what it took."""
        await self.write(_control("mind_interrupt", {"subtype": "interrupt"}))

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """What it says, message by message, until it ends.

        Raises:
            CLIJSONDecodeError: what it says is no JSON.
            ProcessError: it ended badly, and nobody had asked it to.
        """
        process = self._process
        if process is None or process.stdout is None:
            return
        while line := await self._line(process.stdout):
            message = _message(line)
            if message is None or self._answers(message):
                continue
            self._look(message)
            yield message
        for future in self._asked.values():
            if not future.done():
                future.set_result({})
        await self._ended(FLUSH)
        code = process.returncode
        if code and not self._ending:
            if self._reading is not None:
                await asyncio.wait({self._reading}, timeout=GRACE)
            raise ProcessError("Claude Code ended", exit_code=code)

    def is_ready(self) -> bool:
        """Whether it can be spoken to."""
        return self._process is not None and self._process.returncode is None

    async def end_input(self) -> None:
        """Say that nothing more comes."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def hurry(self) -> None:
        """Ask it to end at once; :meth:`close` sees to it."""
        self._ending, self.patience = True, 0.0
        self._ask_to_end()

    def kill(self) -> None:
        """End it and what it has started, now."""
        if self._process is not None:
            self._family |= _family(self._process.pid)
            _kill(self._process.pid, self._family)

    async def close(self) -> None:
        """End it, within a second and its patience; it and what it has started are gone then."""
        if self._process is None:
            return
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(self._process))
        try:
            await asyncio.shield(self._closing)
        except asyncio.CancelledError:
            self.kill()
            raise

    async def _close(self, process: asyncio.subprocess.Process) -> None:
        self._ending = True
        self._family |= _family(process.pid)
        await self.end_input()
        if not await self._ended(self.patience):
            self._ask_to_end()
            await self._ended(GRACE)
        self.kill()
        await self._ended(GRACE)
        watching = {task for task in (self._reading, self._exit) if task is not None}
        for task in watching:
            task.cancel()
        await asyncio.wait(watching)
        # a pipe that somebody else still holds would keep it open
        process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001 — no other way

    async def _ended(self, seconds: float) -> bool:
        if self._exit is not None:
            await asyncio.wait({self._exit}, timeout=seconds)
        return self._process is None or self._process.returncode is not None

    async def _line(self, stream: asyncio.StreamReader) -> bytes:
        """The next line; empty once the process is gone, even if somebody holds its pipe."""
        if self._exit is None:
            return b""
        reading = asyncio.ensure_future(stream.readline())
        try:
            await asyncio.wait({reading, self._exit}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                await asyncio.wait({reading}, timeout=GRACE)
            return reading.result() if reading.done() else b""
        except ValueError as error:
            raise CLIJSONDecodeError("a message without an end", error) from error
        finally:
            reading.cancel()

    def _ask_to_end(self) -> None:
        if self._process is not None and self._process.returncode is None:
            # once it is gone, nobody can tell whose children its children were
            self._family |= _family(self._process.pid)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGTERM)

    def _answers(self, message: dict[str, Any]) -> bool:
        """Whether a message is the answer to what only this process's owner asked."""
        if message.get("type") != "control_response":
            return False
        response = message.get("response") or {}
        name = response.get("request_id")
        future = self._asked.get(str(name))
        if future is not None and not future.done():
            answer = response.get("response")
            future.set_result(answer if isinstance(answer, dict) else {})
        return isinstance(name, str) and name.startswith("mind_")

    async def _read_errors(self, process: asyncio.subprocess.Process) -> None:
        while process.stderr is not None and (piece := await process.stderr.read(1024)):
            self._errors.append(piece)


def _control(name: str, request: dict[str, Any]) -> str:
    message = {"type": "control_request", "request_id": name, "request": request}
    return json.dumps(message) + "\n"


async def _exit(process: asyncio.subprocess.Process) -> None:
    # waiting for a process is also waiting for whoever holds its pipes
    while process.returncode is None:  # noqa: ASYNC110 — nothing else tells
        await asyncio.sleep(0.02)


def _message(line: bytes) -> dict[str, Any] | None:
    """One message; None for a line that is none, such as what a debug mode prints."""
    text = line.decode(errors="replace").strip()
    if not text.startswith("{"):
        return None
    try:
        message: dict[str, Any] = json.loads(text)
    except ValueError as error:
        # the end of a message whose process is gone; that it is gone is what matters
        if not line.endswith(b"\n"):
            return None
        raise CLIJSONDecodeError(text, error) from error
    return message


def _kill(leader: int, family: set[tuple[int, str]]) -> None:
    """End a group, and those of a family that have left it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    for pid, began in family:
        if _stat(pid)[1] == began:  # the number may be another's by now
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _family(leader: int) -> set[tuple[int, str]]:
    """The descendants of a process and when they began; empty where no /proc tells.

    Commands that Claude Code runs are in groups of their own.
    """
    children: dict[str, list[int]] = {}
    with suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208 — a Path for each process is too much
            if name.isdigit():
                children.setdefault(_stat(int(name))[0], []).append(int(name))
    family, left = set(), [leader]
    while left:
        for child in children.get(str(left.pop()), ()):
            if began := _stat(child)[1]:
                family.add((child, began))
            left.append(child)
    return family


def _stat(pid: int) -> tuple[str, str]:
    """The parent of a process, and the tick in which it began; empty where it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "", ""
    fields = stat.rpartition(")")[2].split()
    return fields[1], fields[19]
