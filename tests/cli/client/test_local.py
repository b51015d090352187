"""A client in the process of the store: the same texts and answers as over a wire."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from cli.client.client import CLOSED, CallFailed, Client
from cli.client.local import LocalClient
from cli.client.messages import read, result_of
from cli.rpc.errors import INVALID_PARAMS, METHOD_NOT_FOUND
from tests.cli.conftest import Mind
from tests.cli.rpc.spoken import made, opened, refused, talked, told


@pytest.fixture
def store(tmp_path: Path, within: Mind) -> Path:
    """A session that awaits drafts."""
    return made(tmp_path)


def test_it_speaks_the_protocol(store: Path) -> None:
    """Names are checked as over a wire, None is left out, and a refusal has code and sentence."""

    async def talk(client: Client) -> Any:
        greeting = await client.call("handshake", protocolVersion=1)
        status = await client.call("status", session=None, at=None)
        unknown = await refused(client, "nonsense")
        return greeting, status, unknown, await refused(client, "message", txt="hm")

    greeting, status, unknown, wrong = talked(store, talk)
    assert greeting["clientName"] == "ann"
    assert status["session"] == "main"
    assert unknown.code == METHOD_NOT_FOUND
    assert wrong.code == INVALID_PARAMS
    assert wrong.data["sentence"] == wrong.sentence
    assert "'text'" in wrong.sentence


def test_calls_go_on_side_by_side(store: Path) -> None:
    """Many at once are each answered with what was asked."""

    async def talk(client: LocalClient) -> Any:
        calls = [client.call("timeline", after=n, count=1) for n in (0, 1) * 10]
        return await asyncio.gather(*calls)

    versions = [answer["events"][0]["version"] for answer in talked(store, talk)]
    assert versions == [1, 2] * 10


def test_subscribers_hear_each_event_once(store: Path) -> None:
    """From the beginning on, then what is new, in the order of the store."""

    async def talk(client: LocalClient) -> Any:
        await client.call("subscribe", fromPosition=0)
        await client.call("run")
        last = (await client.call("status"))["position"]
        return last, await told(client, "event", lambda event: event["position"] == last)

    last, events = talked(store, talk)
    assert json.loads(json.dumps(events)) == events
    assert [event["position"] for event in events] == [*range(1, last + 1)]


def test_two_clients_of_a_store(store: Path) -> None:
    """Both hear of a run, whoever began it; what one does, the other sees."""

    async def talk() -> Any:
        async with opened(store) as (service, ann):
            ben = LocalClient(service, "ben")
            await ann.call("run")
            heard = await told(ben, "run_progress", lambda p: p["kind"] == "ended")
            drafts = await ben.call("drafts")
            await ben.close()
            return heard, drafts

    heard, drafts = asyncio.run(talk())
    assert heard[-1]["iteration"] == 1
    assert len(drafts["drafts"]) == 1


def test_after_its_end_nothing_is_answered(store: Path) -> None:
    """Closing says so once, ends the notifications, and every later call fails."""
    states: list[tuple[str, str]] = []

    async def talk(client: LocalClient) -> Any:
        client.on_state(lambda state, sentence: states.append((state, sentence)))
        before = client.state
        await client.close()
        await client.close()
        left = [one async for one in client.notifications()]
        return before, client.state, left, await refused(client, "status")

    before, after, left, failed = talked(store, talk)
    assert (before, after, left) == ("connected", "closed", [])
    assert failed.code == CLOSED
    assert states == [("closed", "")]


def test_who_listens_late_hears_every_event_and_that_something_else_was_missed(
    store: Path,
) -> None:
    """What waits is bounded; events wait in the log, and all else is not told later."""
    states: list[str] = []

    async def talk() -> Any:
        async with opened(store, "ben") as (service, ben):
            client = LocalClient(service, "ann", most=10)
            client.on_state(lambda state, _: states.append(state))
            before = service.log.position()
            await client.call("subscribe")
            await ben.call("subscribe")
            for number in range(30):
                version = (await ben.call("think", text=f"thought {number}"))["id"]
                await told(ben, "event", lambda event, v=version: event["version"] == v)
                client.notify("run_progress", {"number": number})
            waiting, missed = len(client._inbox), list(states)
            last = (await client.call("status"))["position"]
            heard = await told(client, "event", lambda event: event["position"] == last)
            await client.close()
            return before, last, waiting, missed, [event["position"] for event in heard]

    before, last, waiting, missed, heard = asyncio.run(talk())
    assert waiting <= 10
    assert heard == [*range(before + 1, last + 1)]
    assert missed == ["reconnecting"]
    assert states == ["reconnecting", "connected", "closed"]


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '"yes"', "[" * 100_000])
def test_what_is_no_answer_is_told(text: str) -> None:
    """A text of another protocol fails the call with a sentence."""
    with pytest.raises(CallFailed, match="is it mind serve"):
        read(text)


@pytest.mark.parametrize("error", [None, "no", {}, {"code": "x"}, {"data": 3}])
def test_an_error_without_a_form_is_still_a_failure(error: Any) -> None:
    """Whatever a server sends as an error, the call fails with a code and a sentence."""
    with pytest.raises(CallFailed) as caught:
        result_of({"error": error})
    assert caught.value.sentence
    assert isinstance(caught.value.code, int)
