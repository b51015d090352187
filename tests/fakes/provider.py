"""A provider of language models on loopback: a real HTTP server with scripted behaviour.

It speaks chat completions (whole and streamed, with OpenRouter's ``usage.cost``), Anthropic's
messages (whole) and embeddings. Each request gets the next behaviour; the last one stays.
"""

import base64
import hashlib
import json
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

Behaviour = Callable[["Exchange"], None]
JSON = "application/json"
SSE = "text/event-stream"


class Asked(NamedTuple):
    """One request as it arrived."""

    path: str
    headers: Message
    body: dict[str, Any]

    @property
    def streamed(self) -> bool:
        """Whether the answer is to come in pieces."""
        return bool(self.body.get("stream"))


class Exchange(BaseHTTPRequestHandler):
    """One request and whatever the script makes of it."""

    protocol_version = "HTTP/1.1"
    server: "Provider"
    asked: Asked

    def do_POST(self) -> None:
        """Note the request, then behave."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.asked = Asked(self.path, self.headers, json.loads(body))
        self.close_connection = True
        self.server.take(self.asked)(self)

    def send(
        self,
        body: bytes,
        content_type: str = JSON,
        status: int = 200,
        headers: Mapping[str, str] = {},
    ) -> None:
        """A whole response."""
        self.send_response(status)
        for key, value in {**headers, "Content-Type": content_type, "Connection": "close"}.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin_stream(self) -> None:
        """The head of a response that comes in chunks."""
        self.send_response(200)
        self.send_header("Content-Type", SSE)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()

    def event(self, payload: Mapping[str, Any] | str) -> None:
        """One event in one chunk."""
        text = payload if isinstance(payload, str) else json.dumps(payload)
        data = f"data: {text}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def end_stream(self) -> None:
        """The chunk that says that nothing was lost."""
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited
        """Print nothing."""


class Provider(ThreadingHTTPServer):
    """The server; ``with Provider() as provider`` runs it."""

    daemon_threads = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.requests: list[Asked] = []
        self.released = threading.Event()
        self._script: list[Behaviour] = []
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self.server_port}"

    def behaves(self, *behaviours: Behaviour) -> None:
        """Say what the next requests meet; the last behaviour stays."""
        self._script = list(behaviours)

    def take(self, asked: Asked) -> Behaviour:
        """The behaviour for a request that came."""
        self.requests.append(asked)
        return self._script.pop(0) if len(self._script) > 1 else self._script[0]

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what some tests are about."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self.shutdown()
        self._thread.join()
        self.server_close()


@dataclass(frozen=True)
class Answer:
    """A good reply, in whatever form it is asked for."""

    text: str = "draft: Because the moon pulls on both sides."
    tokens_in: int = 120
    tokens_out: int = 40
    cost: float | None = None
    model: str = "gpt-5-mini"
    pieces: int = 4
    finish: str = "stop"
    more: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, exchange: Exchange) -> None:
        """Behave."""
        if exchange.path.endswith("/messages"):
            exchange.send(json.dumps(self.message()).encode())
        elif exchange.asked.streamed:
            exchange.begin_stream()
            for event in self.events():
                exchange.event(event)
            exchange.event("[DONE]")
            exchange.end_stream()
        else:
            exchange.send(json.dumps(self.completion()).encode())

    def usage(self) -> dict[str, Any]:
        """What it took."""
        total = self.tokens_in + self.tokens_out
        usage = {"prompt_tokens": self.tokens_in, "completion_tokens": self.tokens_out}
        cost = {} if self.cost is None else {"cost": self.cost}
        return {**usage, "total_tokens": total, **cost}

    def head(self, kind: str) -> dict[str, Any]:
        """What every object of the protocol begins with."""
        more = {"provider": "Loopback", **self.more}
        return {"id": "c1", "object": kind, "created": 1, "model": self.model, **more}

    def completion(self) -> dict[str, Any]:
        """The whole reply as chat completions has it."""
        message = {"role": "assistant", "content": self.text}
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        choice["native_finish_reason"] = self.finish
        return {**self.head("chat.completion"), "choices": [choice], "usage": self.usage()}

    def events(self) -> Iterator[dict[str, Any]]:
        """The reply in pieces, then why it ended, then what it took."""
        head = self.head("chat.completion.chunk")
        size = max(1, -(-len(self.text) // self.pieces))
        for start in range(0, len(self.text), size):
            delta = {"role": "assistant", "content": self.text[start : start + size]}
            yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        last = {"index": 0, "delta": {}, "finish_reason": self.finish}
        yield {**head, "choices": [last]}
        yield {**head, "choices": [], "usage": self.usage()}

    def message(self) -> dict[str, Any]:
        """The whole reply as Anthropic has it."""
        usage = {"input_tokens": self.tokens_in, "output_tokens": self.tokens_out}
        content = [{"type": "text", "text": self.text}] if self.text else []
        head = {"id": "m1", "type": "message", "role": "assistant", "model": self.model}
        return {**head, "content": content, "stop_reason": "end_turn", "usage": usage}


def vector_of(text: str) -> list[float]:
    """Four numbers that a text always has here, and hardly any other text."""
    return list(struct.unpack("<4h", hashlib.sha256(text.encode()).digest()[:8]))


@dataclass(frozen=True)
class Vectors:
    """Good vectors, as base64 where that is asked for; or others, row by row."""

    rows: Sequence[Any] | None = None
    """None gives each text its :func:`vector_of`."""
    numbers: bool = False
    """Answer in numbers whatever was asked for, as some servers do."""
    tokens: int | None = 7
    cost: float | None = None
    model: str = "text-embedding-3-small"

    def __call__(self, exchange: Exchange) -> None:
        """Behave."""
        asked = exchange.asked.body
        rows = [vector_of(text) for text in asked["input"]] if self.rows is None else self.rows
        packed = asked.get("encoding_format") == "base64" and not self.numbers
        items = [
            {"object": "embedding", "index": index, "embedding": _base64(row) if packed else row}
            for index, row in enumerate(rows)
        ]
        answer: dict[str, Any] = {"object": "list", "data": items, "model": self.model}
        if self.tokens is not None:
            answer["usage"] = {"prompt_tokens": self.tokens, "total_tokens": self.tokens}
            answer["usage"] |= {} if self.cost is None else {"cost": self.cost}
        exchange.send(json.dumps(answer).encode())


def _base64(row: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode()


def silence(exchange: Exchange) -> None:
    """Never answer; the test's end lets go."""
    exchange.server.released.wait(30)


