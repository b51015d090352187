"""mind serve: ready when it says so, gone when it is told to, and nobody let in by mistake."""

import asyncio
import json
import os
import signal
import socket
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from cli.rpc.guard import token_of
from cli.serve import Plan, serve_until_told
from commands.eventlog import EventLog
from domain.events import TurnFailed
from domain.streams import agent_stream
from tests.cli.conftest import MIND, Mind
from tests.cli.rpc.serving import Talk, talking
from tests.stories.cast import Stage


@pytest.fixture
def mind(within: Mind) -> Mind:
    """All in this process."""
    return within


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a session whose mind has its lines in a file."""
    (tmp_path / "lines.txt").write_text("draft: The Moon pulls twice a day.\n", encoding="utf-8")
    model = f"script:{tmp_path}/lines.txt"
    stage = Stage(tmp_path / "store").begins(embedding_model="off", model=model)
    stage.log.close()
    return stage.directory


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """What an agent says, slowly."""
    file = tmp_path / "agent.jsonl"
    file.write_text(json.dumps({"text": "The Moon pulls harder.", "pace": 0.3}), encoding="utf-8")
    return file


def serving(
    store: Path, does: Callable[[str, str], Awaitable[Any]], *, once: bool = False, drafts: int = 1
) -> list[str]:
    """Serve a store in this process until what is done with address and token is done.

    Returns what was noted on the way to the end.
    """
    noted: list[str] = []
    token = token_of(store / "serve.token")

    async def both() -> None:
        with socket.create_server(("127.0.0.1", 0)) as bound:
            port = bound.getsockname()[1]
            plan = Plan(store, store / "serve.token", once, [], [], drafts, 4)
            served = asyncio.create_task(
                serve_until_told(plan, bound, at_the_end=lambda: noted.append("ending"))
            )
            await does(f"ws://127.0.0.1:{port}/", token)
            async with asyncio.timeout(20):
                await served

    asyncio.run(both())
    return noted


async def greeted(client: Talk, token: str) -> None:
    """Make the handshake."""
    assert "result" in await client.ask("handshake", protocolVersion=1, token=token)


def test_once_ends_when_the_first_client_has_gone(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who only knocked does not count; one line of JSON says when it is ready."""

    async def visit(url: str, token: str) -> None:
        async with talking(url, greet=False) as nobody:
            await nobody.ask("handshake", protocolVersion=1, token="wrong")  # noqa: S106
        async with talking(url, greet=False) as client:
            await greeted(client, token)
            assert (await client.ask("status"))["result"]["session"] == "tides"

    assert serving(store, visit, once=True) == ["ending"]
    told = capsys.readouterr()
    (line,) = told.out.splitlines()
    ready = json.loads(line)
    assert ready["ready"]
    assert ready["url"].startswith("ws://127.0.0.1:")
    assert ready["pid"] == os.getpid()
    assert ready["store"] == str(store)
    (refused,) = map(json.loads, told.err.splitlines())
    assert refused["event"] == "refused"
    assert refused["code"] == 4003
    assert token_of(Path(ready["tokenFile"])) not in told.out + told.err


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_clients_are_told(store: Path, how: signal.Signals) -> None:
    """With the code for going away."""
    codes: list[int | None] = []

    async def visit(url: str, token: str) -> None:
        async with talking(url, greet=False) as client:
            await greeted(client, token)
            await client.ask("subscribe", fromPosition=0)
            os.kill(os.getpid(), how)
            codes.append(await client.code())

    assert serving(store, visit) == ["ending"]
    assert codes == [1001]


def test_other_programs_find_the_door_for_their_agents(store: Path) -> None:
    """At /mcp, with the same token; and nothing where nothing is."""
    pytest.importorskip("mcp")
    found: list[int] = []

    async def visit(url: str, token: str) -> None:
        async with aiohttp.ClientSession() as session:
            for path in ("mcp", "nothing"):
                async with session.post(url.replace("ws:", "http:") + path, data=b"{}") as answer:
                    found.append(answer.status)
        async with talking(url, greet=False) as client:
            await greeted(client, token)

    serving(store, visit, once=True)
    assert found == [401, 404]


