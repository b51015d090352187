"""`mind mcp`: the installed command, spoken to over its pipes."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from commands.eventlog import EventLog
from domain.streams import agent_stream
from tests.cli.conftest import MIND, Mind
from tests.stories.cast import Stage
from tests.stories.crew import PROJECT, TASK, lay_out

pytest.importorskip("mcp")
import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

INITIALIZE = {
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A store with one accepted exchange."""
    stage = Stage(tmp_path / "store").begins(embedding_model="off")
    stage.answers("why two tides?", "The Moon pulls at both halves of it.")
    return stage


@contextmanager
def started(home: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """The installed command with pipes."""
    env = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([MIND, "mcp", *words], env=env, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def told(process: subprocess.Popen[bytes], **message: Any) -> None:
    """Send it a message."""
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def heard(process: subprocess.Popen[bytes]) -> Any:
    """The next message that comes from it."""
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def test_a_client_starts_it_and_reads(stage: Stage, tmp_path: Path) -> None:
    """As an editor does: a tool, a refusal, a page."""
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "MIND_STORE": str(stage.directory)}

    async def meet() -> None:
        how = StdioServerParameters(command=str(MIND), args=["mcp"], env=env)
        async with Client(stdio_client(how), mode="legacy") as client:
            assert client.server_info is not None
            assert client.server_info.name == "logosphere"
            read = await client.call_tool("read_history", {})
            assert read.structured_content["exchanges"][0]["message"] == "why two tides?"
            wrong = await client.call_tool("read_history", {"count": 0})
            assert wrong.is_error
            [content] = wrong.content
            assert isinstance(content, types.TextContent)
            assert content.text == "count of read_history is 0: it has to be from 1 to 50."
            [page] = (await client.read_resource("logosphere://session/tides")).contents
            assert isinstance(page, types.TextResourceContents)
            assert "The Moon pulls" in page.text

    asyncio.run(asyncio.wait_for(meet(), 60))


def test_nothing_but_messages_is_on_stdout(stage: Stage, tmp_path: Path) -> None:
    """What is no message is answered as such, and the end of stdin is the end, in order."""
    with started(tmp_path, "--store", str(stage.directory)) as process:
        told(process, **INITIALIZE)
        assert heard(process)["result"]["serverInfo"]["name"] == "logosphere"
        told(process, method="notifications/initialized")
        assert process.stdin is not None
        process.stdin.write(b"this is no message\n\n[]\n")
        told(process, id=2, method="tools/call", params={"name": "list_sessions"})
        while (message := heard(process)).get("id") != 2:
            assert message["jsonrpc"] == "2.0"
        assert message["result"]["structuredContent"]["current"] == "tides"
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out, b"Traceback" in err) == (0, b"", False)


def test_told_to_end_it_closes_everything_in_order(tmp_path: Path) -> None:
    """SIGTERM while a worker is at its turn: the log says that it was interrupted."""
    store = tmp_path / "store"
    store.mkdir()
    lay_out(store)
    lines = tmp_path / "slow.jsonl"
    lines.write_text(json.dumps({"text": "late", "delay": 600}) + "\n", "utf-8")
    role = f"---\nname: sleeper\ndescription: x\nmodel: script:{lines}\n---\nYou sleep.\n"
    (store / "roles" / "sleeper.md").write_text(role, "utf-8")
    with started(tmp_path, "--store", str(store), "--role", "analyst") as process:
        told(process, **INITIALIZE)
        assert "result" in heard(process)
        told(process, method="notifications/initialized")
        work = {"role": "sleeper", "prompt": "Sleep.", "project": PROJECT, "taskSlug": TASK}
        told(process, id=2, method="tools/call", params={"name": "draft_agent", "arguments": work})
        agent = heard(process)["result"]["structuredContent"]["agentId"]
        with EventLog(store) as log:
            while not any(r.event.kind == "turn.started" for r in log.read(agent_stream(agent).id)):
                os.sched_yield()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    with EventLog(store) as log:
        kinds = [recorded.event.kind for recorded in log.read(agent_stream(agent).id)]
    assert "turn.failed" in kinds


def test_what_can_not_be_served_is_said_at_once(asked_within: Mind) -> None:
    """An unknown role, or the past: one sentence, and nothing begins."""
    nobody = asked_within("mcp", "--role", "nobody", "--store", "thinking")
    assert (nobody.code, nobody.out) == (2, "")
    assert "There is no role 'nobody'" in nobody.err
    past = asked_within("at", "1", "mcp", MIND_STORE="thinking")
    assert past.code == 2
    assert "leave mind at out" in past.err
