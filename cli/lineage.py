"""Where things came from: why."""

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from cli import output as out
from cli.options import FullFlag, JsonFlag, SessionOption, StoreOption
from cli.wiring import Desk, desk
from commands.moments import resolve
from domain.errors import BadRef, BadSetting, NoSuchSession, NotAThought, Refused
from domain.events import DraftAccepted, ThoughtAdded
from domain.ids import SessionId
from domain.log import Log
from domain.refs import AtExchange, AtIteration, Ref, parse_moment, parse_ref
from projections.past import as_of

if TYPE_CHECKING:
    from projections.receipts import Receipt


class _Numbered(NamedTuple):
    """``thought:42`` or ``cluster:7``."""

    what: str
    number: int


def why(
    what: Annotated[
        str,
        typer.Argument(
            help="draft:3, exc_4_000:2, exc_4_000, thought:42, cluster:7, effort:8, iter:12,"
            " a version, or any of them after session@.",
        ),
    ],
    depth: Annotated[
        int, typer.Option("--depth", "-d", min=0, help="So many steps back along what led to it.")
    ] = 3,
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, help="So many of each list; 0 for all.")
    ] = 5,
    full: FullFlag = False,
    store: StoreOption = None,
    session: SessionOption = None,
    json: JsonFlag = False,
) -> None:
    """Show the receipt of anything: who, when, what the mind was shown, what it cost and led to.

    Example: mind why draft:2   or   mind why thought:42 --depth 5
    """
    with desk(store, session) as at:
        receipt = _receipt(at, what, depth, count)
    if json:
        out.as_json(_as_data(receipt))
        return
    from cli.receipts import Look, tell  # noqa: PLC0415 — programs need no sentences

    tell(receipt, Look(count or None, full))


def _receipt(at: Desk, what: str, depth: int, count: int) -> "Receipt":
    from projections.receipts import cluster_receipt, receipt  # noqa: PLC0415 — for this verb

    # from here on, nothing behind the moment that is looked at can be told
    log = at.log if at.version is None else as_of(at.log, at.session, at.version)
    named, target = _target(what)
    session = named or at.session
    if not log.exists(session):
        raise NoSuchSession(session, [s for s in at.log.sessions() if log.exists(s)])
    if not isinstance(target, _Numbered):
        return receipt(log, session, _version(log, session, target, what), depth)
    if target.what == "cluster":
        return cluster_receipt(log, session, target.number, depth, count or None)
    for recorded in log.pick(session, [target.number]):
        if isinstance(recorded.event, ThoughtAdded):
            return receipt(log, session, target.number, depth)
        raise NotAThought(target.number, recorded.event.kind)
    raise NotAThought(target.number, None)


def _target(text: str) -> tuple[SessionId | None, Ref | _Numbered]:
    """What is to be explained, and the session it is of, where one is named.

    Raises:
        BadSetting: nothing can be meant by it.
        BadName: the part before the ``@`` can't be a session.
    """
    session, at, rest = text.partition("@")
    if not (at and session and rest):
        session, rest = "", text
    what, _, digits = rest.partition(":")
    try:
        if what in {"thought", "cluster"}:
            named = parse_moment(f"{session}@1").session if session else None
            return named, _Numbered(what, _number(digits, text))
        if session:
            return parse_moment(text)
        return None, parse_ref(text)
    except BadRef:
        raise _unknown(text) from None


def _number(digits: str, text: str) -> int:
    if digits.isascii() and digits.isdigit() and len(digits) < 16:
        return int(digits)
    raise _unknown(text)


def _unknown(text: str) -> BadSetting:
    return BadSetting(
        f"{text!r} names nothing that could be explained: use draft:3, exc_4_000:2, exc_4_000,"
        " thought:42, cluster:7, iter:12, a version (412), or any of them after session@."
    )


def _version(log: Log, session: SessionId, ref: Ref, text: str) -> int:
    """The event that is meant: of an exchange its accepted draft, of an iteration its beginning."""
    version = resolve(log, session, ref)
    if isinstance(ref, AtIteration):
        invoked = log.newest(session, ["mind.invoked"], upto=version)
        return invoked.version if invoked is not None else version
    if isinstance(ref, AtExchange) and ref.draft is None:
        (recorded,) = log.pick(session, [version])
        accepted = recorded.event
        # exc_4 stands for exc_4_000 where that is enough
        if isinstance(accepted, DraftAccepted) and accepted.exchange.startswith(ref.exchange):
            return resolve(log, session, AtExchange(accepted.exchange, accepted.index))
        raise _undecided(log, session, text)
    return version


def _undecided(log: Log, session: SessionId, text: str) -> Refused:
    """Only the newest exchange can be open."""
    from projections.board import board  # noqa: PLC0415 — for this refusal

    pinned = board(log, session)
    names = [f"{text}:{draft.index}" for draft in (pinned.drafts if pinned else ())]
    having = f"name one of its drafts ({', '.join(names[-3:])})" if names else "run the mind first"
    return Refused(f"No draft of {text!r} has been accepted yet: {having}.")


def _as_data(value: Any, name: str = "") -> Any:
    """A receipt for programs: fields by name, times as ISO 8601."""
    if hasattr(value, "_asdict"):
        return {key: _as_data(field, key) for key, field in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [_as_data(one) for one in value]
    return out.iso(value) if name == "at" else value


def register(app: typer.Typer) -> None:
    """Add the verbs of this file."""
    app.command()(why)
