"""Events to bytes and back: msgpack maps under a kind, readable from any language.

A stored state is 32 bytes of chain hash and a msgpack map: ``schema``, ``at`` (µs since 1970),
``actor`` (``user:ann``), ``command`` (16 bytes), ``cause`` (a version, where there is one) and
``data`` (the event's own fields). Of a redacted event the map is a stub: the same without its
content, and with ``digest``, the sha256 of the map that was there.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgpack
from eventsourcing.persistence import Mapper, StoredEvent, Transcoder
from pydantic import ValidationError

from commands.eventlog.chain import HASH_LENGTH, link
from domain.actors import Actor
from domain.errors import NewerSchema, NothingChanges, StoreIsDamaged, UnknownKind
from domain.events import EVENTS, Caused, Event, SessionForked
from domain.ids import CommandId, SessionId
from domain.recorded import Draw, Head, Plain, Recorded
from domain.upcasts import UPCASTS, Upcast

Row = tuple[str, int, int, str, bytes]
"""Stream, version, position, kind, state: as it lies in the table."""


def original(payload: bytes) -> bytes | None:
    """The digest of the payload that stood where a stub stands now; None where this is no stub."""
    try:
        envelope = msgpack.unpackb(payload, unicode_errors="surrogatepass")
        digest = envelope.get("digest")
    except (ValueError, AttributeError, msgpack.UnpackException):
        return None
    return digest if type(digest) is bytes else None


class _NoTranscoder(Transcoder):
    """The library's mapper wants one; ours encodes whole events itself."""

    def encode(self, obj: Any) -> bytes:
        """Never called."""
        raise TypeError(f"{type(obj)} is encoded by EventMapper")

    def decode(self, data: bytes) -> Any:
        """Never called."""
        raise TypeError(f"{len(data)} bytes are decoded by EventMapper")


def _sound(at: Any, actor: Any, command: Any, cause: Any, schema: Any, data: Any) -> None:
    """Make sure that an envelope holds what an envelope holds.

    Raises:
        TypeError: it does not.
    """
    if not (
        type(at) is int
        and type(actor) is str
        and type(command) is bytes
        and (cause is None or type(cause) is int)
        and type(schema) is int
        and schema > 0
        and type(data) is dict
    ):
        raise TypeError("no envelope")


def _unreadable(row: Row, why: Exception) -> StoreIsDamaged:
    stream, version, _, kind, _ = row
    return StoreIsDamaged(
        f"Event {version} of session {stream!r} ({kind}) can't be read"
        f" ({type(why).__name__}): check the store with mind verify."
    )


