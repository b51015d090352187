"""Many clients at once on a real server: what they were answered, and what it took the server."""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cli.client.remote import RemoteClient
from commands.eventlog import EventLog
from domain.events import PromptSubmitted, TurnCompleted, TurnStarted
from domain.ids import SessionId
from tests.stories.crew import PROJECT, TASK, lay_out, scripted


class Served(NamedTuple):
    """A server that is ready."""

    url: str
    token: str
    pid: int

    def cpu(self) -> float:
        """Seconds of CPU that it has taken so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> int:
        """KiB that it holds now."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if "VmRSS" in line)


class Talked(NamedTuple):
    """What came of it."""

    answers: list[list[str]]
    """What each client was answered, in the order in which it had asked."""
    memory: list[int]
    """KiB of the server, each time that a tenth was answered."""
    seconds: float
    cpu: float
    """Seconds of CPU that the server took for it, drafting included."""


@asynccontextmanager
async def served(store: Path) -> AsyncIterator[Served]:
    """``mind serve`` in a process of its own; it has to end well."""
    mind = Path(sys.executable).with_name("mind")
    command = (str(mind), "serve", "--port", "0", "--store", str(store))
    env = {**os.environ, "XDG_STATE_HOME": str(store / "state")}
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=env
    )
    if process.stdout is None:
        raise OSError("no output")
    try:
        ready = json.loads(await process.stdout.readline())
        yield Served(ready["url"], _token(ready), ready["pid"])
    finally:
        process.terminate()
        await process.communicate()
    if process.returncode:
        raise OSError(f"it ended with {process.returncode}")


def _token(ready: dict[str, Any]) -> str:
    return Path(ready["tokenFile"]).read_text("utf-8").strip()


async def crowd(store: Path, clients: int, prompts: int) -> Talked:
    """Let so many clients say so many things each, each of them without waiting for answers."""
    lay_out(store)
    model = scripted(store, *({"text": f"answer {n}"} for n in range(prompts)))
    memory: list[int] = []
    total, answered = clients * prompts, 0
    async with served(store) as server:

        def count() -> None:
            nonlocal answered
            answered += 1
            if answered * 10 // total > len(memory):
                memory.append(server.memory())

        async def talk(number: int) -> list[str]:
            client = RemoteClient(server.url, server.token, f"client-{number}")
            try:
                where = {"role": "reader", "project": PROJECT, "task": TASK, "model": model}
                await client.call("draft", **where)
                heard: list[str] = []
                listening = asyncio.create_task(_listen(client, heard, prompts, count))
                for n in range(prompts):
                    await client.call("submit_prompt", content=f"{number}: question {n}")
                    if n % 20 == 19:  # at most 100 wait for an agent
                        await _reached(heard, n - 19, listening)
                await listening
                return heard
            finally:
                await client.close()

        began, before = time.monotonic(), server.cpu()
        answers = await asyncio.gather(*(talk(number) for number in range(clients)))
        seconds, cpu = time.monotonic() - began, server.cpu() - before
    return Talked(answers, memory, seconds, cpu)


async def _listen(
    client: RemoteClient, heard: list[str], prompts: int, count: Callable[[], None]
) -> None:
    async for method, told in client.notifications():
        if method == "channel_message" and told["type"] == "answer":
            heard.append(told["content"])
            count()
            if len(heard) == prompts:
                return


async def _reached(heard: list[str], least: int, listening: "asyncio.Task[None]") -> None:
    while len(heard) < least and not listening.done():
        await asyncio.wait({listening}, timeout=0.05)


def logged(store: Path) -> list[list[tuple[str, str]]]:
    """Of each agent, what was said and answered, by the log; turns must not overlap.

    Raises:
        ValueError: they do.
    """
    with EventLog(store, writable=False) as log:
        return [_turns(log, stream) for stream in log.streams("agent")]


def _turns(log: EventLog, stream: SessionId) -> list[tuple[str, str]]:
    said: dict[int, str] = {}
    turns: list[tuple[str, str]] = []
    going: int | None = None
    for recorded in log.read(stream):
        match recorded.event:
            case PromptSubmitted(text=text):
                said[recorded.version] = text
            case TurnStarted(prompt=prompt):
                if going is not None:
                    raise ValueError(f"turns of {stream} overlap")
                going = prompt
            case TurnCompleted(prompt=prompt, text=text):
                if going != prompt:
                    raise ValueError(f"a turn of {stream} ends that had not begun")
                turns.append((said[prompt], text))
                going = None
    return turns
