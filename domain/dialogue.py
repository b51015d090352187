"""The state of the conversation: what awaits, the drafts, the newest accepted exchanges."""

from hashlib import sha256
from typing import NamedTuple

from domain.events import DraftAccepted, DraftEmitted, DraftSeen, ExchangesPruned, MessageSent
from domain.ids import ExchangeId, exchange_id

TEXTS_KEPT = 100
"""Of so many drafts and exchanges the state holds the texts; older ones are read from the log."""

SIGNAL_LENGTH = 16


def is_signal(text: str) -> bool:
    """Whether a draft is a word about the drafts (``+1``) rather than an answer."""
    text = text.strip()
    return len(text) <= SIGNAL_LENGTH and "\n" not in text


class Draft(NamedTuple):
    """A draft of the open exchange."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    version: int
    iteration: int
    text: str | None
    """None once it is no longer among the newest: read it from the log at ``version``."""
    digest: bytes
    """16 bytes of the text's sha256, to know a verbatim repetition."""
    seen: bool = False
    signal: bool = False
    repeats: int | None = None
    confidence: float | None = None
    working: bool = False


class Asked(NamedTuple):
    """The message that awaits its answer."""

    exchange: ExchangeId
    text: str
    iteration: int
    version: int


class Exchange(NamedTuple):
    """An accepted question and answer."""

    id: ExchangeId
    question: str
    answer: str | None
    """None when the accepted draft was older than the texts the state holds."""
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    """Which draft it was."""
    asked: int
    answered: int
    """The iterations of the message and of the draft."""
    version: int
    """Of the acceptance."""
    draft_version: int
    drafts: int
    """How many drafts the exchange has, late ones included."""
    pruned: bool = False


class Dialogue(NamedTuple):
    """IDLE while nothing awaits, DRAFTING otherwise."""

    awaiting: Asked | None = None
    drafts: tuple[Draft, ...] = ()
    history: tuple[Exchange, ...] = ()
    """The newest accepted exchanges, oldest first."""
    accepted: int = 0
    """How many there ever were."""
    newest: ExchangeId | None = None

    @property
    def latest_content(self) -> Draft | None:
        """The newest draft that could be an answer."""
        return next((d for d in reversed(self.drafts) if not d.signal), None)

    def draft(self, index: int) -> Draft | None:
        """The draft of that 1-based index."""
        return self.drafts[index - 1] if 1 <= index <= len(self.drafts) else None

    def past(self, id_: ExchangeId) -> Exchange | None:
        """The accepted exchange of that id, while it is among the newest."""
        return next((e for e in reversed(self.history) if e.id == id_), None)

    def repeated(self, text: str) -> int | None:
        """The index of the newest draft with this very text."""
        wanted = digest(text)
        return next((d.index for d in reversed(self.drafts) if d.digest == wanted), None)

    def next_exchange(self, iteration: int) -> ExchangeId:
        """The id for a message that ``iteration`` will see first."""
        if self.newest is None:
            return exchange_id(iteration, 0)
        _, last, seq = self.newest.split("_")
        return exchange_id(iteration, int(seq) + 1 if int(last) == iteration else 0)


def digest(text: str) -> bytes:
    """16 bytes that tell texts apart."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def sent(state: Dialogue, event: MessageSent, version: int) -> Dialogue:
    """The exchange opens."""
    asked = Asked(event.exchange, event.text, event.iteration, version)
    return state._replace(awaiting=asked, drafts=(), newest=event.exchange)


def emitted(state: Dialogue, event: DraftEmitted, version: int) -> Dialogue:
    """One more draft; a late one is only counted, on the exchange that had been closed."""
    if event.late:
        return state._replace(
            history=tuple(
                e._replace(drafts=event.index) if e.id == event.exchange else e
                for e in state.history
            )
        )
    draft = Draft(
        event.index,
        version,
        event.iteration,
        event.text,
        digest(event.text),
        False,
        event.signal,
        event.repeats,
        event.confidence,
        event.working,
    )
    drafts = state.drafts
    if len(drafts) >= TEXTS_KEPT:
        old = len(drafts) - TEXTS_KEPT
        drafts = (*drafts[:old], drafts[old]._replace(text=None), *drafts[old + 1 :])
    return state._replace(drafts=(*drafts, draft))


def seen(state: Dialogue, event: DraftSeen) -> Dialogue:
    """Drafts were read."""
    if state.awaiting is None or event.exchange != state.awaiting.exchange:
        return state
    read = frozenset(event.indexes)
    return state._replace(
        drafts=tuple(d._replace(seen=True) if d.index in read else d for d in state.drafts)
    )


def accepted(state: Dialogue, event: DraftAccepted, version: int) -> Dialogue:
    """The exchange closes."""
    asked, draft = state.awaiting, state.draft(event.index)
    if asked is None or draft is None:
        raise ValueError(f"the log accepts draft {event.index} of no open exchange")
    exchange = Exchange(
        asked.exchange,
        asked.text,
        draft.text,
        draft.index,
        asked.iteration,
        draft.iteration,
        version,
        draft.version,
        len(state.drafts),
    )
    return state._replace(
        awaiting=None,
        drafts=(),
        history=(*state.history, exchange)[-TEXTS_KEPT:],
        accepted=state.accepted + 1,
    )


def pruned(state: Dialogue, event: ExchangesPruned) -> Dialogue:
    """Exchanges leave the mind's context."""
    hidden = frozenset(event.exchanges)
    return state._replace(
        history=tuple(e._replace(pruned=True) if e.id in hidden else e for e in state.history)
    )
