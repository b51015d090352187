"""A session as pages of Markdown, for programs that read resources."""

from collections.abc import Iterable

from cli.output import iso
from domain.errors import NothingAwaits
from domain.ids import SessionId
from domain.log import Log
from projections.board import Board, Pinned, board
from projections.history import History, Turn

EXCHANGES = 200
"""Exchanges of one page, the newest; older ones are read with ``read_history``."""

ROOM = 200_000
"""Characters of one page."""


def transcript(log: Log, session: SessionId) -> str:
    """The newest accepted exchanges, oldest first, and what awaits an answer.

    Raises:
        NoSuchSession: there is no such session.
    """
    state = log.state(session)
    turns = History(log, session, state.version).newest(EXCHANGES)
    shown = _fitting([_exchange(turn) for turn in turns])
    parts = [f"# {_line(state.title)}", f"Session `{session}` as of version {state.version}."]
    left = state.dialogue.accepted - len(shown)
    if left > 0:
        parts.append(f"{left} older exchanges are not on this page.")
    parts += shown
    awaiting = state.dialogue.awaiting
    if awaiting is not None:
        many = len(state.dialogue.drafts)
        parts += [
            f"## {awaiting.exchange}",
            _quoted(awaiting.text),
            f"This message awaits its answer; there are {many} drafts."
            if many != 1
            else "This message awaits its answer; there is 1 draft.",
        ]
    return "\n\n".join(parts) + "\n"


def drafts(log: Log, session: SessionId) -> str:
    """The drafts of the newest exchange, newest first.

    Raises:
        NoSuchSession: there is no such session.
        NothingAwaits: it has no exchange.
    """
    state = log.state(session)
    shown = board(log, session, upto=state.version)
    if shown is None:
        raise NothingAwaits(session)
    return "\n\n".join([*_head(shown, session), *_fitting(map(_draft, shown.drafts))[::-1]]) + "\n"


def _head(shown: Board, session: SessionId) -> list[str]:
    standing = "is open" if shown.is_open else "has its answer"
    return [
        f"# Drafts of {shown.exchange}",
        f"Session `{session}`; the exchange {standing}.",
        _quoted(shown.question),
    ]


def _exchange(turn: Turn) -> str:
    when = iso(turn.accepted_at)[: len("2026-05-02T10:30")]
    head = f"## {turn.exchange} ({when} UTC, version {turn.version})"
    return f"{head}\n\n{_quoted(turn.question)}\n\n{turn.answer}"


def _draft(draft: Pinned) -> str:
    marks = [f"iteration {draft.iteration}"]
    marks += [name for name in ("accepted", "signal", "late") if getattr(draft, name)]
    marks += [] if draft.seen else ["unseen"]
    return f"## Draft {draft.index} ({', '.join(marks)})\n\n{draft.text}"


def _fitting(parts: Iterable[str]) -> list[str]:
    """The last parts that fit on a page, in their order."""
    kept: list[str] = []
    room = ROOM
    for part in reversed([*parts]):
        room -= len(part)
        if room < 0 and kept:
            break
        kept.append(part)
    return kept[::-1]


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines() or [""])


def _line(text: str) -> str:
    return " ".join(text.split())
