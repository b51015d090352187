"""Heads kept outside of the store: with them, a cut or rewritten history can't pass as whole.

A chain proves that a history hangs together, not that it is all of it: whoever can write the file
can cut its end off or seal everything anew. A head that was exported before says where each
session stood, and what its hash was there; a signature says who exported it.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from commands.eventlog import EventLog
from commands.world import World
from domain.errors import BadSetting, LogosphereError, Refused
from domain.ids import SessionId, stream_id

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

FORMAT = "logosphere-heads/1"
_MOST = 64 * 2**20
"""Bytes of a file of heads that are read."""

Standing = Literal["as written", "cut off", "rewritten", "gone"]


class Kept(NamedTuple):
    """A session's head as a file of heads says."""

    session: SessionId
    version: int
    hash: bytes


class Compared(NamedTuple):
    """What has become of a session since its head was exported."""

    session: SessionId
    version: int
    """Of the exported head."""
    standing: Standing
    now: int
    """Where the session stands now; 0 when it is gone."""
    here: SessionId | None
    """What it is called here; None when it is gone."""


class Heads(NamedTuple):
    """A file of heads, read."""

    made: str
    """When, ISO 8601, as its maker's clock said."""
    kept: tuple[Kept, ...]
    key: str | None
    """The public key of its signature, base64; None where it is not signed."""


def heads_of(
    log: EventLog, sessions: Iterable[SessionId], world: World, key_file: Path | None = None
) -> dict[str, Any]:
    """The heads of sessions as plain data, signed where a key is given.

    Args:
        log: where they live.
        sessions: which.
        world: says what time it is.
        key_file: an Ed25519 private key, PEM or OpenSSH, without a passphrase.

    Raises:
        NoSuchSession: one of them is not there.
        Refused: the key can't be used.
    """
    data: dict[str, Any] = {
        "format": FORMAT,
        "made": world.local_time().isoformat(timespec="seconds"),
        "heads": [
            {"session": session, "version": head.version, "hash": head.hash.hex()}
            for session in sessions
            for head in (log.head(session),)
        ],
    }
    if key_file is not None:
        key = _private(key_file)
        value = key.sign(_signed(data))
        data["signature"] = {
            "algorithm": "Ed25519",
            "key": _base64(key.public_key().public_bytes_raw()),
            "value": _base64(value),
        }
    return data


def read_heads(file: Path, trusted: Path | None = None) -> Heads:
    """Read a file of heads, and check its signature where it has one.

    Args:
        file: what :func:`heads_of` gave, as JSON.
        trusted: the public key that has to have signed it, PEM or OpenSSH.

    Raises:
        BadSetting: it is no such file.
        Refused: its signature, or the key behind it, is not right.
    """
    data = _loaded(file)
    signature = data.get("signature")
    key = None
    if signature is not None:
        key = _checked(file, data, signature)
    if trusted is not None:
        if key is None:
            raise Refused(f"{str(file)!r} is not signed: nobody vouches for it.")
        if key != _base64(_public(trusted).public_bytes_raw()):
            raise Refused(f"{str(file)!r} was signed with another key than {str(trusted)!r}.")
    try:
        kept = tuple(
            Kept(stream_id(head["session"]), _version(head), bytes.fromhex(head["hash"]))
            for head in data["heads"]
        )
        return Heads(str(data["made"]), kept, key)
    except (AttributeError, KeyError, TypeError, ValueError, Refused) as error:
        raise BadSetting(f"{str(file)!r} holds no heads (mind head -o FILE makes one).") from error


def _version(head: dict[str, Any]) -> int:
    version = head["version"]
    if type(version) is not int or not 0 < version < 2**62:
        raise TypeError("no version")
    return version


