"""A client over a WebSocket: it comes back by itself, misses nothing, and hears nothing twice."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from cli.client.client import CLOSED, LOST, CallFailed
from cli.client.followed import Followed
from cli.client.remote import Backoff, RemoteClient
from cli.rpc.server import House, Server
from cli.rpc.service import Service, all_methods, open_service
from commands.dialogue import SendMessage
from commands.drafts import AcceptDraft
from commands.handle import handle
from domain.ids import SessionId
from tests.cli.conftest import Mind
from tests.cli.rpc.serving import TOKEN
from tests.cli.rpc.spoken import made, refused, told

SOON = Backoff(0.01, 0.05)


@pytest.fixture
def store(tmp_path: Path, within: Mind) -> Path:
    """A session with a draft."""
    store = made(tmp_path)
    assert within("run", "--store", str(store)).code == 0
    return store


class Place:
    """Where a server is, comes back, or is gone."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._port = 0
        self._server: Server | None = None
        self.url = ""

    async def open(self) -> None:
        """Be there, always at the same address."""
        bound = socket.create_server(("127.0.0.1", self._port))
        self._port = bound.getsockname()[1]
        house = House(all_methods(self.service), self.service.attach, self.service.detach)
        self._server = Server(house, TOKEN, bound=bound)
        self.url = await self._server.open()

    async def close(self) -> None:
        """Be gone."""
        server, self._server = self._server, None
        if server is not None:
            await server.close()


@asynccontextmanager
async def placed(store: Path) -> AsyncIterator[Place]:
    """A store behind a server."""
    async with open_service(store, {}) as service:
        place = Place(service)
        await place.open()
        try:
            yield place
        finally:
            await place.close()


@asynccontextmanager
async def far(url: str, token: str | None = TOKEN) -> AsyncIterator[RemoteClient]:
    """A client that tries again soon."""
    client = RemoteClient(url, token, "ann", backoff=SOON)
    try:
        yield client
    finally:
        await client.close()


class States:
    """What a client said about its connection."""

    def __init__(self, client: RemoteClient) -> None:
        self.found: list[tuple[str, str]] = []
        self._changed = asyncio.Event()
        client.on_state(self._note)

    def _note(self, state: str, sentence: str) -> None:
        self.found.append((state, sentence))
        self._changed.set()

    async def until(self, state: str) -> None:
        """Wait until this was said last."""
        async with asyncio.timeout(20):
            while not self.found or self.found[-1][0] != state:
                self._changed.clear()
                await self._changed.wait()


def test_it_answers_as_if_it_were_here(store: Path) -> None:
    """Results, refusals and notifications are those of the client in the store's own process."""

    async def talk() -> Any:
        async with placed(store) as place, far(place.url) as client:
            status = await client.call("status")
            failed = await refused(client, "accept", index=9)
            ran = asyncio.ensure_future(client.call("run"))
            heard = await told(client, "run_progress", lambda p: p["kind"] == "ended")
            return client.state, status, failed, heard, await ran

    state, status, failed, heard, ran = asyncio.run(talk())
    assert state == "connected"
    assert status["session"] == "main"
    assert failed.error == "NoSuchDraft"
    assert "mind drafts" in failed.sentence
    assert heard[-1]["iteration"] == 2
    assert ran["reason"] == "draft"


def test_a_lost_connection_is_made_again_and_nothing_is_missed(store: Path) -> None:
    """What happened while the server was gone comes when it is back; no event comes twice."""

    async def talk() -> Any:
        async with placed(store) as place, far(place.url) as client:
            states = States(client)
            begun = await client.call("subscribe", fromPosition=0)
            other = await client.call("subscribe", session="main")
            first = place.service.log.position()
            heard = await told(client, "event", lambda e: e["position"] == first)
            await place.close()
            await states.until("reconnecting")
            meanwhile = await refused(client, "status")
            world, main = place.service.world, SessionId("main")
            handle(place.service.log, main, AcceptDraft(), world)
            await place.open()
            await states.until("connected")
            handle(place.service.log, main, SendMessage(text="And the Sun?"), world)
            last = place.service.log.position()
            numbers = {begun["subscription"], other["subscription"]}
            reached: dict[int, int] = {}

            def all_there(event: dict[str, Any]) -> bool:
                reached[event["subscription"]] = event["position"]
                return reached == dict.fromkeys(numbers, last)

            heard += await told(client, "event", all_there)
            return begun, other, first, last, heard, meanwhile, list(states.found)

    begun, other, first, last, heard, meanwhile, states = asyncio.run(talk())
    all_of_it = [e["position"] for e in heard if e["subscription"] == begun["subscription"]]
    new = [e["position"] for e in heard if e["subscription"] == other["subscription"]]
    assert all_of_it == [*range(1, last + 1)]
    assert new == [*range(first + 1, last + 1)]
    assert meanwhile.code == LOST
    assert [state for state, _ in states] == ["connected", "reconnecting", "connected"]
    assert "The server ends." in states[1][1]


