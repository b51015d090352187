"""A wire between us and a server that loses what it is told to lose, and is cut then."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NamedTuple, Self
from urllib.parse import urlsplit, urlunsplit

_READY = b"Z\0\0\0\5"
"""How what a server says last in any answer begins; one byte follows."""


class Loss(NamedTuple):
    """What is to be lost, once."""

    text: bytes
    """Of the message that it is about."""
    what: Literal["message", "answer"]
    then: Callable[[], object]
    """Called before the wire is cut."""


class Wire:
    """Forwards to the server of an address, within a ``with`` block."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._loss: Loss | None = None
        self._ends: list[socket.socket] = []
        self._ended = False
        self.lost = 0
        """How often something was."""
        self.answered = 0
        """How often the server came to the end of an answer: each is a round trip."""

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Cut all wires and make no more, as if the server were gone."""
        self._ended = True  # of all at once: whoever misses one must not find another that works
        _close(self._listener)
        for end in self._ends:
            _close(end)

    @property
    def url(self) -> str:
        """The address of the same database by this wire."""
        parts = urlsplit(self._url)
        login, at, _ = parts.netloc.rpartition("@")
        port = self._listener.getsockname()[1]
        return urlunsplit(parts._replace(netloc=f"{login}{at}127.0.0.1:{port}"))

    def lose(
        self,
        text: str,
        what: Literal["message", "answer"] = "answer",
        then: Callable[[], object] = lambda: None,
    ) -> None:
        """Lose the next message that holds a text, or the answer to it, and cut the wire."""
        self._loss = Loss(text.encode(), what, then)

    def _accept(self) -> None:
        parts = urlsplit(self._url)
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection((parts.hostname or "", parts.port or 5432))
            except OSError:
                _close(client)
                continue
            self._ends += [client, server]
            doomed: list[Loss] = []
            for act, one, other in (
                (self._ask, client, server),
                (self._answer, server, client),
            ):
                threading.Thread(target=act, args=(one, other, doomed), daemon=True).start()

    def _ask(self, client: socket.socket, server: socket.socket, doomed: list[Loss]) -> None:
        with suppress(OSError):
            while (data := client.recv(1 << 16)) and not self._ended:
                loss = self._loss
                if loss is not None and loss.text in data:
                    self._loss = None
                    doomed.append(loss)
                    if loss.what == "message":
                        self._cut(loss, client, server)
                        return
                server.sendall(data)
        _close(server)

    def _answer(self, server: socket.socket, client: socket.socket, doomed: list[Loss]) -> None:
        last = b""
        with suppress(OSError):
            while (data := server.recv(1 << 16)) and not self._ended:
                last = (last + data)[-6:]
                is_end = last[:5] == _READY
                self.answered += is_end
                if not doomed:
                    client.sendall(data)
                elif is_end:
                    self._cut(doomed[0], server, client)
        _close(client)

    def _cut(self, loss: Loss, one: socket.socket, other: socket.socket) -> None:
        self.lost += 1
        loss.then()
        _close(one)
        _close(other)


def _close(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