def compared(log: EventLog, heads: Iterable[Kept]) -> Iterator[Compared]:
    """What has become of each session; the hashes in the log have to be proved on their own."""
    for head in heads:
        named = [head.session] if log.exists(head.session) else []
        likely = [*named, *(s for s in log.born_as(head.session) if s not in named)]
        looked = [_standing(log, name, head) for name in likely]
        # names may have changed more than once on the way here, a hash never does
        others = (_standing(log, name, head) for name in log.sessions() if name not in likely)
        whole = (one for one in chain(looked, others) if one.standing == "as written")
        gone = Compared(head.session, head.version, "gone", 0, None)
        yield next(whole, looked[0] if looked else gone)


def _standing(log: EventLog, name: SessionId, head: Kept) -> Compared:
    """What has become of a session, if it is the one called ``name`` here."""
    (session, version, hash_), now, same = head, 0, False
    try:
        now = log.head(name).version
        if now < version:
            return Compared(session, version, "cut off", now, name)
        same = log.head(name, version).hash == hash_
    except LogosphereError:
        pass  # it is not in one piece: what there is is told by the proof of its chain
    return Compared(session, version, "as written" if same else "rewritten", now, name)


def _loaded(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > _MOST:
            raise BadSetting(f"{str(file)!r} is too large for a file of heads.")
        data = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise BadSetting(f"{str(file)!r} can't be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise BadSetting(f"{str(file)!r} holds no heads: it is no JSON.") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise BadSetting(f"{str(file)!r} holds no heads of the form {FORMAT}.")
    return data


def _signed(data: dict[str, Any]) -> bytes:
    """What a signature is over: all but itself, in the one way to write it."""
    plain = {key: value for key, value in data.items() if key != "signature"}
    return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()


def _checked(file: Path, data: dict[str, Any], signature: Any) -> str:
    _need_cryptography()
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 — slow, rarely needed
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
        Ed25519PublicKey,
    )

    try:
        key = base64.b64decode(signature["key"], validate=True)
        value = base64.b64decode(signature["value"], validate=True)
        Ed25519PublicKey.from_public_bytes(key).verify(value, _signed(data))
    except (InvalidSignature, KeyError, TypeError, ValueError, RecursionError) as error:
        raise Refused(f"The signature of {str(file)!r} is not right: it was changed.") from error
    return _base64(key)


def _private(file: Path) -> "Ed25519PrivateKey":
    _need_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
        Ed25519PrivateKey,
    )
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
        load_pem_private_key,
        load_ssh_private_key,
    )

    data = _bytes(file)
    load = load_ssh_private_key if b"OPENSSH PRIVATE KEY" in data else load_pem_private_key
    try:
        key = load(data, None)
    except (TypeError, ValueError, UnsupportedAlgorithm) as error:
        raise _no_key(file, "private", "without a passphrase (ssh-keygen -t ed25519)") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(file, "private", "(ssh-keygen -t ed25519 makes one)")
    return key


def _public(file: Path) -> "Ed25519PublicKey":
    _need_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
        Ed25519PublicKey,
    )
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
        load_pem_public_key,
        load_ssh_public_key,
    )

    data = _bytes(file)
    load = load_ssh_public_key if data.startswith(b"ssh-") else load_pem_public_key
    try:
        key = load(data)
    except (TypeError, ValueError, UnsupportedAlgorithm) as error:
        raise _no_key(file, "public", "(the .pub file of ssh-keygen)") from error
    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(file, "public", "(the .pub file of ssh-keygen -t ed25519)")
    return key


def _bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as data:
            return data.read(65536)
    except OSError as error:
        raise BadSetting(f"{str(file)!r} can't be read: {error.strerror or error}.") from error


def _no_key(file: Path, which: str, how: str) -> Refused:
    return Refused(f"{str(file)!r} is no {which} Ed25519 key {how}.")


def _need_cryptography() -> None:
    try:
        import cryptography  # noqa: F401, PLC0415 — slow, and an extra
    except ImportError:
        raise Refused('Signatures need cryptography: pip install "logosphere[sign]".') from None


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
