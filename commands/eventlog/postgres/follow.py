"""Waking up on news from a server: listen first, then look, and look again now and then."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

import psycopg

from commands.eventlog.patience import impatient
from commands.eventlog.place import Address
from commands.eventlog.postgres.connections import Connection, avoiding, connect
from commands.eventlog.postgres.faults import is_lost, translated
from commands.eventlog.recorder import Told
from domain.errors import LogosphereError, StoreIsBusy, StoreIsDamaged
from domain.log import Log
from domain.recorded import Recorded
from domain.server_errors import StoreIsUnreachable

_PAGE = 512
"""Events that are read before the first of them is given."""

TICK = 1.0
"""Seconds after which to look even if nothing was heard: a notice may have got lost."""

_POLL = 0.02
"""The same where transactions number the positions, and give no notice."""

_SHORT = 0.1
"""Seconds after which a follower that is to stop notices."""

GRACE = 2.0
"""Seconds that a server is away before that is told: a restart is nothing to speak of."""


def follow(
    log: Log, address: Address, after: int, stop: threading.Event, told: Told
) -> Iterator[Recorded]:
    """Events behind a position, then each new one soon after its commit, until ``stop`` is set.

    A lost connection is made anew, however long that takes, and what came meanwhile is read then;
    the events come from the log, so none is missed and none comes twice.

    Raises:
        StoreIsDamaged: it came back with another history: put back, or what took over had less.
        LogosphereError: the server is there, and does not let us read.
    """
    outage, point = _Outage(told), _Point(after)
    while not stop.is_set():
        try:
            # before the first look: what is committed in between would be heard of by nobody
            with closing(connect(address)) as ear, avoiding(address, ear):
                tick = _listening(ear, address)
                point.is_still_there(log, address)
                outage.ends()
                while not stop.is_set():
                    yield from _news(log, point, stop)
                    if not _hear(ear, tick, stop) and tick == TICK:
                        tick = _tick(ear, address)  # there may be no notices any more
        except (StoreIsUnreachable, StoreIsBusy, psycopg.Error) as error:
            outage.goes_on(_awaited(error, address))
        outage.nap(stop)


def _awaited(
    error: StoreIsUnreachable | StoreIsBusy | psycopg.Error, address: Address
) -> StoreIsUnreachable:
    """What is told of a server that can't be read just now; raises what waiting doesn't mend."""
    if isinstance(error, StoreIsUnreachable):
        return error
    if isinstance(error, psycopg.Error):
        if is_lost(error):
            return StoreIsUnreachable(address.shown, str(error).partition("\n")[0])
        said = translated(error, address.shown)
        if not isinstance(said, StoreIsBusy):
            raise said from error
    return StoreIsUnreachable(address.shown, "its tables are locked, as while one is rewritten")


class _Outage:
    """How long the server has been away, and whether that was told."""

    def __init__(self, told: Told) -> None:
        self._told, self._is_told = told, False
        self.ends()

    def ends(self) -> None:
        """It is back, or has never been away."""
        self._since: float | None = None
        self._nap = 0.01
        if self._is_told:
            self._is_told = False
            self._told(None)

    def goes_on(self, error: StoreIsUnreachable) -> None:
        """It was asked, and did not answer."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        elif now - self._since >= GRACE and not self._is_told:
            self._is_told = True
            self._told(error.awaited)

    def nap(self, stop: threading.Event) -> None:
        """Wait before it is asked again, longer each time, up to a second."""
        stop.wait(self._nap * random.uniform(0.5, 1))  # noqa: S311 — a wait, no secret
        self._nap = min(self._nap * 2, 1.0)


@dataclass
class _Point:
    """Up to where all has been given."""

    position: int
    hash: bytes | None = None
    """The chain hash of the event there."""
    is_known: bool = False
    """Whether we have looked what it is."""

    def is_still_there(self, log: Log, address: Address) -> None:
        """Refuse to go on in another history than the one that was given so far."""
        with impatient():
            found = log.hash_at(self.position)
        if not self.is_known:
            self.hash, self.is_known = found, True
        if found != self.hash:
            raise StoreIsDamaged(
                f"{address.shown!r} has another history than a moment ago, as after a restore:"
                " begin again with what it holds now."
            )


def _news(log: Log, point: _Point, stop: threading.Event) -> Iterator[Recorded]:
    """What came behind a point, which moves along."""
    more = True
    while more:
        with impatient():
            page = _page(log, point.position)
            if page:
                # before any is given: what breaks off here has given nothing that comes again
                point.hash = log.hash_at(page[-1].position)
                point.position = page[-1].position
        for recorded in page:
            yield recorded
            if stop.is_set():
                return
        more = len(page) == _PAGE


def _page(log: Log, after: int) -> list[Recorded]:
    """The next events behind a position; what comes before one that can't be read, by itself."""
    page: list[Recorded] = []
    try:
        page.extend(islice(log.feed(after), _PAGE))
    except LogosphereError:
        if not page:
            raise
    return page


def _listening(ear: Connection, address: Address) -> float:
    """Hear of what is appended from now on; after how many seconds to look all the same."""
    ear.execute(f"LISTEN {address.schema}".encode())
    return _tick(ear, address)


def _tick(ear: Connection, address: Address) -> float:
    """After how many seconds to look, as positions are numbered now."""
    query = f"SELECT by_transaction FROM {address.schema}.store"  # noqa: S608 — a checked name
    row = ear.execute(query.encode()).fetchone()
    return _POLL if row is not None and row[0] else TICK


def _hear(ear: Connection, tick: float, stop: threading.Event) -> bool:
    """Wait for a notice, for a tick at most; whether there was one."""
    waited = 0.0
    while waited < tick and not stop.is_set():
        for _ in ear.notifies(timeout=min(_SHORT, tick), stop_after=1):
            return True
        waited += _SHORT
    return False