class EventMapper(Mapper[str]):
    """Turns events into payloads by kind, and payloads of any schema into today's events."""

    def __init__(
        self,
        events: Mapping[str, type[Event]] = EVENTS,
        upcasts: Mapping[tuple[str, int], Upcast] = UPCASTS,
    ) -> None:
        super().__init__(_NoTranscoder())
        self._events = events
        self._upcasts = upcasts

    def payload(self, caused: Caused, draw: Draw) -> bytes:
        """The bytes that the chain seals."""
        event, cause, by, at = caused
        envelope: dict[str, Any] = {
            "schema": event.schema_version,
            "at": draw.at if at is None else at,
            "actor": str(by or draw.actor),
            "command": draw.command,
        }
        if cause is not None:
            envelope["cause"] = cause
        envelope["data"] = event.wire()
        packed: bytes = msgpack.packb(envelope, unicode_errors="surrogatepass")
        return packed

    def sealed(
        self, onto: Head, stream: str, draw: Draw, name: str | None = None
    ) -> tuple[list[StoredEvent], Head]:
        """Rows for a draw behind ``onto``, each chained on the one before, and the new head.

        Args:
            onto: the version and hash before them.
            stream: where the rows go.
            draw: the events.
            name: what the stream was born as, where an import gave it another name here.
        """
        rows: list[StoredEvent] = []
        version, hash_ = onto
        for caused in draw.events:
            version += 1
            kind, payload = caused.event.kind, self.payload(caused, draw)
            hash_ = link(hash_, version, name or stream, kind, sha256(payload).digest())
            rows.append(StoredEvent(stream, version, kind, hash_ + payload))
        return rows, Head(version, hash_)

    def recorded(self, row: Row) -> Recorded:
        """Read a row.

        Raises:
            UnknownKind, NewerSchema: a newer version wrote it.
            StoreIsDamaged: its bytes are not an event.
        """
        stream, version, position, kind, state = row
        try:
            class_ = self._events[kind]
        except KeyError:
            raise UnknownKind(kind, stream, version) from None
        try:
            envelope = msgpack.unpackb(
                state[HASH_LENGTH:], use_list=False, unicode_errors="surrogatepass"
            )
            at, actor, command = envelope["at"], envelope["actor"], envelope["command"]
            cause, schema, data = envelope.get("cause"), envelope["schema"], envelope["data"]
            _sound(at, actor, command, cause, schema, data)
            if schema != class_.schema_version:
                data = self._upcast(kind, stream, version, schema, data)
            return Recorded(
                SessionId(stream),
                version,
                position,
                at,
                Actor.parse(actor),
                CommandId(command),
                cause,
                class_.from_wire(data),
                "digest" in envelope,
            )
        except (
            AttributeError,
            KeyError,
            TypeError,
            ValueError,
            ValidationError,
            msgpack.UnpackException,
        ) as e:
            raise _unreadable(row, e) from e

    def plain(self, row: Row) -> Plain:
        """Read a row as plain data.

        Raises:
            NewerSchema: a newer version wrote it, of a kind that is known.
            StoreIsDamaged: its bytes are not an event.
        """
        stream, version, position, kind, state = row
        try:
            envelope = msgpack.unpackb(
                memoryview(state)[HASH_LENGTH:], use_list=False, unicode_errors="replace"
            )
            at, actor, command = envelope["at"], envelope["actor"], envelope["command"]
            cause, schema, data = envelope.get("cause"), envelope["schema"], envelope["data"]
            _sound(at, actor, command, cause, schema, data)
            class_ = self._events.get(kind)
            if class_ is not None and schema != class_.schema_version:
                data = self._upcast(kind, stream, version, schema, data)
        except (AttributeError, KeyError, TypeError, ValueError, msgpack.UnpackException) as e:
            raise _unreadable(row, e) from e
        redacted = "digest" in envelope
        stream_ = SessionId(stream)
        return Plain(stream_, version, position, kind, at, actor, command, cause, data, redacted)

    def origin(self, row: Row) -> tuple[str, int]:
        """What a ``session.forked`` branched off, and where; a long ancestry reads many of them.

        Raises:
            As :meth:`recorded`.
        """
        try:
            envelope = msgpack.unpackb(row[4][HASH_LENGTH:], unicode_errors="surrogatepass")
            parent, at = envelope["data"]["parent"], envelope["data"]["at_version"]
            known = envelope["schema"] == SessionForked.schema_version
            if known and type(parent) is str and type(at) is int:
                return parent, at
        except (KeyError, TypeError, ValueError, msgpack.UnpackException):
            pass  # said below
        fork = self.recorded(row).event
        if not isinstance(fork, SessionForked):
            raise TypeError(row[3])
        return fork.parent, fork.at_version

    def _upcast(
        self, kind: str, stream: str, version: int, schema: int, data: dict[str, Any]
    ) -> dict[str, Any]:
        known = self._events[kind].schema_version
        if schema > known:
            raise NewerSchema(kind, stream, version, schema, known)
        for old in range(schema, known):
            data = self._upcasts[(kind, old)](data)
        return data

    def stub(self, row: Row) -> tuple[bytes, bytes]:
        """What stays of a row's payload when its content goes, and the payload's sha256.

        Raises:
            NothingChanges: it is a stub already, or there is no content in it.
        """
        recorded, payload = self.recorded(row), row[4][HASH_LENGTH:]
        where = f"Event {recorded.version} of session {recorded.session!r} ({row[3]})"
        if recorded.redacted:
            raise NothingChanges(f"{where} is redacted already.")
        blank = recorded.event.redacted()
        if blank == recorded.event:
            raise NothingChanges(f"{where} holds nothing that people or minds said.")
        envelope = msgpack.unpackb(payload, unicode_errors="surrogatepass")
        digest = sha256(payload).digest()
        envelope |= {"schema": blank.schema_version, "data": blank.wire(), "digest": digest}
        packed: bytes = msgpack.packb(envelope, unicode_errors="surrogatepass")
        return packed, digest

    def to_stored_event(self, domain_event: Any) -> StoredEvent:
        """Refused: a row alone has no place in a chain."""
        raise TypeError(f"{type(domain_event)} becomes a row in sealed(), which chains it")

    def to_domain_event(self, stored_event: StoredEvent) -> Any:
        """Read a row that the library selected; it does not know its position."""
        return self.recorded(
            (
                str(stored_event.originator_id),
                stored_event.originator_version,
                getattr(stored_event, "id", 0),
                stored_event.topic,
                stored_event.state,
            )
        )
