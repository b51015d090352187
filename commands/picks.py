"""Bringing over what another branch has: merged by provenance, never by overwriting."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from commands.command import Decision
from commands.thinking import Thinking
from domain import dialogue
from domain.ancestry import Point, common_ancestor
from domain.dialogue import Dialogue
from domain.errors import AnswerFirst, NothingChanges, PickConflicts, Refused
from domain.events import (
    Caused,
    DraftAccepted,
    DraftEmitted,
    Event,
    MessageSent,
    Source,
    ThoughtAdded,
)
from domain.ids import SessionId
from domain.log import Log
from domain.recorded import Recorded
from domain.session import Session


class PickedExchange(NamedTuple):
    """An accepted exchange of another branch."""

    question: str
    asked: Source
    answer: str
    drafted: Source

    @property
    def text(self) -> str:
        """In a few words."""
        return self.question


class PickedThought(NamedTuple):
    """A thought of another branch."""

    text: str
    mind: str
    source: Source


Picked = PickedExchange | PickedThought


class Conflict(NamedTuple):
    """Something here that speaks against bringing one of them over."""

    picked: Picked
    version: int
    """The event here."""
    what: Literal["picked before", "answered otherwise", "thought already"]


def find_picked(log: Log, into: SessionId, wanted: Sequence[tuple[SessionId, int]]) -> list[Picked]:
    """What these moments of other branches hold: accepted exchanges and thoughts.

    Args:
        log: where they live.
        into: the session that they are for.
        wanted: events: an acceptance or any part of its exchange, or a thought.

    Raises:
        Refused: one of them is neither, is redacted, or is part of this session already.
    """
    found: list[Picked] = []
    for session, version in wanted:
        (recorded,) = log.pick(session, [version])
        for own in log.pick(into, [version]):
            if own.session == recorded.session:
                raise NothingChanges(
                    f"{session}@{version} is part of session {into!r} already, by descent."
                )
        picked = _thought(log, session, recorded) or _exchange(log, session, recorded)
        if picked not in found:
            found.append(picked)
    return found


def conflicts(log: Log, into: Session, picked: Sequence[Picked]) -> list[Conflict]:
    """What the session holds that speaks against them, since it parted from where they are."""
    found: list[Conflict] = []
    for one in picked:
        source = one.asked if isinstance(one, PickedExchange) else one.source
        here = Point(into.id, into.version)
        shared = common_ancestor(log, here, Point(SessionId(source.session), source.version))
        after = shared.version if shared else 0
        kind = "message.sent" if isinstance(one, PickedExchange) else "thought.added"
        for recorded in log.read(into.id, after=after, upto=into.version, kinds=[kind]):
            what = _conflict(recorded.event, one, source)
            if what is not None:
                found.append(Conflict(one, recorded.version, what))
                break
    return found


class Pick(Thinking):
    """Bring accepted exchanges and thoughts of another branch into this session."""

    picked: tuple[PickedExchange | PickedThought, ...]

    @property
    def texts(self) -> list[str]:
        """The thoughts that come, as they need vectors."""
        return [one.text for one in self.picked if isinstance(one, PickedThought)]

    def decide(self, session: Session) -> Decision:
        """Exchanges that open and close at once, and thoughts; each says where it came from."""
        exchanges = [one for one in self.picked if isinstance(one, PickedExchange)]
        talk, version = session.dialogue, session.version
        if exchanges and talk.awaiting is not None:
            raise AnswerFirst(session.id, len(talk.drafts))
        for exchange in exchanges:
            for caused in _relived(exchange, talk, session, version):
                yield caused
                version += 1
                talk = _after(talk, caused.event, version)
        added = [
            ThoughtAdded(
                text=one.text,
                iteration=session.upcoming,
                mind=one.mind,
                origin="imported",
                source=one.source,
            )
            for one in self.picked
            if isinstance(one, PickedThought)
        ]
        thoughts, placed = self.thoughts(session, added, version)
        yield from thoughts
        yield from self.settled(session, placed)


def refuse_conflicts(found: Sequence[Conflict]) -> None:
    """Make sure that nothing speaks against a pick.

    Raises:
        PickConflicts: something does; the sentence names all of it.
    """
    if found:
        raise PickConflicts([f"{_told(one)} (event {one.version})" for one in found])


def _told(conflict: Conflict) -> str:
    text = " ".join(conflict.picked.text.split())
    shown = text if len(text) <= 50 else text[:49] + "…"
    return f"“{shown}”: {conflict.what}"


def _relived(
    exchange: PickedExchange, talk: Dialogue, session: Session, version: int
) -> Iterator[Caused]:
    name, iteration = talk.next_exchange(session.upcoming), session.upcoming
    yield Caused(
        MessageSent(
            exchange=name, text=exchange.question, iteration=iteration, source=exchange.asked
        )
    )
    draft = DraftEmitted(
        exchange=name,
        index=1,
        text=exchange.answer,
        iteration=iteration,
        source=exchange.drafted,
    )
    yield draft.because(version + 1)
    yield DraftAccepted(exchange=name, index=1).because(version + 2)


def _after(talk: Dialogue, event: Event, version: int) -> Dialogue:
    match event:
        case MessageSent():
            return dialogue.sent(talk, event, version)
        case DraftEmitted():
            return dialogue.emitted(talk, event, version)
        case DraftAccepted():
            return dialogue.accepted(talk, event, version)
    return talk


def _conflict(
    event: Event, one: Picked, source: Source
) -> Literal["picked before", "answered otherwise", "thought already"] | None:
    if isinstance(event, MessageSent | ThoughtAdded):
        if event.source is not None and event.source.hash == source.hash:
            return "picked before"
        if event.text == one.text:
            return "answered otherwise" if isinstance(event, MessageSent) else "thought already"
    return None


def _thought(log: Log, session: SessionId, recorded: Recorded) -> PickedThought | None:
    event = recorded.event
    if not isinstance(event, ThoughtAdded):
        return None
    _refuse_redacted(session, recorded)
    return PickedThought(event.text, event.mind, _source(log, session, recorded))


def _exchange(log: Log, session: SessionId, recorded: Recorded) -> PickedExchange:
    """The accepted exchange that an event is a part of."""
    name = getattr(recorded.event, "exchange", None)
    where = f"{session}@{recorded.version}"
    if name is None:
        raise Refused(
            f"{where} is a {recorded.event.kind}: name an accepted exchange (exc_4_000), its"
            " accepted draft, or a thought."
        )
    asked = _near(log, session, recorded, "message.sent", name)
    accepted = _near(log, session, recorded, "draft.accepted", name)
    if asked is None or accepted is None or accepted.cause is None:
        raise Refused(f"{where} is of {name}, which is not accepted yet: accept a draft there.")
    if isinstance(recorded.event, DraftEmitted) and recorded.version != accepted.cause:
        raise Refused(f"{where} is not the draft that was accepted in {name}: that one can be had.")
    (drafted,) = log.pick(session, [accepted.cause])
    for one in (asked, drafted):
        _refuse_redacted(session, one)
    if not isinstance(asked.event, MessageSent) or not isinstance(drafted.event, DraftEmitted):
        raise TypeError(f"{asked.event.kind}, {drafted.event.kind}")
    return PickedExchange(
        asked.event.text,
        _source(log, session, asked),
        drafted.event.text,
        _source(log, session, drafted),
    )


def _near(
    log: Log, session: SessionId, part: Recorded, kind: str, exchange: str
) -> Recorded | None:
    """The event of that kind of the exchange that ``part`` is a part of."""
    behind = kind == "draft.accepted" and part.event.kind != kind
    events = (
        log.read(session, after=part.version, kinds=[kind], page=2)
        if behind
        else log.read(session, upto=part.version, kinds=[kind], newest_first=True, page=2)
    )
    for number, found in enumerate(events):
        if getattr(found.event, "exchange", None) == exchange:
            return found
        if number == 1:  # a late draft belongs to the exchange before the open one
            break
    return None


def _source(log: Log, session: SessionId, recorded: Recorded) -> Source:
    head = log.head(session, recorded.version)
    return Source(recorded.session, recorded.version, head.hash)


def _refuse_redacted(session: SessionId, recorded: Recorded) -> None:
    if recorded.redacted:
        raise Refused(f"{session}@{recorded.version} was redacted: there is nothing to bring over.")
