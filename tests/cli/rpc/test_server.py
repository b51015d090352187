"""The server as its clients see it: order, limits, farewells; with clients that are not ours."""

import asyncio
import contextlib
import json
import socket
from typing import Any

import aiohttp
from jsonrpcclient import Error, Ok, notification_json, parse_json, request
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from cli.rpc.connection import CUT_OFF, GOING_AWAY, Connection
from cli.rpc.guard import Limits
from cli.rpc.method import Method, Nothing, Peer
from cli.rpc.server import House
from tests.cli.rpc.serving import TOKEN, Answer, Served, served, table, talking


def test_a_client_of_another_project_gets_on_with_it() -> None:
    """Handshake, calls by name and by position, batches, notifications both ways, refusals."""
    here: list[Peer] = []

    async def talk() -> None:
        async with served(House(table(), here.append)) as at, connect(at.url) as socket:

            async def ask(*asked: dict[str, Any]) -> Any:
                await socket.send(json.dumps(asked[0] if len(asked) == 1 else asked))
                return parse_json(str(await socket.recv()))

            token = {"protocolVersion": 1, "token": TOKEN, "clientName": "ann"}
            greeted = await ask(request("handshake", params=token))
            assert isinstance(greeted, Ok)
            assert greeted.result["clientName"] == "ann"
            for numbers in ((42, 23), {"subtrahend": 23, "minuend": 42}):
                answer = await ask(request("subtract", params=numbers))
                assert answer.result["answer"] == 19
            await socket.send(notification_json("update"))
            calls = [request("subtract", params=(number, 1)) for number in range(20)]
            answers = list(await ask(*calls))
            assert [one.result["answer"] for one in answers] == [n - 1 for n in range(20)]
            assert [one.id for one in answers] == [call["id"] for call in calls]
            refused = await ask(request("idle"))
            assert isinstance(refused, Error)
            assert (refused.code, "send a message first" in refused.message) == (-32010, True)
            unknown = await ask(request("nothing.like.it"))
            assert (unknown.code, "There is no method" in unknown.message) == (-32601, True)
            here[0].notify("news", {"of": "tides"})
            news = json.loads(await socket.recv())
            assert (news["method"], news["params"], "id" in news) == (
                "news",
                {"of": "tides"},
                False,
            )

    asyncio.run(talk())


def test_batches_are_answered_as_one_message() -> None:
    """As a list, without its notifications; a batch of these alone is not answered."""

    async def talk() -> list[Any]:
        async with served() as at, talking(at.url) as client:
            note = {"jsonrpc": "2.0", "method": "update"}
            await client.say([note, note])
            await client.say([{"jsonrpc": "2.0", "id": 7, "method": "who"}, note])
            return [await client.hear()]

    assert asyncio.run(talk()) == [[{"jsonrpc": "2.0", "id": 7, "result": {"answer": "ann"}}]]


def test_a_long_call_does_not_hold_up_the_others() -> None:
    """And calls begin in the order in which they came."""
    begun: list[int] = []

    async def talk() -> None:
        may_end = asyncio.Event()

        async def wait(_: Peer, __: Nothing) -> Answer:
            begun.append(len(begun))
            await may_end.wait()
            return Answer(answer=begun[-1])

        waits = Method("wait", "Wait.", Nothing, Answer, wait)
        async with served(House(table(waits))) as at, talking(at.url) as client:
            for id_ in (101, 102):
                await client.say({"jsonrpc": "2.0", "id": id_, "method": "wait"})
            assert (await client.ask("who"))["result"] == {"answer": "ann"}
            assert begun == [0, 1]
            may_end.set()
            assert [(await client.hear())["id"] for _ in range(2)] == [101, 102]

    asyncio.run(talk())


def test_those_who_go_are_told_no_more_and_their_calls_end() -> None:
    """Nobody waits for the answers."""
    cancelled = asyncio.Event()
    gone: list[Peer] = []

    async def talk() -> None:
        begun = asyncio.Event()

        async def wait(_: Peer, __: Nothing) -> Answer:
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise
            return Answer()

        waits = Method("wait", "Wait.", Nothing, Answer, wait)
        house = House(table(waits), detach=gone.append)
        async with served(house) as at:
            async with talking(at.url) as client:
                await client.say({"jsonrpc": "2.0", "id": 1, "method": "wait"})
                await asyncio.wait_for(begun.wait(), 10)
            await asyncio.wait_for(cancelled.wait(), 10)
            await asyncio.wait_for(at.server.first_left.wait(), 10)

    asyncio.run(talk())
    assert [peer.name for peer in gone] == ["ann"]


def test_too_many_calls_are_told_to_slow_down() -> None:
    """Each by itself: those before them are answered, and later ones are again."""

    async def talk() -> tuple[set[int], int]:
        limits = Limits(burst=5, per_second=1000)
        async with served(limits=limits) as at, talking(at.url) as client:
            for id_ in range(50):
                await client.say({"jsonrpc": "2.0", "id": id_, "method": "who"})
            answers = [await client.hear() for _ in range(50)]
            codes = {answer["error"]["code"] for answer in answers if "error" in answer}
            waits = [a["error"]["data"]["retryAfterMs"] for a in answers if "error" in a]
            assert all(wait > 0 for wait in waits)
            return codes, sum("result" in answer for answer in answers)

    codes, done = asyncio.run(talk())
    assert codes == {-32029}
    assert done >= 4