def refusal(status: int, words: str = "no", **headers: str) -> Behaviour:
    """An error response with the provider's words."""

    def behave(exchange: Exchange) -> None:
        body = json.dumps({"error": {"message": words, "type": "fake", "code": None}}).encode()
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        exchange.send(body, status=status, headers=named)

    return behave


def echoing(status: int) -> Behaviour:
    """An error response that repeats the key it was sent, in the middle of much text."""

    def behave(exchange: Exchange) -> None:
        sent = exchange.asked.headers
        key = sent["x-api-key"] or sent["Authorization"].removeprefix("Bearer ")
        refusal(status, f"{'x' * 280} bad key {key} {'y' * 400}")(exchange)

    return behave


@contextmanager
def _pieces(exchange: Exchange, text: str) -> Iterator[None]:
    exchange.begin_stream()
    answer = Answer(text)
    for event in list(answer.events())[:-2]:
        exchange.event(event)
    yield


def half(text: str = "draft: Because the") -> Behaviour:
    """A stream whose connection breaks before its end."""

    def behave(exchange: Exchange) -> None:
        with _pieces(exchange, text):
            pass

    return behave


def unfinished(text: str = "draft: Because the") -> Behaviour:
    """A stream that is closed in good order, but never says why it ended."""

    def behave(exchange: Exchange) -> None:
        with _pieces(exchange, text):
            exchange.end_stream()

    return behave


def stalled(text: str = "draft: Because the") -> Behaviour:
    """A stream that begins and then says nothing more."""

    def behave(exchange: Exchange) -> None:
        with _pieces(exchange, text):
            silence(exchange)

    return behave


def failing_stream(text: str = "draft: Because the") -> Behaviour:
    """A stream that begins and then reports an error as an event."""

    def behave(exchange: Exchange) -> None:
        with _pieces(exchange, text):
            exchange.event({"error": {"message": "the model fell over", "code": 502}})
            exchange.end_stream()

    return behave


def body(data: bytes, content_type: str = JSON) -> Behaviour:
    """Any bytes with a status that says all is well."""
    return lambda exchange: exchange.send(data, content_type)


GARBAGE = body(b"\x00\xff{{{ not json")
EMPTY = body(b"")
WRONG_TYPE = body(b"<html><body>Welcome to the hotel's network</body></html>", "text/html")
WRONG_SHAPE = body(b'{"choices": "none", "object": 7}')
NO_CHOICES = body(b'{"id": "c1", "object": "chat.completion", "created": 1, "choices": []}')