async def drafting(client: Talk, token: str, lines: Path) -> dict[str, Any]:
    """Make the handshake, and draft an agent that says these lines; the parameters of the draft."""
    draft = {"role": "researcher", "project": "tides", "task": "bulges"}
    draft["model"] = f"script:{lines}"
    for method, params in (
        ("handshake", {"protocolVersion": 1, "clientName": "ann", "token": token}),
        ("create_project", {"name": "tides"}),
        ("create_task", {"project": "tides", "name": "Bulges"}),
        ("draft", draft),
    ):
        answer = await client.ask(method, **params)
        assert "result" in answer, answer
    return draft


async def speaks(client: Talk) -> None:
    """Ask the agent, and hear its first words."""
    assert "result" in await client.ask("submit_prompt", content="why?")
    told = [*client.told]
    while not any(one["params"].get("type") == "chunk" for one in told):
        told.append(await client.hear())


def test_what_an_agent_says_when_it_ends_is_recorded_as_interrupted(
    store: Path, lines: Path
) -> None:
    """The turn has an end, and nobody takes it for lost later."""

    async def visit(url: str, token: str) -> None:
        async with talking(url, greet=False) as client:
            await drafting(client, token, lines)
            await speaks(client)
            os.kill(os.getpid(), signal.SIGTERM)
            assert await client.code() == 1001

    serving(store, visit)
    with EventLog(store) as log:
        *_, last = log.read(agent_stream("researcher-1").id)
    assert isinstance(last.event, TurnFailed)
    assert last.event.reason == "interrupted"


def test_a_client_has_as_many_drafts_as_the_server_allows(store: Path, lines: Path) -> None:
    """And then a refusal of its own."""
    codes: list[int | None] = []

    async def visit(url: str, token: str) -> None:
        async with talking(url, greet=False) as client:
            draft = await drafting(client, token, lines)
            for _ in range(2):
                answer = await client.ask("draft", **draft)
                codes.append(answer.get("error", {}).get("code"))

    serving(store, visit, once=True, drafts=2)
    assert codes == [None, -32004]


def test_a_whole_exchange_can_be_had_over_the_wire(store: Path) -> None:
    """Run, accept, and the next message, while the events come in."""

    async def visit(url: str, token: str) -> None:
        async with talking(url, greet=False) as client:
            await greeted(client, token)
            await client.ask("subscribe")
            assert (await client.ask("run"))["result"]["reason"] == "draft"
            assert (await client.ask("accept"))["result"]["text"] == "The Moon pulls twice a day."
            refusal = (await client.ask("accept"))["error"]
            assert refusal["data"]["error"] == "NothingAwaits"
            while [one["params"].get("kind") for one in client.told].count("draft.accepted") < 1:
                client.told.append(await client.hear())

    serving(store, visit, once=True)


