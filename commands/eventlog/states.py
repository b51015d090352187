"""States of sessions: remembered at the head, folded from a snapshot anywhere else."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from commands.eventlog.chain import HASH_LENGTH
from commands.eventlog.lineage import Lineage, clipped
from commands.eventlog.recorder import Mark
from commands.eventlog.snapshots import EVERY, Snapshot, Snapshots
from commands.eventlog.wire import EventMapper, Row
from domain.errors import NoSuchMoment, StoreIsDamaged
from domain.ids import SessionId
from domain.recorded import BEGINNING, Draw, Head, Recorded
from domain.session import Session
from domain.streams import evolve_of, family_of

STATES_KEPT = {"session": 16, "agent": 256, "project": 64, "task": 64}
"""How many streams of each family have their newest state remembered."""

_REDACTION = "event.redacted"

_BATCH = 16
"""Snapshots that a long fold holds before it saves them."""


class Known(NamedTuple):
    """A state at the head of a stream, and what is known of it."""

    state: Any
    """A :class:`Session`, or what else folds this stream."""
    hash: bytes
    snapshot: int
    """The version of its newest snapshot."""
    mark: Mark
    """That of its part of the store when it was folded."""


class States:
    """Every state is a fold; this is how most of the folding is saved."""

    def __init__(
        self,
        snapshots: Snapshots,
        lineage: Lineage,
        mapper: EventMapper,
        rows: Callable[..., Iterator[Row]],
        marks: Callable[[SessionId | None], Sequence[Mark]],
    ) -> None:
        self._snapshots, self._lineage = snapshots, lineage
        self._mapper, self._rows, self._marks = mapper, rows, marks
        self._known: dict[str, OrderedDict[SessionId, Known]] = {
            family: OrderedDict() for family in STATES_KEPT
        }
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let go of the snapshots."""
        self._snapshots.close()

    def known(self, session: SessionId) -> Known | None:
        """What is remembered, without a look at the log."""
        return self._known[family_of(session)].get(session)

    def kept(self, session: SessionId) -> Iterator[tuple[int, Session | None]]:
        """All snapshots of a session's own events: version, and state if readable."""
        for version, snapshot in self._snapshots.kept(session, self._mark(session)):
            yield version, snapshot.state if snapshot is not None else None

    def forget(self) -> bool:
        """Let go of states that may hold what has been redacted; whether none are left."""
        with self._lock:
            for known in self._known.values():
                known.clear()
        gone = [self._snapshots.forget(mark, thorough=True) for mark in self._marks(None)]
        return all(gone)

    def _mark(self, session: SessionId) -> Mark:
        """What would be another one if an event that the session may share had been redacted."""
        return self._marks(session)[0]

    def newest(self, session: SessionId) -> Known:
        """The state at the head, which others may have moved."""
        known = self.valid(session)
        if known is None:
            return self._remember(session, self._cold(session, None))
        rows = self._behind(session, known)
        if rows is None:
            return self._remember(session, self._cold(session, None))
        state, hash_ = known.state, known.hash
        for row in rows:
            if row[3] == _REDACTION:  # since we looked: what we know is not what it was
                return self._remember(session, self._cold(session, None))
            state, hash_ = self._evolved(state, row), row[4][:HASH_LENGTH]
        return self._remember(session, known._replace(state=state, hash=hash_))

    def _behind(
        self, session: SessionId, known: Known, upto: int | None = None
    ) -> Iterator[Row] | None:
        """The rows behind a remembered state; None where the log has another past by now.

        So it is after a restore, or a failover that lost something, while we were away.
        """
        rows = self._rows(session, after=known.state.version - 1, upto=upto)
        first = next(rows, None)
        there = first is not None and (first[1], first[4][:HASH_LENGTH])
        return rows if there == (known.state.version, known.hash) else None

    def valid(self, session: SessionId) -> Known | None:
        """What is remembered, unless something has been redacted since."""
        known = self.known(session)
        return known if known is not None and known.mark == self._mark(session) else None

    def at(self, session: SessionId, version: int) -> Any:
        """The state as of a version.

        Raises:
            NoSuchMoment: the session does not have it.
        """
        known = self.known(session)
        if known is not None and known.state.version <= version:
            known = self.valid(session)  # only asked where it helps: it may be a round trip
        if known is None or known.state.version > version:
            return self._cold(session, version).state
        rows = self._behind(session, known, version)
        if rows is None:
            return self._cold(session, version).state
        state = known.state
        for row in rows:
            state = self._evolved(state, row)
        if state.version != version:
            raise NoSuchMoment(session, str(version), [str(state.version)])
        return state

    def settled(
        self,
        session: SessionId,
        known: Known,
        draw: Draw,
        head: Head,
        positions: Sequence[int],
    ) -> Any:
        """The state behind events that are in the log now."""
        state = known.state
        for (event, cause, by, at), position in zip(draw.events, positions, strict=True):
            recorded = Recorded(
                session,
                state.version + 1,
                position,
                draw.at if at is None else at,
                by or draw.actor,
                draw.command,
                cause,
                event,
            )
            state = evolve_of(session)(state, recorded)
        return self._remember(session, known._replace(state=state, hash=head.hash)).state

    def _evolved(self, state: Any, row: Row) -> Any:
        try:
            return evolve_of(row[0])(state, self._mapper.recorded(row))
        except ValueError as error:
            raise StoreIsDamaged(
                f"Event {row[1]} of session {row[0]!r} does not fit what is before it ({error}):"
                " check the store with mind verify."
            ) from error

    def _cold(self, session: SessionId, version: int | None) -> Known:
        """A state from the newest true snapshot and the events behind it."""
        parts = clipped(self._lineage.path(session), 0, version)
        parts.reverse()
        mark = self._mark(session)
        state, hash_, saved = self._snapshot(session, parts, mark)
        fresh: list[Snapshot] = []
        stream = session
        for row in self._rows(session, after=state.version if state else 0, upto=version):
            if fresh and (row[0] != stream or len(fresh) == _BATCH):
                self._keep(stream, fresh, mark)
                fresh = []
            stream = SessionId(row[0])
            state, hash_ = self._evolved(state, row), row[4][:HASH_LENGTH]
            if state.version - saved >= EVERY:
                fresh.append(Snapshot(state, hash_))
                saved = state.version
        if fresh:
            self._keep(stream, fresh, mark)
        if state is None or (version is not None and state.version != version):
            raise NoSuchMoment(session, str(version), [str(state.version)] if state else [])
        return Known(state, hash_, saved, mark)

    def _keep(self, stream: SessionId, snapshots: list[Snapshot], mark: Mark) -> None:
        """Save states, unless they may hold what has been taken away since."""
        if mark == self._mark(stream) and family_of(stream) == "session":
            self._snapshots.save(stream, snapshots, mark)

    def _snapshot(
        self, session: SessionId, parts: list[tuple[SessionId, int, int]], mark: Mark
    ) -> tuple[Any, bytes, int]:
        """The newest snapshot whose hash the log still has at its moment; others are dropped."""
        while (found := self._snapshots.newest(parts, mark)) is not None:
            stream, version, snapshot = found
            if snapshot is not None and snapshot.state.version == version:
                row = next(self._rows(session, after=version - 1, upto=version, page=1), None)
                if row is not None and row[4][:HASH_LENGTH] == snapshot.hash:
                    return snapshot.state, snapshot.hash, version
            self._snapshots.drop(stream, version)
            parts = [
                (s, low, min(high, version - 1)) for s, low, high in parts if low < version - 1
            ]
        return None, BEGINNING.hash, 0

    def _remember(self, session: SessionId, known: Known) -> Known:
        state = known.state
        if state.version - known.snapshot >= EVERY and state.id == session:
            self._keep(session, [Snapshot(state, known.hash)], known.mark)
            known = known._replace(snapshot=state.version)
        family = family_of(session)
        kept = self._known[family]
        with self._lock:
            kept[session] = known
            kept.move_to_end(session)
            while len(kept) > STATES_KEPT[family]:
                kept.popitem(last=False)
        return known
