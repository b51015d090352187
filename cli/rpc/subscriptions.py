"""subscribe and unsubscribe: every event, from any position on, without a gap and none twice."""

import asyncio
import itertools
import logging
import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pydantic import Field

from cli.history import as_data
from cli.log import line
from cli.rpc.errors import bad_params
from cli.rpc.method import Method, Params, Peer, Result
from commands.eventlog import EventLog
from commands.eventlog.patience import impatient, until
from domain.errors import LogosphereError, NoSuchSession, Refused, StoreIsBusy
from domain.ids import SessionId
from domain.recorded import Recorded
from domain.server_errors import StoreIsUnreachable

if TYPE_CHECKING:
    from cli.rpc.service import Service

LOGGER = logging.getLogger(__name__)

PAGE = 256
"""Events that are read at once for one who catches up."""

MOST = 64
"""Subscriptions that one peer may have at once: each event is sent for each of them."""

_AHEAD = 256
"""Events that the follower may be ahead of those that it feeds."""

AGAIN = 1.0
"""Seconds until one who catches up looks again whether a store that is away is back."""

_BROKE = "The events could not be read on, for a reason that the server's log tells."


class Subscribe(Params):
    """Which events."""

    from_position: int | None = Field(
        None,
        ge=0,
        description="The last position seen: what comes behind it is sent. 0 for all there is,"
        " left out for what is yet to come.",
    )
    session: str | None = Field(
        None,
        description="Only what is appended to this session (or agent:NAME, project:NAME,"
        " task:PROJECT/SLUG); what a fork inherits is not sent again.",
    )


class Subscribed(Result):
    """What comes from now on."""

    subscription: int = Field(description="Stands in each `event` that is sent for it.")
    position: int = Field(description="Events behind this position follow.")


class Unsubscribe(Params):
    """Which subscription."""

    subscription: int


class Unsubscribed(Result):
    """It is over."""

    subscription: int
    position: int = Field(description="Up to here it was told everything.")


@runtime_checkable
class Paced(Protocol):
    """A peer that says when there is room for more."""

    async def drained(self) -> None:
        """Wait until there is."""
        ...


@runtime_checkable
class Patient(Paced, Protocol):
    """A peer that is not cut off: without room for what is new, it catches up once it has some."""

    @property
    def has_room(self) -> bool:
        """Whether it takes what is new as it comes."""
        ...


class Subscription:
    """What one peer is told."""

    def __init__(self, number: int, peer: Peer, session: SessionId | None, position: int) -> None:
        self.number, self.peer, self.session = number, peer, session
        self.position = position
        """All up to here was sent, or is of no concern."""
        self.live = False
        """It has caught up: what is new is sent as it comes."""
        self.task: asyncio.Task[None] | None = None
        self._patient = peer if isinstance(peer, Patient) else None

    @property
    def has_room(self) -> bool:
        """Whether it can be told now what is new."""
        return self._patient is None or self._patient.has_room

    def send(self, recorded: Recorded, told: dict[str, Any]) -> None:
        """Tell of an event, unless that was done already."""
        if recorded.position <= self.position:
            return
        self.position = recorded.position
        if self.session is None or recorded.session == self.session:
            self.peer.notify("event", {"subscription": self.number, **told})


