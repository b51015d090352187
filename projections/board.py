"""The drafts of one exchange: open or closed, all of them, for ever."""

from typing import NamedTuple

from domain.errors import NoSuchExchange
from domain.events import DraftAccepted, DraftEmitted, DraftSeen, MessageSent
from domain.ids import ExchangeId, SessionId
from domain.log import Log
from domain.recorded import Recorded

_KINDS = ("message.sent", "draft.emitted", "draft.seen", "draft.accepted")


class Pinned(NamedTuple):
    """A draft as it stands on the board."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    version: int
    iteration: int
    at: int
    """Microseconds since 1970, UTC."""
    text: str
    signal: bool
    repeats: int | None
    late: bool
    confidence: float | None
    working: bool
    seen: bool = False
    accepted: bool = False


class Board(NamedTuple):
    """An exchange and its drafts, oldest first."""

    exchange: ExchangeId
    question: str
    asked_at: int
    drafts: tuple[Pinned, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether no draft has been accepted."""
        return not any(d.accepted for d in self.drafts)


def board(
    log: Log, session: SessionId, exchange: str | None = None, upto: int | None = None
) -> Board | None:
    """The board of an exchange, or of the newest one; None before the first message.

    Raises:
        NoSuchExchange: no exchange has that id.
    """
    asked = _asked(log, session, exchange, upto)
    if asked is None:
        if exchange is not None:
            raise NoSuchExchange(exchange)
        return None
    message = asked.event
    if not isinstance(message, MessageSent):
        raise TypeError(asked.event.kind)
    state = Board(message.exchange, message.text, asked.at)
    for recorded in log.read(session, after=asked.version, upto=upto, kinds=_KINDS):
        state = _after(state, recorded)
    return state


def _asked(log: Log, session: SessionId, exchange: str | None, upto: int | None) -> Recorded | None:
    messages = log.read(session, upto=upto, kinds=["message.sent"], newest_first=True, page=16)
    for recorded in messages:
        event = recorded.event
        if isinstance(event, MessageSent) and exchange in {None, event.exchange}:
            return recorded
    return None


def _after(state: Board, recorded: Recorded) -> Board:
    """The board after one more event; those of other exchanges leave it as it is."""
    event = recorded.event
    if getattr(event, "exchange", None) != state.exchange:
        return state
    drafts = state.drafts
    if isinstance(event, DraftEmitted):
        pinned = Pinned(
            event.index,
            recorded.version,
            event.iteration,
            recorded.at,
            event.text,
            event.signal,
            event.repeats,
            event.late,
            event.confidence,
            event.working,
        )
        drafts = (*drafts, pinned)
    elif isinstance(event, DraftSeen):
        drafts = tuple(d._replace(seen=True) if d.index in event.indexes else d for d in drafts)
    elif isinstance(event, DraftAccepted):
        drafts = tuple(d._replace(accepted=True) if d.index == event.index else d for d in drafts)
    return state._replace(drafts=drafts)
