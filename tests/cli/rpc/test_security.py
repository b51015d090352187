"""Who is not let in, and what is not taken: refused, logged, and the server answers on."""

import asyncio
import io
import json
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from cli.rpc.connection import (
    MOST_BEFORE_HANDSHAKE,
    NO_HANDSHAKE,
    NO_TEXT,
    OTHER_PROTOCOL,
    WRONG_TOKEN,
)
from cli.rpc.guard import BadToken, Bucket, JsonLines, Limits, hosts, only_here, same, token_of
from cli.rpc.server import House
from cli.rpc.service import all_methods, open_service
from tests.cli.rpc.serving import TOKEN, Served, served, talking
from tests.stories.cast import Stage

HELLO = {"protocolVersion": 1, "token": TOKEN}


async def _no_token(at: Served) -> Any:
    async with talking(at.url, greet=False) as client:
        answer = await client.ask("handshake", protocolVersion=1)
        return answer["error"]["code"], await client.code()


async def _wrong_token(at: Served) -> Any:
    async with talking(at.url, greet=False) as client:
        answer = await client.ask("handshake", protocolVersion=1, token=TOKEN[:-1])
        return answer["error"]["code"], await client.code()


async def _many_tokens(at: Served) -> Any:
    """A batch has one guess, too."""
    guess = {"jsonrpc": "2.0", "id": 1, "method": "handshake", "params": {"protocolVersion": 1}}
    right = {**guess, "params": HELLO}
    async with talking(at.url, greet=False) as client:
        await client.say([guess, right, {"jsonrpc": "2.0", "id": 1, "method": "who"}])
        codes = {answer["error"]["code"] for answer in await client.hear()}
        return codes, await client.code()


async def _no_handshake(at: Served) -> Any:
    async with talking(at.url, greet=False) as client:
        answer = await client.ask("who")
        assert answer["error"]["message"] == "Handshake required."
        return answer["error"]["code"], await client.code()


async def _chatter(at: Served) -> Any:
    async with talking(at.url, greet=False) as client:
        for _ in range(MOST_BEFORE_HANDSHAKE + 1):
            await client.say("{")
        return await client.code()


async def _other_protocol(at: Served) -> Any:
    async with talking(at.url, greet=False) as client:
        answer = await client.ask("handshake", protocolVersion=2, token=TOKEN)
        return answer["error"]["code"], await client.code()


async def _binary(at: Served) -> Any:
    async with talking(at.url) as client:
        await client.say(b'{"jsonrpc": "2.0", "id": 1, "method": "who"}')
        return await client.code()


async def _oversize(at: Served) -> Any:
    async with talking(at.url) as client:
        await client.say("x" * (Limits().message_bytes + 1))
        return await client.code()


async def _oversize_before(at: Served) -> Any:
    async with talking(at.url, greet=False) as client:
        await client.say("x" * (Limits().message_bytes + 1))
        return await client.code()


def _upgrade(**headers: str) -> Callable[[Served], Awaitable[Any]]:
    async def attempt(at: Served) -> Any:
        given = {name: value.format(port=at.port) for name, value in headers.items()}
        async with aiohttp.ClientSession() as session:
            try:
                await session.ws_connect(at.url, headers=given)
            except aiohttp.WSServerHandshakeError as refusal:
                return refusal.status
        return None

    return attempt


def _get(path: str, **headers: str) -> Callable[[Served], Awaitable[Any]]:
    async def attempt(at: Served) -> Any:
        url = f"http://127.0.0.1:{at.port}{path}"
        async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
            return answer.status

    return attempt


async def _large_body(at: Served) -> Any:
    url = f"http://127.0.0.1:{at.port}/health"
    async with aiohttp.ClientSession() as session:
        try:
            async with session.post(url, data=io.BytesIO(b"x" * (2 << 20))) as answer:
                return answer.status
        except aiohttp.ClientConnectionError:
            return 413


