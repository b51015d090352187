"""Names of moments, as people write them: read here, looked up by ``commands.moments``."""

import re
from datetime import datetime
from typing import NamedTuple

from domain.errors import BadRef
from domain.ids import ExchangeId, SessionId, session_id


class AtHead(NamedTuple):
    """Now."""


class AtVersion(NamedTuple):
    """Right after the event of that version: ``412``."""

    version: int


class Back(NamedTuple):
    """So many events before now: ``~2``."""

    events: int


class AtIteration(NamedTuple):
    """Right after all that an iteration brought: ``iter:24``."""

    iteration: int


class AtExchange(NamedTuple):
    """The acceptance of an exchange: ``exc_24_000``; or one of its drafts: ``exc_24_000:2``."""

    exchange: ExchangeId
    draft: int | None = None


class AtDraft(NamedTuple):
    """Right after a draft of the newest exchange: ``draft:3``."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs


class AtLabel(NamedTuple):
    """A moment that was given a name: ``@before-lunch``."""

    label: str


class AtTime(NamedTuple):
    """The last event up to a time: ``2026-05-01T08:30``; without an offset, local time."""

    time: datetime


Ref = AtHead | AtVersion | Back | AtIteration | AtExchange | AtDraft | AtLabel | AtTime


class Moment(NamedTuple):
    """A ref, and the session it is about; None for the current one."""

    session: SessionId | None
    ref: Ref


_FORMS = (
    (re.compile(r"head", re.IGNORECASE), lambda _: AtHead()),
    (re.compile(r"(\d{1,15})"), lambda m: AtVersion(int(m[1]))),
    (re.compile(r"~(\d{1,15})"), lambda m: Back(int(m[1]))),
    (re.compile(r"~"), lambda _: Back(1)),
    (re.compile(r"iter:(\d{1,15})"), lambda m: AtIteration(int(m[1]))),
    (re.compile(r"draft:(\d{1,15})"), lambda m: AtDraft(int(m[1]))),
    (
        re.compile(r"(exc_\d{1,15}_\d{3,})(?::(\d{1,15}))?"),
        lambda m: AtExchange(ExchangeId(m[1]), int(m[2]) if m[2] else None),
    ),
    (re.compile(r"@(\S+)"), lambda m: AtLabel(m[1])),
)


def parse_moment(text: str) -> Moment:
    """Read ``REF`` or ``session@REF``.

    Raises:
        BadRef: it has none of the forms.
        BadName: the part before the ``@`` can't be a session.
    """
    session, at, rest = text.partition("@")
    if at and session and rest:
        return Moment(session_id(session), parse_ref(rest))
    return Moment(None, parse_ref(text))


def parse_ref(text: str) -> Ref:
    """Read a ref.

    Raises:
        BadRef: it has none of the forms.
    """
    for pattern, make in _FORMS:
        match = pattern.fullmatch(text)
        if match:
            return make(match)
    try:
        return AtTime(datetime.fromisoformat(text))
    except ValueError:
        raise BadRef(text) from None
