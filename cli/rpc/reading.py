"""What was said, now or as of a moment: history, drafts, draft_diff."""

from typing import Literal

from pydantic import Field

from cli.output import iso
from cli.rpc.functions import Look, in_store
from cli.rpc.method import Method, Result
from cli.rpc.service import Service
from domain.errors import NoSuchDraft, NothingAwaits
from domain.events import DraftEmitted, MessageSent
from domain.log import Log
from domain.session import Session
from projections.board import Board, Pinned, board
from projections.history import History, Turn

# history


class HistoryOf(Look):
    """The newest accepted exchanges of a session."""

    count: int = Field(10, ge=1, le=1000)


class Entry(Result):
    """An accepted exchange."""

    exchange: str
    message: str
    answer: str
    index: int
    """Which draft was accepted."""
    version: int
    """Of the acceptance."""
    at: str
    """When it was accepted, ISO 8601 in UTC."""
    drafts: int
    """How many drafts it had."""
    by: Literal["user", "auto-accept"]


class Entries(Result):
    """Accepted exchanges, oldest first."""

    entries: tuple[Entry, ...]


def history(service: Service, asked: HistoryOf) -> Entries:
    """Tell the newest accepted exchanges, oldest first."""
    at = service.desk(asked.session, asked.at)
    state = at.state
    turns = History(at.log, at.session, at.version).newest(asked.count)
    return Entries(entries=tuple(_entry(at.log, state, turn) for turn in turns))


def _entry(log: Log, state: Session, turn: Turn) -> Entry:
    return Entry(
        exchange=turn.exchange,
        message=turn.question,
        answer=turn.answer,
        index=turn.index,
        version=turn.version,
        at=iso(turn.accepted_at),
        drafts=_drafts_of(log, state, turn),
        by=turn.by,
    )


def _drafts_of(log: Log, state: Session, turn: Turn) -> int:
    """How many drafts an exchange had; those of long ago are counted up to its acceptance."""
    known = state.dialogue.past(turn.exchange)
    if known is not None:
        return known.drafts
    kinds, found = ("message.sent", "draft.emitted"), 0
    for recorded in log.read(state.id, upto=turn.version, kinds=kinds, newest_first=True, page=32):
        if isinstance(recorded.event, MessageSent):
            break
        if isinstance(recorded.event, DraftEmitted):
            found += recorded.event.exchange == turn.exchange
    return found


# drafts


class DraftsOf(Look):
    """The drafts of an exchange."""

    exchange: str | None = None
    """Its id; the newest by default."""


class Draft(Result):
    """A draft."""

    index: int
    text: str
    signal: bool
    """Whether it is a word about the drafts, as `+1`, which is never the answer."""
    seen: bool
    iteration: int
    age: int
    """Iterations since."""
    repeats: int | None
    """The earlier draft that says the same."""
    confidence: float | None
    working: bool
    """Whether the mind says that it is not done with it."""
    late: bool
    """Whether it came when the exchange was closed."""
    accepted: bool
    version: int
    at: str
    """ISO 8601 in UTC."""


class Drafts(Result):
    """An exchange's drafts, newest first."""

    exchange: str | None
    """None before the first message."""
    message: str | None
    open: bool
    """Whether it awaits its answer."""
    drafts: tuple[Draft, ...]


def drafts(service: Service, asked: DraftsOf) -> Drafts:
    """Tell the drafts of an exchange, open or closed, newest first."""
    at = service.desk(asked.session, asked.at)
    shown = board(at.log, at.session, asked.exchange, at.version)
    if shown is None:
        return Drafts(exchange=None, message=None, open=False, drafts=())
    upcoming = at.state.upcoming
    return Drafts(
        exchange=shown.exchange,
        message=shown.question,
        open=shown.is_open,
        drafts=tuple(_draft(pinned, upcoming) for pinned in reversed(shown.drafts)),
    )


def _draft(pinned: Pinned, upcoming: int) -> Draft:
    fields = pinned._asdict() | {"at": iso(pinned.at)}
    return Draft(**fields, age=max(upcoming - pinned.iteration, 0))


class DiffOf(DraftsOf):
    """Two drafts of an exchange."""

    a: int
    b: int


Op = Literal[" ", "-", "+"]


class Piece(Result):
    """A stretch that stayed, went or came."""

    op: Op
    text: str


class Diff(Result):
    """What changed from one draft to another."""

    exchange: str
    lines: tuple[Piece, ...]
    """Line by line."""
    pieces: tuple[Piece, ...]
    """Word by word: put together, those that did not come are the first draft, those that did
    not go are the second."""


def draft_diff(service: Service, asked: DiffOf) -> Diff:
    """Compare two drafts of an exchange, line by line and word by word."""
    at = service.desk(asked.session, asked.at)
    shown = board(at.log, at.session, asked.exchange, at.version)
    if shown is None:
        raise NothingAwaits(at.session)
    old, new = _text(shown, asked.a), _text(shown, asked.b)
    from projections.worddiff import word_diff  # noqa: PLC0415 — difflib, for this method alone

    ops: dict[str, Op] = {"same": " ", "removed": "-", "added": "+"}
    words = tuple(Piece(op=ops[piece.change], text=piece.text) for piece in word_diff(old, new))
    return Diff(exchange=shown.exchange, lines=_lines(old, new), pieces=words)


def _text(shown: Board, index: int) -> str:
    for draft in shown.drafts:
        if draft.index == index:
            return draft.text
    raise NoSuchDraft(index, len(shown.drafts))


def _lines(old: str, new: str) -> tuple[Piece, ...]:
    from difflib import SequenceMatcher  # noqa: PLC0415 — as above

    before, after = old.splitlines(), new.splitlines()
    found: list[Piece] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after).get_opcodes():
        if tag == "equal":
            found += (Piece(op=" ", text=text) for text in before[i1:i2])
            continue
        found += (Piece(op="-", text=text) for text in before[i1:i2])
        found += (Piece(op="+", text=text) for text in after[j1:j2])
    return tuple(found)


def methods(service: Service) -> list[Method]:
    """The methods of this file."""
    return [in_store(service, history), in_store(service, drafts), in_store(service, draft_diff)]
