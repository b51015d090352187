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
    """So many events before now: ``~2``, or ``head~2``."""

    events: int


class AtIteration(NamedTuple):
    """Right after all that an iteration brought: ``iter:24``."""

    iteration: int


class AtExchange(NamedTuple):
    """The acceptance of an exchange: ``exc_24_000``; or one of its drafts: ``exc_24_000:2``."""

    exchange: ExchangeId
    """Without its last part (``exc_24``) where only one exchange began at that iteration."""
    draft: int | None = None


class AtDraft(NamedTuple):
    """Right after a draft of the newest exchange: ``draft:3``."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs


class AtArtifact(NamedTuple):
    """Right after an artifact came: ``effort:412``, ``fact:412``, ``artifact:412``."""

    what: str
    """Its type, or ``artifact`` for any."""
    version: int


class AtLabel(NamedTuple):
    """A moment that was given a name: ``@before-lunch``."""

    label: str


class AtTime(NamedTuple):
    """The last event up to a time: ``2026-05-01T08:30``; without an offset, local time."""

    time: datetime


Ref = AtHead | AtVersion | Back | AtIteration | AtExchange | AtDraft | AtArtifact | AtLabel | AtTime


class Moment(NamedTuple):
    """A ref, and the session it is about; None for the current one."""

    session: SessionId | None
    ref: Ref


_FORMS = (
    (re.compile(r"head", re.IGNORECASE), lambda _: AtHead()),
    (re.compile(r"(\d{1,15})"), lambda m: AtVersion(int(m[1]))),
    (
        re.compile(r"(?:head)?~(\d{1,15})?", re.IGNORECASE),
        lambda m: Back(int(m[1]) if m[1] else 1),
    ),
    (re.compile(r"iter:(\d{1,15})"), lambda m: AtIteration(int(m[1]))),
    (re.compile(r"draft:(\d{1,15})"), lambda m: AtDraft(int(m[1]))),
    (
        re.compile(r"(artifact|effort|fact|summary):(\d{1,15})"),
        lambda m: AtArtifact(m[1], int(m[2])),
    ),
    (
        re.compile(r"(exc_\d{1,15}(?:_\d{3,15})?)(?::(\d{1,15}))?"),
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
        raise BadRef(text, _meant(text)) from None


# what is nearly a ref

_NUMBER = re.compile(r"\s?[:=#_.-]?\s?#?(\d{1,15})\W*")
_NUMBERS = re.compile(r"[\W_]?(\d{1,15})(?:[\W_]+(\d{1,15}))?(?:\s?:\s?(?:(\d{1,15})|.*))?\W*")
_BACK = re.compile(r"\W*[-~^]\s?(\d{1,15})\W*")
_TIME = re.compile(r"\d{4}-\d.*|\d{1,2}:\d\d.*|\d{1,4}[./]\d{1,2}[./]\d.*|today|yesterday")
_WORDS = {
    **dict.fromkeys(("iter", "iteration", "iterations", "i"), "iter"),
    **dict.fromkeys(("draft", "drafts", "d"), "draft"),
    **dict.fromkeys(("exc", "exch", "exchange", "e"), "exc"),
    **dict.fromkeys(("version", "event", "v"), "version"),
    **dict.fromkeys(("head", "now", "newest", "latest", "last", "tip", "current"), "head"),
}


def _meant(text: str) -> str | None:
    """What was nearly written, where that can be guessed; never what can't be read either."""
    plain = " ".join(text.split())
    if plain.startswith("@"):
        return "-".join(plain.split()) if plain.strip("@ ") else None
    plain = plain.casefold()
    if re.fullmatch(r"\d{1,15}", plain):
        return plain
    if found := re.fullmatch(r"#(\d{1,15})", plain):
        return f"draft:{found[1]}"
    if found := _BACK.fullmatch(plain):
        return f"~{found[1]}"
    if _TIME.fullmatch(plain):
        return "an ISO time (2026-05-01T08:30)"
    found = re.fullmatch(r"([a-z]{1,20})(.*)", plain)
    return _meant_by(found[1], found[2]) if found else None


def _meant_by(word: str, rest: str) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 — only a refusal needs it

    like = get_close_matches(word, _WORDS, 1, 0.75)
    kind, number = _WORDS[like[0]] if like else None, _NUMBER.fullmatch(rest)
    if kind in {"iter", "draft"}:
        return f"{kind}:{number[1]}" if number else f"{kind}: with a number ({kind}:3)"
    if kind == "version" and number:
        return number[1]
    if kind == "exc":
        parts = _NUMBERS.fullmatch(rest)
        if parts is None:
            return "exc_ with the numbers of an exchange (exc_24_000)"
        seq, draft = parts[2], parts[3]
        return f"exc_{parts[1]}" + (f"_{seq:0>3}" if seq else "") + (f":{draft}" if draft else "")
    if kind == "head":
        back = _BACK.fullmatch(rest)
        return f"~{back[1]}" if back else f"~{len(rest)}" if rest.strip("^") == "" != rest else kind
    return None