REFUSED: dict[str, tuple[Callable[[Served], Awaitable[Any]], Any]] = {
    "no token": (_no_token, (-32600, WRONG_TOKEN)),
    "a wrong token": (_wrong_token, (-32600, WRONG_TOKEN)),
    "many tokens at once": (_many_tokens, ({-32600}, WRONG_TOKEN)),
    "no handshake": (_no_handshake, (-32600, NO_HANDSHAKE)),
    "much before the handshake": (_chatter, NO_HANDSHAKE),
    "another protocol": (_other_protocol, (-32600, OTHER_PROTOCOL)),
    "a binary message": (_binary, NO_TEXT),
    "a message that is too large": (_oversize, 1009),
    "a stranger's message that is too large": (_oversize_before, 1009),
    "a wrong bearer": (_upgrade(Authorization="Bearer no"), 401),
    "a page's origin": (_upgrade(Origin="https://evil.example"), 403),
    "a page of this machine": (_upgrade(Origin="http://localhost:{port}"), 403),
    "a page without a name": (_upgrade(Origin="null"), 403),
    "a name that was made to lead here": (_upgrade(Host="evil.example:{port}"), 421),
    "another port of this machine": (_upgrade(Host="localhost:1"), 421),
    "no port": (_upgrade(Host="localhost"), 421),
    "a page's origin, over HTTP": (_get("/health", Origin="https://evil.example"), 403),
    "a name that was made to lead here, over HTTP": (_get("/health", Host="evil.example"), 421),
    "a body that is too large": (_large_body, 413),
}