def test_too_many_calls_at_once_are_told_to_slow_down() -> None:
    """Those that wait for their answer count."""

    async def talk() -> dict[str, Any]:
        may_end = asyncio.Event()

        async def wait(_: Peer, __: Nothing) -> Answer:
            await may_end.wait()
            return Answer(answer="waited")

        waits = Method("wait", "Wait.", Nothing, Answer, wait)
        house, limits = House(table(waits)), Limits(in_flight=3)
        async with served(house, limits=limits) as at, talking(at.url) as client:
            for id_ in range(101, 104):
                await client.say({"jsonrpc": "2.0", "id": id_, "method": "wait"})
            answer = await client.ask("who")
            may_end.set()
            assert [(await client.hear())["id"] for _ in range(3)] == [101, 102, 103]
            assert (await client.ask("who"))["result"] == {"answer": "ann"}
            return answer

    error = asyncio.run(talk())["error"]
    assert error["code"] == -32029
    assert error["message"] == "Slow down: 3 calls wait for their answer already."


def test_a_server_that_ends_says_so_to_everybody() -> None:
    """With the code for going away, also while calls are under way."""

    async def talk() -> list[int | None]:
        async def wait(_: Peer, __: Nothing) -> Answer:
            await asyncio.Event().wait()
            return Answer()

        waits = Method("wait", "Wait.", Nothing, Answer, wait)
        async with (
            served(House(table(waits))) as at,
            talking(at.url) as one,
            talking(at.url) as two,
        ):
            await two.say({"jsonrpc": "2.0", "id": 1, "method": "wait"})
            await two.ask("who")
            await at.server.close()
            return [await one.code(), await two.code()]

    assert asyncio.run(talk()) == [GOING_AWAY, GOING_AWAY]


def tell(peer: Peer, number: int) -> None:
    """A kilobyte of news."""
    peer.notify("news", {"number": number, "text": "x" * 1000})


def narrow(at: Served) -> socket.socket:
    """A connection of which the system itself buffers little."""
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    opened.connect(("127.0.0.1", at.port))
    opened.setblocking(False)
    return opened


def flood(count: int, then: Any, **limits: Any) -> Any:
    """Send news to two clients, of whom one reads; then do something with the other.

    Returns what the reader heard, how much waited for the other at most, and what came of it.
    """
    peers: dict[str, Connection] = {}

    def attach(peer: Peer) -> None:
        assert isinstance(peer, Connection)
        peers[peer.name] = peer

    async def talk() -> Any:
        house = House(table(), attach)
        async with (
            served(house, limits=Limits(**limits), narrow=True) as at,
            talking(at.url) as reader,
            talking(at.url, greet=False, max_queue=1, close_timeout=0.1, sock=narrow(at)) as other,
        ):
            await other.ask("handshake", protocolVersion=1, token=TOKEN, clientName="slow")
            heard: list[int] = []
            most = 0

            async def read() -> None:
                while len(heard) < count:
                    heard.append((await reader.hear())["params"]["number"])

            reading = asyncio.create_task(read())
            for number in range(count):
                for peer in peers.values():
                    tell(peer, number)
                most = max(most, peers["slow"].waiting)
                await peers["ann"].drained()
                await asyncio.sleep(0)
            await reading
            return heard, most, await then(other, at.server)

    return asyncio.run(talk())


def test_a_client_that_does_not_read_is_cut_off_and_told_so_while_others_hear_all() -> None:
    """What waits for it is bounded; the last that it hears is why, and the code says so too."""

    async def read_on(slow: Any, _: Any) -> tuple[list[dict[str, Any]], int | None]:
        said: list[dict[str, Any]] = []
        async with asyncio.timeout(10):
            with contextlib.suppress(ConnectionClosed):
                while True:
                    said.append(json.loads(await slow.socket.recv()))
        return said, await slow.code()

    count = 1_500
    heard, most, (said, code) = flood(
        count, read_on, queued_messages=50, queued_bytes=40_000, grace_seconds=30
    )
    assert heard == list(range(count))
    assert most <= 40_000
    assert code == CUT_OFF
    *news, last = said
    assert [one["params"]["number"] for one in news] == list(range(len(news)))
    assert len(news) < count
    assert last["method"] == "cut_off"
    assert last["params"]["reason"].endswith("it did not read.")


def test_a_client_that_never_reads_again_is_let_go_of() -> None:
    """It does not keep its place."""

    async def wait_for_the_end(_: Any, server: Any) -> bool:
        await asyncio.wait_for(server.first_left.wait(), 10)
        return True

    *_, left = flood(1_500, wait_for_the_end, queued_messages=50, grace_seconds=0.05)
    assert left


def test_an_answer_may_be_larger_than_all_that_may_wait() -> None:
    """A whole export, say; who reads is not cut off for it."""

    async def run(_: Peer, __: Nothing) -> Answer:
        return Answer(answer="x" * 3_000_000)

    async def talk() -> int:
        big = Method("big", "Big.", Nothing, Answer, run)
        limits = Limits(queued_bytes=100_000)
        async with served(House(table(big)), limits=limits) as at, talking(at.url) as client:
            size = len((await client.ask("big"))["result"]["answer"])
            assert (await client.ask("who"))["result"] == {"answer": "ann"}
            return size

    assert asyncio.run(talk()) == 3_000_000


def test_health_tells_no_secrets() -> None:
    """It is asked without a token, so it says next to nothing."""
    assert set(asyncio.run(_health())) == {"ok", "server", "version"}


async def _health() -> dict[str, Any]:
    async with (
        served() as at,
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{at.port}/health") as answer,
    ):
        found: dict[str, Any] = await answer.json()
        return found
