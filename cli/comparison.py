"""Two moments side by side: diff."""

from typing import Annotated, Any

import typer

from cli import output as out
from cli.compared import name_of, show
from cli.options import JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk
from domain.ancestry import Point
from domain.errors import AmbiguousRef, BadName, BadRef, NoSuchSession
from domain.ids import SessionId, session_id
from domain.nearest import similar
from domain.refs import Moment, parse_moment
from projections.comparison import Comparison, Pair, compare
from projections.since import Since


def diff(
    one: Annotated[
        str, typer.Argument(help="A moment: REF, SESSION (its head) or SESSION@REF.", metavar="A")
    ],
    other: Annotated[
        str | None, typer.Argument(help="Another moment; now by default.", metavar="B")
    ] = None,
    text: Annotated[
        bool, typer.Option("--text", help="Show answers and drafts word by word: [-A-] {+B+}.")
    ] = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Compare two moments: where they part, and what each side did since.

    Example: mind diff main what-if --text
    """
    with desk(store, session) as at:
        found = compare(at.log, _point(at, one), _now(at) if other is None else _point(at, other))
        ancestor = found.ancestor
        parted = at.log.pick(ancestor.session, [ancestor.version]) if ancestor else []
    if json:
        out.as_json(_as_data(found, text=text))
        return
    if not found.one.events and not found.other.events:
        out.talk(f"Both are the same moment: {name_of(found.one)}.")
        return
    show(found, parted, text=text)


# which moments


def _now(at: Desk) -> Point:
    return Point(at.session, at.version or at.log.head(at.session).version)


def _point(at: Desk, text: str) -> Point:
    """The moment that a text names: a session stands for its head.

    Raises:
        AmbiguousRef: it could be a session as well as a moment of this one.
        NoSuchSession, NoSuchMoment, BadRef: it is neither.
    """
    moment = _moment(text)
    if _is_session(at, text):
        if moment is not None:
            raise AmbiguousRef(text, [f"{text}@head", f"{at.session}@{text}"])
        return Point(SessionId(text), at.log.head(SessionId(text)).version)
    named = text if moment is None else moment.session
    if named is not None and not at.log.exists(SessionId(named)):
        sessions = at.log.sessions()
        if moment is not None or similar(text, sessions):
            raise NoSuchSession(named, sessions)
    return Point(*at.moment(text))


def _moment(text: str) -> Moment | None:
    try:
        return parse_moment(text)
    except BadRef:
        return None


def _is_session(at: Desk, text: str) -> bool:
    try:
        return at.log.exists(session_id(text))
    except BadName:
        return False


# for programs


def _as_data(found: Comparison, *, text: bool) -> dict[str, Any]:
    return {
        "ancestor": _plain(found.ancestor),
        "one": _side(found.one),
        "other": _side(found.other),
        "settings": _plain(found.settings),
        "exchanges": [_pair_data(pair, text=text) for pair in found.pairs],
        "only_one": _plain(found.only_one),
        "only_other": _plain(found.only_other),
    }


def _side(side: Since) -> dict[str, Any]:
    listed = {
        family: [
            {
                "version": h.version,
                "at": out.iso(h.at),
                "kind": h.event.kind,
                "redacted": h.redacted,
                "data": h.event.model_dump(exclude={"kind"}),
            }
            for h in happened
        ]
        for family, happened in side.listed.items()
    }
    work = {"iterations": side.work.iterations, **side.work._asdict()}
    data = {**_plain(side), "work": work, "listed": listed}
    return {key: value for key, value in data.items() if key not in {"courses", "settings"}}


def _pair_data(pair: Pair, *, text: bool) -> dict[str, Any]:
    from projections.worddiff import words_changed  # noqa: PLC0415 — difflib, only here

    answers = pair.answers() if pair.verdict == "different" else []
    data = {
        "by": pair.by,
        "one": _plain(pair.one),
        "other": _plain(pair.other),
        "verdict": pair.verdict,
        "words": words_changed(answers)._asdict() if answers else None,
    }
    if text:
        data |= {"question": _plain(pair.questions()), "answer": _plain(answers)}
    return data


def _plain(value: Any) -> Any:
    """Named tuples as objects, all the way down."""
    if hasattr(value, "_asdict"):
        return {key: _plain(inner) for key, inner in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(diff)
