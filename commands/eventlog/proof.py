"""Proofs of a whole store, and how far it has been proved before."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.lineage import Birth
from commands.eventlog.recorder import Recorder
from commands.eventlog.verify import Finding, Verdict, verify_since, verify_streams
from commands.eventlog.wire import EventMapper
from domain.errors import LogosphereError, NoSuchSession
from domain.ids import SessionId

PROVED_FILE = "verified"


class Proved(NamedTuple):
    """Up to a position of the store, all was as written."""

    position: int
    hash: bytes
    """The chain hash of the event there."""


class Proof:
    """Proves the streams of a store, all of them, some, or what is new."""

    def __init__(
        self,
        recorder: Recorder,
        mapper: EventMapper,
        birth: Callable[[SessionId], Birth],
        directory: Path | None,
    ) -> None:
        """Look at a store.

        Args:
            recorder: its rows.
            mapper: reads them.
            birth: how a stream began.
            directory: where to remember how far it was proved; None to remember nothing.
        """
        self._recorder, self._mapper, self._birth = recorder, mapper, birth
        self._directory = directory
        # looked up first: what begins while sessions are listed is not among the proved
        self._upto = self._newest()

    def of(self, sessions: Iterable[SessionId], having: Iterable[SessionId]) -> Iterator[Verdict]:
        """Recompute the chains of some sessions and all that they descend from."""
        there, names = dict.fromkeys(having), dict[SessionId, None]()
        for session in sessions:
            if session not in there:
                raise NoSuchSession(session, there)
            stream: SessionId | None = session
            while stream is not None and stream not in names:
                names[stream] = None
                stream = self._parent(stream)
        yield from self._each(names)

    def of_all(self, sessions: Iterable[SessionId]) -> Iterator[Verdict]:
        """Recompute every chain, and remember how far that was."""
        yield from self._remembering(self._each(sessions))

    def of_new(self, sessions: Iterable[SessionId]) -> Iterator[Verdict]:
        """Recompute the chains behind what was proved before; of everything, the first time.

        Of everything, too, where what was proved before is no longer what it was.
        """
        before = _remembered(self._directory) if self._directory else None
        if before is None:
            yield from self.of_all(sessions)
        else:
            yield from self._remembering(self._since(before, sessions))

    def _since(self, before: Proved, sessions: Iterable[SessionId]) -> Iterator[Verdict]:
        whole = True
        try:
            for verdict in verify_since(self._recorder, self._mapper, *before):
                yield verdict
                whole = whole and bool(verdict.session)
        except LogosphereError as error:  # a page can't be read: event by event is told below
            yield Verdict(SessionId(""), 0, (Finding(SessionId(""), 0, error.sentence),))
            whole = False
        if not whole:
            yield from self._each(sessions)

    def _each(self, sessions: Iterable[SessionId]) -> Iterator[Verdict]:
        return verify_streams(self._recorder, self._mapper, sessions)

    def _remembering(self, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
        whole = True
        for verdict in verdicts:
            whole = whole and not verdict.findings
            yield verdict
        if whole and self._upto is not None and self._directory is not None:
            _remember(self._directory, self._upto)

    def _newest(self) -> Proved | None:
        try:
            with self._recorder.reading() as cursor:
                row = self._recorder.last(cursor)
        except LogosphereError:
            return None  # said by the proof of what can't be read
        if row is None or not isinstance(row[4], bytes):
            return None
        return Proved(row[2], row[4][:HASH_LENGTH])

    def _parent(self, stream: SessionId) -> SessionId | None:
        try:
            return self._birth(stream).parent
        except LogosphereError:
            return None  # said by the proof of the stream itself


def _remembered(directory: Path) -> Proved | None:
    """What the last whole proof left; None where there was none, or it can't be read."""
    try:
        data = json.loads((directory / PROVED_FILE).read_text("utf-8"))
        position, hash_ = data["position"], bytes.fromhex(data["hash"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    sound = type(position) is int and 0 < position < 2**62 and len(hash_) == HASH_LENGTH
    return Proved(position, hash_) if sound else None


def _remember(directory: Path, proved: Proved) -> None:
    """Keep it for the next time; a store that can't be written is proved in whole again."""
    new = directory / f"{PROVED_FILE}.{os.getpid()}"
    try:
        new.write_text(
            json.dumps({"position": proved.position, "hash": proved.hash.hex()}) + "\n", "utf-8"
        )
        new.replace(directory / PROVED_FILE)
    except OSError:
        new.unlink(missing_ok=True)
