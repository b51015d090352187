"""How artifacts look, in lists and one by one; what all verbs about them share."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cli import output as out
from commands.artifacts.about import About
from commands.artifacts.known import known
from domain.errors import BadSetting
from domain.ids import ExchangeId
from domain.refs import AtExchange, parse_moment
from domain.session import Session

if TYPE_CHECKING:
    from cli.wiring import Desk
    from domain.events import Event
    from projections.artifacts import Catalogue, Item

_TYPES = ("effort", "fact", "event", "summary", "artifact")


def artifact_id(text: str) -> int:
    """Read ``412`` or ``effort:412``.

    Raises:
        BadSetting: it is neither.
    """
    what, colon, digits = text.rpartition(":")
    if (not colon or what in _TYPES) and digits.isascii() and digits.isdigit() and len(digits) < 16:
        return int(digits)
    raise BadSetting(f"{text!r} is no artifact: give its number (mind artifact list).")


def optional_id(text: str | None) -> int | None:
    """As :func:`artifact_id`, where one is given."""
    return artifact_id(text) if text is not None else None


def spoken(text: str | None) -> str | None:
    """A time as people say it, as ISO 8601; whatever is none is left for the wish to refuse."""
    if text is None or text[:4].isdigit():
        return text
    from domain.detection.dates import find  # noqa: PLC0415 — for those who speak of times so

    found = find(text, datetime.now().astimezone().isoformat(timespec="minutes")[:16])
    return found.when if found is not None else text


def catalogue_of(at: "Desk") -> "Catalogue":
    """All artifacts of the session, as of the moment that is looked at."""
    from projections.artifacts import catalogue  # noqa: PLC0415 — for those who look
    from projections.past import as_of  # noqa: PLC0415

    log = at.log if at.version is None else as_of(at.log, at.session, at.version)
    return catalogue(log, at.session)


def wished(
    at: "Desk", wish: type[About], ids: Iterable[int | None], **fields: Any
) -> "tuple[Session, tuple[Event, ...]]":
    """Fulfil a wish about artifacts, knowing those that left the shelf."""
    at.only_now()
    return at.do(wish(**fields, known=known(at.log, at.session, ids)))


def sources(at: "Desk", refs: Sequence[str]) -> tuple[int, ...]:
    """The messages that something came from: of an exchange its message and its answer.

    Raises:
        BadSetting: a moment of another session, or one that holds no message.
    """
    found: list[int] = []
    for ref in refs:
        session, version = at.moment(ref)
        if session != at.session:
            raise BadSetting(f"{ref!r} is of another session: artifacts come from their own.")
        exchange = parse_moment(ref).ref
        if isinstance(exchange, AtExchange) and exchange.draft is None:
            from commands.moments import find_exchange  # noqa: PLC0415 — for this option

            asked = find_exchange(at.log, session, exchange.exchange)
            found.append(asked.version)
        (recorded,) = at.log.pick(session, [version])
        if recorded.event.kind == "draft.accepted" and recorded.cause is not None:
            found.append(recorded.cause)
        elif recorded.event.kind in {"message.sent", "draft.emitted"}:
            found.append(version)
        elif not isinstance(exchange, AtExchange):
            raise BadSetting(f"{ref!r} is a {recorded.event.kind}: name a message or a draft.")
    return tuple(dict.fromkeys(found))


def exchange_id(at: "Desk", text: str) -> ExchangeId:
    """The exchange that is meant by ``exc_4_000`` or ``exc_4``.

    Raises:
        NoSuchMoment, AmbiguousRef: there is none, or several.
        BadSetting: it is no name of an exchange.
    """
    from commands.moments import find_exchange  # noqa: PLC0415 — for those who name one
    from domain.events import MessageSent  # noqa: PLC0415

    if not text.startswith("exc_"):
        raise BadSetting(f"{text!r} is no exchange: give its id, such as exc_4_000 (mind history).")
    ref = parse_moment(text).ref
    if not isinstance(ref, AtExchange) or ref.draft is not None:
        raise BadSetting(f"{text!r} is no exchange: give its id, such as exc_4_000 (mind history).")
    event = find_exchange(at.log, at.session, ref.exchange).event
    return event.exchange if isinstance(event, MessageSent) else ref.exchange


def as_data(item: "Item", *, history: bool = False) -> dict[str, Any]:
    """An artifact for programs."""
    data = item._asdict()
    told = data.pop("history")
    origin = item.origin._asdict() if item.origin else None
    data |= {
        "at": out.iso(item.at),
        "standing": item.standing,
        "origin": origin,
        "links": [link._asdict() for link in item.links],
    }
    if history:
        data["history"] = [{**one._asdict(), "at": out.iso(one.at)} for one in told]
    return data


def listed(
    items: Sequence["Item"], *, everything: bool, json: bool, none: str, typed: bool = False
) -> None:
    """Print artifacts, one a line; of efforts the parts below the whole.

    Args:
        items: those that are asked for, whatever became of them.
        everything: whether those that left are shown, too.
        json: for programs.
        none: what is said where there are none.
        typed: whether the list says of what type each is.
    """
    shown = [item for item in items if everything or item.left is None]
    if json:
        out.as_json([as_data(item) for item in shown])
        return
    rows = []
    for depth, item in _nested(shown):
        text = "  " * min(depth, 8) + out.one_line(_words(item), 400)
        rows.append((str(item.id), *([item.type] if typed else []), item.standing, text))
    out.table(rows, ("id", *(["type"] if typed else []), "standing", "what it says"))
    hidden = len(items) - len(shown)
    if hidden:
        out.talk(f"{out.count(hidden, 'artifact')} that left the context not shown: add --all.")
    elif not rows:
        out.talk(none)


def _nested(items: Sequence["Item"]) -> list[tuple[int, "Item"]]:
    """Wholes with their parts behind them, and how deep each is."""
    by_id = {item.id: item for item in items}
    below: dict[int | None, list[Item]] = {}
    for item in items:
        parent = item.parent if item.parent in by_id and item.parent != item.id else None
        below.setdefault(parent, []).append(item)
    found: list[tuple[int, Item]] = []
    waiting = [(0, item) for item in reversed(below.get(None, []))]
    while waiting:
        depth, item = waiting.pop()
        found.append((depth, item))
        waiting += [(depth + 1, part) for part in reversed(below.get(item.id, []))]
    return found


def _words(item: "Item") -> str:
    ended = f" => {item.resolution}" if item.resolution is not None else ""
    notes = [
        *([item.outcome] if item.outcome not in {None, "done"} else []),
        *([f"since {item.when}"] if item.when and item.type == "fact" else []),
        *([item.when] if item.when and item.type != "fact" else []),
        *([f"until {item.expires}"] if item.expires else []),
        *([f"by {item.instead}"] if item.instead is not None else []),
        *([f"in {item.branch}"] if item.branch else []),
        *_origin(item),
        *(["expanded"] if item.expanded else []),
    ]
    return f"{item.text}{ended}" + (f" ({', '.join(map(str, notes))})" if notes else "")


def _origin(item: "Item") -> list[str]:
    origin = item.origin
    if origin is None:
        return []
    moved = ", origin has moved on" if origin.moved_on else ""
    follows = ", followed" if origin.follow else ""
    away = ", which is not here" if not origin.here else ""
    return [f"from {origin.session}@{origin.version}{follows}{moved}{away}"]


def tell(at: "Desk", item: "Item", found: "Catalogue") -> None:
    """Print all that is known of an artifact."""
    from projections.timeline import summary  # noqa: PLC0415 — for those who look

    head = out.shade(f"{item.type} {item.id}", "strong")
    came = f"  {item.standing}, {out.when(item.at)}, found by {item.found_by}"
    out.answer(head + out.shade(came, "faint"))
    out.answer(out.block(item.text))
    if item.resolution is not None:
        how = f" ({item.outcome})" if item.outcome not in {None, "done"} else ""
        out.answer(out.block(f"=> {item.resolution}{how}"))
    facts = {
        "when": item.when,
        "expires": item.expires,
        "part of": _told(found, [item.parent]),
        "parts": _told(found, item.parts),
        "superseded by": _told(found, [item.instead]) if item.left == "superseded" else None,
        "merged into": _told(found, [item.instead]) if item.left == "merged" else None,
        "supersedes": _told(found, item.supersedes),
        "merged here": _told(found, item.merged),
        "links": "; ".join(f"{one.artifact} {one.relation} {one.to}" for one in item.links),
        "origin": "; ".join(_origin(item)),
        "says there": item.origin.now if item.origin and item.origin.moved_on else None,
        "branch": item.branch,
        "exchanges": ", ".join(item.exchanges),
        "orphan": item.orphan,
    }
    for name, value in facts.items():
        if value:
            out.answer(out.shade(f"{name}:", "faint") + f" {out.one_line(value, 400)}")
    _heard(at, "came from", item.messages, summary)
    out.answer(out.shade("history:", "faint"))
    for one in item.history:
        line = f"  {one.version:>6}  {out.when(one.at)}  {one.actor}  {one.kind}  "
        out.answer(line + out.one_line(one.summary, max(out.width() - len(line), 20)))


def _told(found: "Catalogue", ids: Iterable[int | None]) -> str:
    items = [item for id_ in ids if (item := found.find(id_)) is not None]
    return "; ".join(f"{item.id} ({item.standing}) {item.text}" for item in items)


def _heard(at: "Desk", name: str, versions: Sequence[int], told: "Callable[[Event], str]") -> None:
    """The messages that something came from."""
    if not versions:
        return
    out.answer(out.shade(f"{name}:", "faint"))
    for recorded in at.log.pick(at.session, versions):
        line = f"  {recorded.version:>6}  {recorded.event.kind}  "
        out.answer(line + out.one_line(told(recorded.event), max(out.width() - len(line), 20)))