@pytest.mark.parametrize("what", REFUSED)
def test_is_refused_and_logged_and_the_server_answers_on(
    what: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With the code that says why, and without a secret in the log."""
    attempt, promised = REFUSED[what]

    async def talk() -> None:
        async with served(limits=Limits(handshake_seconds=0.2)) as at:
            assert await attempt(at) == promised
            async with talking(at.url) as client:
                assert (await client.ask("who"))["result"] == {"answer": "ann"}

    asyncio.run(talk())
    told = [record for record in caplog.records if record.levelname == "WARNING"]
    lines = [json.loads(JsonLines().format(record)) for record in told]
    assert [line["event"] for line in lines] == ["refused"]
    assert lines[0]["from"].startswith("127.0.0.1:")
    assert TOKEN[:-1] not in caplog.text
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_is_let_in_by_a_bearer_token_and_from_the_origins_and_names_that_are_allowed() -> None:
    """The handshake may leave the token out then."""

    async def talk() -> None:
        more = {"allow_origins": ["https://app.example"], "allow_hosts": ["mind.example"]}
        async with served(**more) as at, aiohttp.ClientSession() as session:
            headers = {
                "Authorization": f"Bearer {TOKEN}",
                "Origin": "https://app.example",
                "Host": f"mind.example:{at.port}",
            }
            async with session.ws_connect(at.url, headers=headers) as client:
                call = {"jsonrpc": "2.0", "id": 1, "method": "handshake"}
                await client.send_json({**call, "params": {"protocolVersion": 1}})
                assert "result" in await client.receive_json(timeout=10)

    asyncio.run(talk())


def test_a_wrong_token_in_the_handshake_is_not_outweighed_by_the_right_one_before() -> None:
    """Whoever says one has to say the right one."""

    async def talk() -> Any:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            served() as at,
            talking(at.url, greet=False, additional_headers=headers) as client,
        ):
            await client.ask("handshake", protocolVersion=1, token="no")  # noqa: S106
            return await client.code()

    assert asyncio.run(talk()) == WRONG_TOKEN


def test_more_clients_than_there_is_room_for_are_turned_away() -> None:
    """Before the upgrade; and there is room again once one has gone."""

    async def talk() -> None:
        async with served(limits=Limits(connections=2)) as at:
            async with talking(at.url), talking(at.url, greet=False):
                assert await _upgrade()(at) == 503
            await asyncio.wait_for(at.server.first_left.wait(), 10)
            async with talking(at.url) as client:
                assert "result" in await client.ask("who")

    asyncio.run(talk())


def test_a_name_of_a_client_is_a_plain_name() -> None:
    """It stands in the log, and in what agents are called for."""

    async def talk() -> list[Any]:
        async with served() as at, talking(at.url, greet=False) as client:
            names = ["../../etc", "a\x00b", "", "a" * 65, "\x1b[31m", " ann", "a\nb"]
            return [await client.ask("handshake", **HELLO, clientName=name) for name in names]

    assert [answer["error"]["code"] for answer in asyncio.run(talk())] == [-32602] * 7


TRICKS = ("../../etc/passwd", "a\x00b", "/etc/passwd", "..", "a" * 5000, "agent:../x", "")


def test_path_tricks_in_names_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    """Whatever is named: a session, a fork, a project, a role."""
    stage = Stage(tmp_path / "store").begins()
    events = stage.log.position()

    async def talk() -> dict[str, int]:
        codes = {}
        async with open_service(stage.directory, {}) as service:
            house = House(all_methods(service), service.attach, service.detach)
            async with served(house) as at, talking(at.url) as client:
                for name in TRICKS:
                    for method, params in (
                        ("new", {"name": name}),
                        ("switch", {"session": name}),
                        ("fork", {"name": name}),
                        ("status", {"session": name or "/"}),
                        ("subscribe", {"session": name}),
                        ("create_project", {"name": name}),
                        ("draft", {"role": name, "project": name, "task": name}),
                    ):
                        answer = await client.ask(method, **params)
                        codes[f"{method} {name[:20]!r}"] = answer.get("error", {}).get("code")
        return codes

    codes = asyncio.run(talk())
    wrong = {what: code for what, code in codes.items() if code in {None, -32601, -32603}}
    assert not wrong
    assert stage.log.position() == events
    assert {path.name for path in tmp_path.iterdir()} == {"store"}


# the token's file


def test_the_token_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    """And read from then on."""
    file = tmp_path / "serve.token"
    token = token_of(file)
    assert len(token) >= 43
    assert file.stat().st_mode & 0o777 == 0o600
    assert token_of(file) == token


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602, 0o660])
def test_a_token_that_others_may_see_or_change_is_refused(tmp_path: Path, mode: int) -> None:
    """The sentence says what to do, and not what it is."""
    file = tmp_path / "serve.token"
    token = token_of(file)
    file.chmod(mode)
    with pytest.raises(BadToken, match="chmod 600") as refusal:
        token_of(file)
    assert token not in refusal.value.sentence


@pytest.mark.parametrize("text", ["", "\n", "short"])
def test_a_token_that_keeps_nobody_out_is_refused(tmp_path: Path, text: str) -> None:
    """Empty, or easily guessed."""
    file = tmp_path / "serve.token"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(BadToken, match="a new one is made"):
        token_of(file)


def test_a_token_is_a_plain_file(tmp_path: Path) -> None:
    """No link that leads elsewhere, no directory, no pipe that never ends."""
    real = tmp_path / "real"
    token_of(real)
    (tmp_path / "link").symlink_to(real)
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in ("link", ".", "pipe", "nowhere/else"):
        with pytest.raises(BadToken):
            token_of(tmp_path / name)


def test_tokens_are_the_same_only_to_the_letter() -> None:
    """Whatever characters are tried."""
    assert same(TOKEN, TOKEN)
    for other in ("", TOKEN + " ", TOKEN.upper(), TOKEN[:-1] + "é", "\ud800"):
        assert not same(other, TOKEN)


# who may listen, and how much is taken


def test_what_leads_to_this_machine_alone_is_known() -> None:
    """All else needs to be allowed."""
    assert all(map(only_here, ["127.0.0.1", "127.3.2.1", "::1", "[::1]", "localhost"]))
    assert not any(map(only_here, ["0.0.0.0", "::", "192.168.0.7", "", "mind.example"]))  # noqa: S104


def test_names_of_a_server_bear_its_port_unless_they_have_one() -> None:
    """And an address that stands for all is no name."""
    assert hosts("127.0.0.1", 9800) == {"127.0.0.1:9800", "localhost:9800", "[::1]:9800"}
    more = hosts("0.0.0.0", 9800, ["Mind.example", "proxy.example:443"]) - hosts("::1", 9800)  # noqa: S104
    assert more == {"mind.example:9800", "proxy.example:443"}


def test_a_bucket_fills_up_again() -> None:
    """So many at once, so many a second."""
    now = [0.0]
    bucket = Bucket(2, 10, lambda: now[0])
    assert [bucket.take() for _ in range(3)] == [0.0, 0.0, pytest.approx(0.1)]
    now[0] = 0.1
    assert [bucket.take(), bucket.take()] == [0.0, pytest.approx(0.1)]
    now[0] = 100
    assert [bucket.take() for _ in range(3)] == [0.0, 0.0, pytest.approx(0.1)]


def test_half_a_request_holds_nobody_up() -> None:
    """A client that never finishes its first line is no concern of the others."""

    async def talk() -> None:
        async with served() as at:
            with socket.create_connection(("127.0.0.1", at.port)) as half:
                half.sendall(b"GET / HTTP/1.1\r\nHost: ")
                async with talking(at.url) as client:
                    assert "result" in await client.ask("who")

    asyncio.run(talk())
