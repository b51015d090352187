"""Minds at work over the protocol: told while it happens, stopped at any time."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from cli.client.local import LocalClient
from cli.rpc.runs import Run, Wish
from commands.minds.mind import Listener, Request
from commands.runs import Stopped, run_session
from domain.events import MindInvoked
from tests.cli.conftest import Mind
from tests.cli.rpc.spoken import made, opened, refused, talked, told
from tests.stories.cast import Line, Rehearsed, Stage


def lines(*replies: dict[str, Any]) -> str:
    """A script that says more than texts."""
    return "".join(json.dumps(reply) + "\n" for reply in replies)


@pytest.fixture(autouse=True)
def _alone(within: Mind) -> None:
    """Nobody's settings."""


def ended(progress: dict[str, Any]) -> bool:
    """Whether an iteration is in the log."""
    return bool(progress["kind"] == "ended")


def test_a_run_is_told_while_it_happens(tmp_path: Path) -> None:
    """What streams in comes in order, in few pieces; the end says what it took."""
    reply = {"text": "draft: " + "tide " * 3000, "tokens_in": 7, "tokens_out": 3, "cost_usd": 0.5}
    store = made(tmp_path, lines(reply), suffix="jsonl")

    async def talk(client: LocalClient) -> Any:
        ran = await client.call("run")
        return ran, await told(client, "run_progress", ended)

    ran, progress = talked(store, talk)
    assert ran["reason"] == "draft"
    kinds = [one["kind"] for one in progress]
    assert kinds == ["began", *["text"] * (len(kinds) - 2), "ended"]
    assert "".join(one["text"] for one in progress[1:-1]) == reply["text"]
    assert len(kinds) < 500
    last = progress[-1]
    assert (last["session"], last["iteration"], last["outcome"]) == ("main", 1, "ok")
    assert (last["tokensIn"], last["tokensOut"], last["costUsd"]) == (7, 3, 0.5)


def test_a_failed_attempt_is_told_and_the_pause_can_be_stopped(tmp_path: Path) -> None:
    """While a mind waits to be asked again, ``stop_run`` ends the run at once, as interrupted."""
    store = made(tmp_path, lines({"fail": "429", "retry_after": 30}), suffix="jsonl")

    async def talk(client: LocalClient) -> Any:
        running = asyncio.ensure_future(client.call("run"))
        progress = await told(client, "run_progress", lambda p: p["kind"] == "retry")
        stopped = await client.call("stop_run")
        async with asyncio.timeout(10):
            return progress, stopped, await running, await client.call("status")

    progress, stopped, ran, status = talked(store, talk)
    assert "Trying again in" in progress[-1]["text"]
    assert stopped == {"asked": True}
    assert ran["reason"] == "interrupted"
    assert status["state"] == "drafting"


def test_a_slow_mind_is_not_waited_for(tmp_path: Path) -> None:
    """Other calls go on during a run; when stopped, it ends although no answer came."""
    store = made(tmp_path, lines({"text": "draft: late", "delay": 20}), suffix="jsonl")

    async def talk(client: LocalClient) -> Any:
        running = asyncio.ensure_future(client.call("run"))
        await told(client, "run_progress", lambda p: p["kind"] == "began")
        during = await client.call("status")
        await client.call("stop_run")
        async with asyncio.timeout(10):
            ran = await running
        return during, ran, await client.call("timeline", count=2)

    during, ran, timeline = talked(store, talk)
    assert during["state"] == "running"
    assert (ran["reason"], ran["iterations"]) == ("interrupted", 1)
    assert [event["kind"] for event in timeline["events"]] == ["mind.invoked", "run.stopped"]
    assert "The user broke off." in timeline["events"][0]["summary"]


def test_what_a_stopped_mind_had_said_is_kept(tmp_path: Path) -> None:
    """The pieces that were heard are in the log; what comes later is heard by nobody."""
    stage = Stage(tmp_path / "store").begins()
    heard, go_on, left = threading.Event(), threading.Event(), threading.Event()
    run = Run(Wish(stage.session, "observe", None), lambda *_: None, lambda _: None)

    def half(_: Request, hear: Listener) -> Line:
        hear("draft: half of ")
        heard.set()
        go_on.wait(10)
        try:
            hear("it")
        except KeyboardInterrupt:
            left.set()
        return "draft: half of it"

    ends: list[Stopped] = []

    def work() -> None:
        mind = run.stoppable(Rehearsed(half))
        ends.append(run_session(stage.log, stage.session, lambda _: mind, stage.world, watcher=run))

    thread = threading.Thread(target=work)
    thread.start()
    assert heard.wait(10)
    run.stop()
    thread.join(10)
    go_on.set()
    assert left.wait(10)
    assert [stopped.reason for stopped in ends] == ["interrupted"]
    (invoked,) = stage.events(MindInvoked)
    assert (invoked.outcome, invoked.output) == ("failed", "draft: half of ")


def test_a_closing_service_ends_its_runs(tmp_path: Path) -> None:
    """The end of a run is in the log before the store is closed; who waited hears of it."""
    store = made(tmp_path, lines({"text": "draft: late", "delay": 20}), suffix="jsonl")

    async def first() -> Any:
        async with opened(store) as (_, client):
            running = asyncio.ensure_future(client.call("run"))
            await told(client, "run_progress", lambda p: p["kind"] == "began")
        return await asyncio.gather(running, return_exceptions=True)

    async def talk(client: LocalClient) -> Any:
        return await client.call("timeline", count=1)

    (gone,) = asyncio.run(first())
    assert gone.sentence == "The connection was closed."
    assert talked(store, talk)["events"][0]["summary"].startswith("interrupted after 1")


@pytest.mark.parametrize(
    ("script", "before", "error"),
    [
        ("draft: It is the Moon, mostly.", ["run", "accept"], "NothingAwaits"),
        ("draft: yes", ["run", "config"], "MindUnavailable"),
    ],
)
def test_a_run_that_can_not_begin_is_refused(
    tmp_path: Path, script: str, before: list[str], error: str
) -> None:
    """With the class and the sentence of the command line."""
    store = made(tmp_path, script)

    async def talk(client: LocalClient) -> Any:
        for method in before:
            settings = {"set": {"model": "script:gone.txt"}} if method == "config" else {}
            await client.call(method, **settings)
        return await refused(client, "run")

    assert talked(store, talk).error == error


def test_a_session_has_one_runner(tmp_path: Path) -> None:
    """A second run is refused while the first one is at work, and the first one goes on."""
    store = made(tmp_path, lines({"text": "draft: late", "delay": 20}), suffix="jsonl")

    async def talk(client: LocalClient) -> Any:
        running = asyncio.ensure_future(client.call("run"))
        await told(client, "run_progress", lambda p: p["kind"] == "began")
        second = await refused(client, "run")
        during = await client.call("status")
        await client.call("stop_run")
        await running
        return second, during, await client.call("stop_run")

    second, during, again = talked(store, talk)
    assert second.error == "SomeoneRuns"
    assert during["state"] == "running"
    assert again == {"asked": False}


def test_a_run_that_fails_says_why(tmp_path: Path) -> None:
    """The mind's failure is a result, since the run has been: with its reason and its sentence."""
    store = made(tmp_path, lines({"fail": "401"}), suffix="jsonl")

    async def talk(client: LocalClient) -> Any:
        return await client.call("run")

    ran = talked(store, talk)
    assert ran["reason"] == "failed"
    assert "401" in ran["detail"]