@contextmanager
def started(store: Path, *options: str) -> Iterator[tuple[dict[str, Any], subprocess.Popen[str]]]:
    """The installed command, ready to be asked; killed at the end, if it still runs."""
    process = subprocess.Popen(
        [MIND, "serve", "--port", "0", "--store", str(store), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline()), process
    finally:
        process.kill()
        process.communicate()


def test_the_installed_command_serves_until_it_is_told_to_end(store: Path) -> None:
    """Exit code 0, and only the one line on stdout."""

    async def visit(url: str, token: str) -> None:
        async with talking(url, greet=False) as client:
            await greeted(client, token)
            assert (await client.ask("status"))["result"]["session"] == "tides"

    with started(store) as (ready, process):
        asyncio.run(visit(ready["url"], token_of(Path(ready["tokenFile"]))))
        process.terminate()
        assert process.communicate(timeout=10) == ("", "")
        assert process.returncode == 0


@pytest.mark.slow
def test_killed_while_an_agent_speaks_it_goes_on_where_it_was(store: Path, lines: Path) -> None:
    """With ``kill -9``, then started again: nothing but that turn is lost, and it says so."""
    hello = {"protocolVersion": 1, "clientName": "ann"}

    async def before(url: str, token: str) -> None:
        async with talking(url, greet=False) as client:
            await drafting(client, token, lines)
            await client.ask("think", text="the far bulge")
            await speaks(client)

    async def after(url: str, token: str) -> None:
        async with talking(url, greet=False) as client:
            await client.ask("handshake", **hello, token=token)
            (thought,) = (await client.ask("thoughts"))["result"]["thoughts"]
            assert thought["text"] == "the far bulge"
            status = (await client.ask("get_draft_status"))["result"]
            assert status["active"]
            agent = status["session"]["sessionId"]
            (turn,) = (await client.ask("agent_transcript", agentId=agent))["result"]["turns"]
            assert turn["outcome"] == "lost"
            await client.ask("submit_prompt", content="how often?")
            while not any(one["params"].get("type") == "answer" for one in client.told):
                client.told.append(await client.hear())
            *_, turn = (await client.ask("agent_transcript", agentId=agent))["result"]["turns"]
            assert turn["answer"]

    with started(store) as (ready, process):
        token = token_of(Path(ready["tokenFile"]))
        asyncio.run(before(ready["url"], token))
        process.kill()
        process.wait(10)
    with started(store) as (ready, process):
        assert token_of(Path(ready["tokenFile"])) == token
        asyncio.run(after(ready["url"], token))
        process.terminate()
        assert process.wait(10) == 0


@pytest.mark.slow
def test_a_mind_that_talks_on_can_not_hold_up_the_end(store: Path) -> None:
    """It is left alone: what it says was not asked for any more."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        env = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"

        async def run(ready: dict[str, Any]) -> None:
            async with talking(ready["url"], greet=False) as client:
                await greeted(client, token_of(Path(ready["tokenFile"])))
                settings = {"model": f"{env}#x"}
                assert "result" in await client.ask("config", set=settings)
                await client.say({"jsonrpc": "2.0", "id": 900, "method": "run"})
                while (await client.ask("status"))["result"]["state"] != "running":
                    pass

        with started(store) as (ready, process):
            asyncio.run(run(ready))
            process.terminate()
            assert process.wait(10) == 0


def test_other_machines_are_let_in_by_plain_words_alone(mind: Mind, store: Path) -> None:
    """A host that others can reach, without both the flag and a token file of its own."""
    for options in (
        ("--host", "0.0.0.0"),  # noqa: S104 — refused
        ("--host", "::"),
        ("--host", "0.0.0.0", "--allow-remote"),  # noqa: S104 — refused
        ("--host", "192.0.2.1", "--token-file", "token"),
    ):
        ran = mind("serve", "--store", str(store), *options)
        assert ran.code == 2
        assert "--allow-remote" in ran.err
    assert not (store / "serve.token").exists()


def test_a_token_that_others_can_read_is_refused(mind: Mind, store: Path) -> None:
    """In a sentence that says what to do."""
    token_of(store / "serve.token")
    (store / "serve.token").chmod(0o644)
    ran = mind("serve", "--store", str(store), "--port", "0")
    assert (ran.code, ran.out) == (2, "")
    assert "chmod 600" in ran.err


def test_a_port_that_is_taken_is_said_to_be(mind: Mind, store: Path) -> None:
    """And how to get a free one."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = mind("serve", "--store", str(store), "--port", port)
    assert ran.code == 2
    assert "--port 0" in ran.err


def test_a_server_that_is_not_there_is_said(mind: Mind, tmp_path: Path) -> None:
    """Also where nothing was kept of it yet on this machine, which is where the token is put."""
    caches = str(tmp_path / "caches")
    url = "postgresql://ann@127.0.0.1:1/gone"
    ran = mind("serve", "--store", url, "--port", "0", XDG_CACHE_HOME=caches)
    assert ran.code == 1
    assert "does not answer" in ran.err


def test_there_has_to_be_a_store(mind: Mind, tmp_path: Path) -> None:
    """Nothing is made by serving."""
    ran = mind("serve", "--store", str(tmp_path / "nothing"), "--port", "0")
    assert ran.code == 2
    assert "mind init" in ran.err
    assert list(tmp_path.iterdir()) == []