class Subscriptions:
    """Feeds all subscriptions of a process from one thread that follows the log."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._numbers = itertools.count(1)
        self._all: dict[int, Subscription] = {}
        self._stop = threading.Event()
        self._follower: threading.Thread | None = None
        self._live_at = 0
        """The position up to which the follower has told those that are live."""

    async def begin(
        self, peer: Peer, from_position: int | None, session: str | None
    ) -> Subscription:
        """Tell a peer of all events behind a position, and of new ones.

        Raises:
            RpcError: -32602, the store has no such position.
            NoSuchSession: there is no such stream.
            Refused: it has as many as it may have.
        """
        stream = SessionId(session) if session is not None else None
        with until(self._stop):  # the thread looks with the patience that is left here
            newest = await asyncio.to_thread(self._looked_up, stream)
        if sum(one.peer is peer for one in self._all.values()) >= MOST:
            raise Refused(f"There are {MOST} subscriptions already: unsubscribe from one first.")
        if from_position is not None and from_position > newest:
            raise bad_params(
                f"The store ends at position {newest}: it is not the one that had {from_position},"
                " or it was restored; subscribe without fromPosition.",
                "fromPosition",
            )
        self._follow(newest)
        start = newest if from_position is None else from_position
        subscription = Subscription(next(self._numbers), peer, stream, start)
        self._all[subscription.number] = subscription
        self._fall_behind(subscription)
        return subscription

    def _looked_up(self, stream: SessionId | None) -> int:
        """The newest position; a server that is away is waited for, so never on the loop.

        Raises:
            NoSuchSession: there is no such stream.
        """
        if stream is not None and not self._log.exists(stream):
            raise NoSuchSession(stream, self._log.reached("session").names)
        if stream is not None and self._log.place_of(stream) != self._log.place:
            where = self._log.place_of(stream)
            raise Refused(
                f"{stream} is in another cell of the store, where positions are others: subscribe"
                f" to it at a server of that cell (mind serve --store '{where}')."
            )
        return self._log.position()

    def end(self, peer: Peer, number: int) -> Subscription:
        """Tell a peer no more.

        Raises:
            RpcError: -32602, it has no such subscription.
        """
        subscription = self._all.get(number)
        if subscription is None or subscription.peer is not peer:
            raise bad_params(f"There is no subscription {number} here.", "subscription")
        self._forget([subscription])
        return subscription

    def forget(self, peer: Peer) -> None:
        """Its connection is gone."""
        self._forget([one for one in self._all.values() if one.peer is peer])

    def _forget(self, them: Iterable[Subscription]) -> None:
        for subscription in list(them):
            del self._all[subscription.number]
            if subscription.task is not None:
                subscription.task.cancel()

    async def close(self) -> None:
        """End all of them, and the thread."""
        self._forget(self._all.values())
        self._stop.set()
        if self._follower is not None:
            await asyncio.to_thread(self._follower.join)

    # those that have to catch up

    def _fall_behind(self, subscription: Subscription) -> None:
        subscription.live = False
        subscription.task = asyncio.create_task(self._catch_up(subscription))

    async def _catch_up(self, subscription: Subscription) -> None:
        """Send what was before, in pages, as fast as the peer takes it; then it is live."""
        try:
            while True:
                newest, page = await self._next_page(subscription)
                for recorded in page:
                    if isinstance(subscription.peer, Paced):
                        await subscription.peer.drained()
                    subscription.send(recorded, _told(recorded))
                if len(page) < PAGE:
                    subscription.position = max(subscription.position, newest)
                if subscription.position >= self._live_at:
                    subscription.live = True
                    return
        except LogosphereError as error:
            self._fail(subscription, error.sentence)
        except Exception:
            LOGGER.exception("a subscription could not catch up")
            self._fail(subscription, _BROKE)

    async def _next_page(self, subscription: Subscription) -> tuple[int, list[Recorded]]:
        """As :meth:`_page`, however long the store is away: the follower tells of that."""
        while True:
            try:
                return await asyncio.to_thread(self._page, subscription)
            except (StoreIsBusy, StoreIsUnreachable):
                await asyncio.sleep(AGAIN)

    def _page(self, subscription: Subscription) -> tuple[int, list[Recorded]]:
        """The store's newest position, and the next events that concern it.

        What is committed by that position is either in the page or behind a page that is full.
        """
        with impatient():
            newest = self._log.position()
            after, session = subscription.position, subscription.session
            events = self._log.feed(after) if session is None else self._own(session, after)
            return newest, list(islice(events, PAGE))

    def _own(self, session: SessionId, after: int) -> Iterator[Recorded]:
        """Events of a stream's own behind a position, found without reading those before."""
        before = self._log.path(session)[0].after
        versions = range(before + 1, self._log.head(session).version + 1)
        first = bisect_left(versions, after + 1, key=partial(self._position, session))
        return self._log.read(session, after=before + first)

    def _position(self, session: SessionId, version: int) -> int:
        return self._log.pick(session, [version])[0].position

    # those that are live

    def _follow(self, newest: int) -> None:
        """See that the log is followed; from a position on, where nobody does so yet."""
        if self._follower is not None and self._follower.is_alive():
            return
        self._live_at = newest
        loop = asyncio.get_running_loop()
        self._follower = threading.Thread(
            target=self._tell_news, args=(loop, self._live_at), name="follower", daemon=True
        )
        self._follower.start()

    def _tell_news(self, loop: asyncio.AbstractEventLoop, after: int) -> None:
        ahead = threading.Semaphore(_AHEAD)

        def tell(recorded: Recorded) -> None:
            ahead.release()
            self._tell(recorded)

        def stands(reason: str | None) -> None:
            loop.call_soon_threadsafe(self._tell_standing, reason)

        try:
            for recorded in self._log.follow(after, self._stop, stands):
                while not ahead.acquire(timeout=0.1):
                    if self._stop.is_set():
                        return
                loop.call_soon_threadsafe(tell, recorded)
        except LogosphereError as error:
            loop.call_soon_threadsafe(self._fail_all, error.sentence)
        except Exception:
            LOGGER.exception("the log could not be followed")
            loop.call_soon_threadsafe(self._fail_all, _BROKE)

    def _tell(self, recorded: Recorded) -> None:
        self._live_at = recorded.position
        live = [one for one in self._all.values() if one.live]
        if live:
            told = _told(recorded)
            for subscription in live:
                if subscription.has_room:
                    subscription.send(recorded, told)
                else:
                    self._fall_behind(subscription)

    def _tell_standing(self, reason: str | None) -> None:
        """Tell everybody who listens why the store is away, or that it is back."""
        standing = {"away": reason is not None, "reason": reason}
        for peer in {id(one.peer): one.peer for one in self._all.values()}.values():
            peer.notify("store_status", standing)

    def _fail_all(self, reason: str) -> None:
        for subscription in list(self._all.values()):
            if subscription.task is not None:
                subscription.task.cancel()
            self._fail(subscription, reason)

    def _fail(self, subscription: Subscription, reason: str) -> None:
        """The log can't be read on: better to say so than to be silent for ever."""
        self._all.pop(subscription.number, None)
        subscription.peer.notify(
            "cut_off",
            {
                "subscription": subscription.number,
                "reason": reason,
                "position": subscription.position,
            },
        )


def _told(recorded: Recorded) -> dict[str, Any]:
    """An event with its envelope as clients are told of it; vectors are left out."""
    told = as_data(recorded)
    data = {key: value for key, value in told["data"].items() if key != "embedding"}
    return {**told, "data": data, "summary": line(recorded)}


def methods(service: "Service") -> list[Method]:
    """The methods of this file."""
    subscriptions = service.subscriptions

    async def subscribe(peer: Peer, params: Subscribe) -> Subscribed:
        begun = await subscriptions.begin(peer, params.from_position, params.session)
        return Subscribed(subscription=begun.number, position=begun.position)

    async def unsubscribe(peer: Peer, params: Unsubscribe) -> Unsubscribed:
        ended = subscriptions.end(peer, params.subscription)
        return Unsubscribed(subscription=ended.number, position=ended.position)

    return [
        Method(
            "subscribe",
            "Be told of every event, from a position on, each once and in order.",
            Subscribe,
            Subscribed,
            subscribe,
        ),
        Method(
            "unsubscribe",
            "Be told no more.",
            Unsubscribe,
            Unsubscribed,
            unsubscribe,
        ),
    ]