def test_calls_that_wait_fail_when_the_connection_is_lost(store: Path) -> None:
    """With a sentence that does not promise that nothing was done."""

    async def talk() -> Any:
        held = asyncio.Event()

        async def answer(wire: ServerConnection) -> None:
            message = json.loads(await wire.recv())
            await wire.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}))
            await wire.recv()
            held.set()
            wire.transport.abort()

        async with serve(answer, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            async with far(f"ws://127.0.0.1:{port}/") as client:
                return await refused(client, "message", text="hm"), held.is_set()

    failed, held = asyncio.run(talk())
    assert held
    assert failed.code == LOST
    assert "may have been done" in failed.sentence


def test_a_wrong_token_is_not_tried_again(store: Path) -> None:
    """The first call fails with the server's sentence, and so does every other at once."""

    async def talk() -> Any:
        async with placed(store) as place, far(place.url, "another token, of the same length") as c:
            states = States(c)
            first = await refused(c, "status")
            return first, await refused(c, "status"), states.found, c.state

    first, again, states, state = asyncio.run(talk())
    assert (first.code, again.code, state) == (CLOSED, CLOSED, "closed")
    assert "The token is wrong" in first.sentence
    assert [one for one, _ in states] == ["closed"]


def test_the_token_may_stand_in_the_environment(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``MIND_TOKEN`` is used where no other is named."""
    monkeypatch.setenv("MIND_TOKEN", TOKEN)

    async def talk() -> Any:
        async with placed(store) as place, far(place.url, None) as client:
            return await client.call("status")

    assert asyncio.run(talk())["session"] == "main"


def test_no_server_is_told_and_can_come_later(store: Path) -> None:
    """Who calls before there is a server gets one sentence; the next call may succeed."""

    async def talk() -> Any:
        async with placed(store) as place:
            await place.close()
            async with far(place.url) as client:
                failed = await refused(client, "status")
                await place.open()
                return failed, await client.call("status")

    failed, status = asyncio.run(talk())
    assert failed.code == LOST
    assert "is mind serve running there?" in failed.sentence
    assert status["session"] == "main"


@pytest.mark.parametrize("url", ["127.0.0.1:9800", "http://127.0.0.1:9800/", ""])
def test_an_address_that_is_none_is_told(url: str) -> None:
    """What can never work is not tried again."""

    async def talk() -> CallFailed:
        async with far(url) as client:
            return await refused(client, "status")

    failed = asyncio.run(talk())
    assert failed.code == CLOSED
    assert "ws://127.0.0.1:9800/" in failed.sentence


def test_closing_ends_what_waits(store: Path) -> None:
    """A call that waits fails, notifications end, and the server is left in peace."""

    async def talk() -> Any:
        async with placed(store) as place:
            client = RemoteClient(place.url, TOKEN)
            await client.call("status")
            waiting = asyncio.ensure_future(refused(client, "run", iterations=10_000))
            await told(client, "run_progress", lambda p: p["kind"] == "began")
            await client.close()
            await client.close()
            left = [one async for one in client.notifications()]
            return await waiting, client.state, len(left)

    failed, state, _ = asyncio.run(talk())
    assert failed.code == CLOSED
    assert state == "closed"


def test_unsubscribing_uses_the_clients_own_number(store: Path) -> None:
    """Numbers stay what they were for the caller, whatever the server calls them now."""

    async def talk() -> Any:
        async with placed(store) as place, far(place.url) as client:
            states = States(client)
            one = await client.call("subscribe")
            two = await client.call("subscribe")
            await client.call("unsubscribe", subscription=one["subscription"])
            await place.close()
            await states.until("reconnecting")
            await place.open()
            await states.until("connected")
            ended = await client.call("unsubscribe", subscription=two["subscription"])
            gone = await refused(client, "unsubscribe", subscription=two["subscription"])
            return two, ended, gone

    two, ended, gone = asyncio.run(talk())
    assert ended["subscription"] == two["subscription"] == 2
    assert "no subscription" in gone.sentence


def test_a_subscription_waits_for_a_server_whose_store_is_away() -> None:
    """Who comes back while the server's own store is gone asks again until it is there."""
    asked: list[dict[str, Any]] = []
    away = {"code": -32011, "message": "gone", "data": {"error": "StoreIsUnreachable"}}

    async def answer(wire: ServerConnection) -> None:
        async for text in wire:
            message = json.loads(text)
            told: dict[str, Any] = {"result": {"subscription": 7, "position": 3}}
            if message["method"] == "subscribe":
                asked.append(message["params"])
                if len(asked) in {2, 3}:
                    told = {"error": away}
            await wire.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], **told}))
            if len(asked) == 1 and message["method"] == "subscribe":
                return

    async def talk() -> Any:
        async with serve(answer, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            async with far(f"ws://127.0.0.1:{port}/") as client:
                states = States(client)
                await client.call("subscribe", fromPosition=3)
                await states.until("reconnecting")
                await states.until("connected")
                return await client.call("unsubscribe", subscription=1)

    assert asyncio.run(talk())["subscription"] == 1
    assert asked == [{"fromPosition": 3}] * 4


def test_what_can_not_go_on_is_told_to_its_listener() -> None:
    """A store that was restored has no such position: the subscription ends with a sentence."""
    followed = Followed()
    followed.begun({"subscription": 7, "position": 40}, None)
    assert followed.told("event", {"subscription": 7, "position": 41}) is not None
    assert followed.told("event", {"subscription": 7, "position": 41}) is None
    assert followed.lost() == [(1, {"fromPosition": 41, "session": None})]
    told_ = followed.refused(1, "The store ends at position 3.")
    wanted = {"subscription": 1, "reason": "The store ends at position 3.", "position": 41}
    assert told_ == ("cut_off", wanted)
    assert followed.lost() == []
