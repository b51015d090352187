"""A server that is away for longer than anybody has patience: who follows goes on by himself."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.client.remote import RemoteClient
from commands.eventlog import EventLog
from commands.eventlog.patience import PATIENCE
from commands.eventlog.place import place_of
from tests.cli.conftest import MIND
from tests.commands.eventlog.stores import MAIN, grow
from tests.postgres.servers import Server

SOON = 20.0
"""Seconds after which what should have come never will; who is told to end has less."""


@pytest.fixture
def env(tmp_path: Path, own_postgres: Server) -> dict[str, str]:
    """A store on a server of its own, with tables of views and a session."""
    caches = {"XDG_CACHE_HOME": str(tmp_path / "caches"), "XDG_STATE_HOME": str(tmp_path / "state")}
    store = own_postgres.database()
    env = {**os.environ, **caches, "MIND_STORE": store}
    words = [MIND, "init", store, "why two tides?"]
    subprocess.run(words, env=env, check=True, capture_output=True)
    return env


@contextmanager
def running(env: dict[str, str], *words: str) -> Iterator["subprocess.Popen[str]"]:
    """A command of its own process."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([MIND, *words], env=env, text=True, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def line(pipe: Any) -> str:
    """The next line that a command says."""
    return str(pipe.readline())


def interrupted(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """How a command ends at Ctrl-C, and what else it said."""
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=SOON)
    return process.returncode, said


@pytest.mark.slow
def test_who_follows_goes_on_behind_an_outage_of_any_length(
    own_postgres: Server, env: dict[str, str]
) -> None:
    """Each says once that it waits, misses nothing, hears nothing twice, and ends when told to."""
    with ExitStack() as stack, EventLog(place_of(env["MIND_STORE"])) as log:
        following = stack.enter_context(running(env, "log", "--follow", "--json"))
        working = stack.enter_context(running(env, "work"))
        serving = stack.enter_context(running(env, "serve", "--port", "0"))
        whole = log.position()
        seen = [json.loads(line(following.stdout))["version"] for _ in range(whole)]
        assert "Working on" in line(working.stderr)
        there = json.loads(line(serving.stdout))
        token = Path(there["tokenFile"]).read_text("utf-8").strip()
        client = RemoteClient(there["url"], token)
        told = asyncio.run(_through_an_outage(own_postgres, client, log))
        seen += [json.loads(line(following.stdout))["version"] for _ in range(2)]
        assert seen == list(range(1, whole + 3))
        assert told == [*seen[:-2], "away", "back", *seen[-2:]]
        for process in (following, working):
            assert "going on when it is back" in line(process.stderr)
        assert "is back" in line(following.stderr)
        assert "Working on" in line(working.stderr)
        own_postgres.kill()
        for process in (following, working):
            assert "going on when it is back" in line(process.stderr)
        assert [interrupted(one) for one in (following, working, serving)] == [(0, "")] * 3


async def _through_an_outage(server: Server, client: RemoteClient, log: EventLog) -> list[Any]:
    """What a subscriber hears before, meanwhile and behind it."""
    told: list[Any] = []

    async def hear(what: Any) -> None:
        async with asyncio.timeout(SOON):
            async for method, params in client.notifications():
                if method == "event":
                    told.append(params["version"])
                elif method == "store_status":
                    told.append("away" if params["away"] else "back")
                if told[-1:] == [what]:
                    return

    try:
        await client.call("subscribe", fromPosition=0, session=MAIN)
        await hear(log.head(MAIN).version)
        server.kill()
        await hear("away")
        await asyncio.sleep(PATIENCE + 5)
        server.start()
        await hear("back")
        await hear(grow(log, MAIN, 2).version)
        return told
    finally:
        await client.close()
