"""Each event seals all that came before it, as commits do in git.

``hash = sha256(previous ‖ version ‖ stream ‖ kind ‖ sha256(payload))`` with the version as 8 bytes
big-endian, and stream and kind as UTF-8 behind their length in 2 bytes, so that no two histories
write the same bytes. The payload enters by its digest: a payload can be taken away later, and the
chain still proves that it was there. A fork's first event chains on its parent's hash at the
fork point; so a store is a Merkle DAG.

Redactions have a chain of their own, over all streams in the order of their positions. Its newest
link is the *mark* of a store: ``sha256(previous ‖ hash)``, with the hash of the ``event.redacted``;
empty where nothing was redacted.
"""

from hashlib import sha256

HASH_LENGTH = 32


def link(previous: bytes, version: int, stream: str, kind: str, digest: bytes) -> bytes:
    """The hash of an event, from the hash before it and the sha256 of its payload."""
    name, what = stream.encode(), kind.encode()
    return sha256(
        b"".join(
            (
                previous,
                version.to_bytes(8, "big"),
                len(name).to_bytes(2, "big"),
                name,
                len(what).to_bytes(2, "big"),
                what,
                digest,
            )
        )
    ).digest()


def marked(previous: bytes, redaction: bytes) -> bytes:
    """The mark behind a redaction, from the one before it and the hash of its event."""
    return sha256(previous + redaction).digest()
