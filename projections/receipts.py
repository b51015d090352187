"""The receipt of anything that happened: who, when, out of what, and what it led to."""

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from domain.errors import NoSuchMoment
from domain.events import (
    DraftAccepted,
    DraftEmitted,
    DraftSeen,
    EventRedacted,
    MessageSent,
    MindInvoked,
    ThoughtAdded,
)
from domain.ids import CommandId, ExchangeId, SessionId
from domain.log import Log
from domain.recorded import Recorded
from projections.causes import Picked, Step, Told, at_version, causes, picked, told
from projections.invocations import Invocation, Message, invocation, invocation_of, message
from projections.lineage import Origin, line, origin

if TYPE_CHECKING:
    from projections.founding import Founding

EVENTS_LOOKED_AT = 500
"""How many events behind one are asked whether it led to them; as many before a draft, who acted.
"""

WISH_LOOKED_AT = 256
"""How many events to either side may belong to the same wish."""

INVOCATIONS_LOOKED_AT = 16
"""A model call that was under way shows an older state: how many such may come first."""


class Repeated(NamedTuple):
    """The draft whose very text another one says again."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    version: int
    iteration: int
    first: int
    """Where the text was said for the first time: the index of that draft."""
    first_version: int
    first_iteration: int


class Intervention(NamedTuple):
    """What somebody did between a message and a draft."""

    event: Told
    shown: bool
    """Whether it came early enough for the mind to be shown what it changed."""


class DraftFacts(NamedTuple):
    """What is known of a draft beside its event and its invocation."""

    exchange: ExchangeId
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    text: str
    iteration: int
    signal: bool
    late: bool
    confidence: float | None
    working: bool
    repeats: Repeated | None
    message: Message | None
    """What it answers."""
    interventions: tuple[Intervention, ...]
    """Between the message and it, oldest first."""
    interventions_after: int
    """They were looked for behind this version: that of the message, unless that is long ago."""
    seen: tuple[Told, ...]
    """By whom, and when."""
    accepted: Told | None
    closed: Told | None
    """The acceptance that closed its exchange, of this or of another draft."""
    source: Picked | None


class Effects(NamedTuple):
    """What came of an event."""

    events: tuple[Told, ...]
    """Those whose recorded cause it is."""
    upto: int
    """They were looked for up to this version."""
    invocation: Told | None
    """The first one that was based on a state with it."""


class Receipt(NamedTuple):
    """All that is known of how one thing came to be."""

    event: Told
    """What is explained; of a cluster, the decision that made it."""
    command: CommandId
    wish: tuple[Told, ...]
    """The other events of the same wish, recorded in the same append."""
    redaction: Told | None
    """Who took its content away, and why."""
    causes: tuple[Step, ...]
    """Back along what led to it, the nearest first."""
    effects: Effects
    invocation: Invocation | None = None
    """Of the mind, where it is one or came from one."""
    message: Message | None = None
    """Where it is a message."""
    answer: Told | None = None
    """The acceptance that closed the exchange of a message."""
    draft: DraftFacts | None = None
    thought: Origin | None = None
    line: tuple[Origin, ...] = ()
    """Of a thought: the nearest of those before it, the nearest before that, and so on."""
    cluster: "Founding | None" = None


def receipt(log: Log, session: SessionId, version: int, depth: int = 0) -> Receipt:
    """The receipt of an event.

    Args:
        log: where the session lives; see :func:`projections.past.as_of` for a moment of the past.
        session: the session that is looked at.
        version: the event.
        depth: how many steps back its causes are followed, and the thoughts nearest to a thought.

    Raises:
        NoSuchMoment: the session has no such version.
    """
    recorded = at_version(log, session, version)
    if recorded is None:
        raise NoSuchMoment(session, str(version), ["1", str(log.head(session).version)])
    found = Receipt(
        event=told(recorded),
        command=recorded.command,
        wish=_wish(log, session, recorded),
        redaction=_redaction(log, session, recorded),
        causes=causes(log, session, recorded, depth),
        effects=_effects(log, session, recorded),
    )
    event = recorded.event
    if isinstance(event, MindInvoked):
        return found._replace(invocation=invocation(log, session, recorded))
    if isinstance(event, MessageSent):
        closing = _closing(log, session, recorded)
        return found._replace(
            message=message(log, recorded), answer=told(closing) if closing else None
        )
    invoked = invocation_of(log, session, recorded)
    came_from = invocation(log, session, invoked) if invoked is not None else None
    if isinstance(event, DraftEmitted):
        facts = _draft(log, session, recorded, event, came_from)
        return found._replace(invocation=came_from, draft=facts)
    if isinstance(event, ThoughtAdded):
        thought = origin(log, session, version)
        before = line(log, session, thought, depth)
        short = came_from._replace(shown=()) if came_from else None
        return found._replace(invocation=short, thought=thought, line=tuple(before))
    return found


def cluster_receipt(
    log: Log, session: SessionId, cluster: int, depth: int = 0, members: int | None = None
) -> Receipt:
    """The receipt of a cluster: of the decision that made it, and what became of it.

    Args:
        log: where the session lives.
        session: the session that is looked at.
        cluster: its number.
        depth: how many steps back the causes of that decision are followed.
        members: how many of its newest thoughts are told; all of them, if None.

    Raises:
        NoSuchCluster: no cluster ever had that number here.
    """
    from projections.founding import founding  # noqa: PLC0415 — brings numpy along

    found = founding(log, log.state(session), cluster, members)
    made = receipt(log, session, found.turnings[0].event.version, depth)
    return made._replace(cluster=found)


def _wish(log: Log, session: SessionId, recorded: Recorded) -> tuple[Told, ...]:
    """The other events of an append stand beside each other."""
    before: list[Told] = []
    earlier = log.read(session, upto=recorded.version - 1, newest_first=True, page=32)
    for other in islice(earlier, WISH_LOOKED_AT):
        if other.command != recorded.command:
            break
        before.append(told(other))
    after: list[Told] = []
    for other in islice(log.read(session, after=recorded.version, page=32), WISH_LOOKED_AT):
        if other.command != recorded.command:
            break
        after.append(told(other))
    return (*reversed(before), *after)


def _redaction(log: Log, session: SessionId, recorded: Recorded) -> Told | None:
    """It stands in the stream that holds the event, which may be an ancestor that went on."""
    if not recorded.redacted:
        return None
    for stream in dict.fromkeys((recorded.session, session)):
        later = log.read(
            stream, after=recorded.version, kinds=["event.redacted"], newest_first=True, page=32
        )
        for other in later:
            event = other.event
            if isinstance(event, EventRedacted) and event.version == recorded.version:
                return told(other)
    return None


def _effects(log: Log, session: SessionId, recorded: Recorded) -> Effects:
    upto, found = recorded.version, []
    for other in islice(log.read(session, after=recorded.version), EVENTS_LOOKED_AT):
        upto = other.version
        if other.cause == recorded.version:
            found.append(told(other))
    later = log.read(
        session, after=recorded.version, kinds=["mind.invoked"], page=INVOCATIONS_LOOKED_AT
    )
    first = next(
        (
            other
            for other in islice(later, INVOCATIONS_LOOKED_AT)
            if isinstance(other.event, MindInvoked) and other.event.based_on >= recorded.version
        ),
        None,
    )
    return Effects(tuple(found), upto, told(first) if first is not None else None)


def _closing(log: Log, session: SessionId, asked: Recorded) -> Recorded | None:
    """The acceptance that closed the exchange of a message: the next one there is."""
    accepted = log.read(session, after=asked.version, kinds=["draft.accepted"], page=1)
    return next(iter(accepted), None)


def _draft(
    log: Log,
    session: SessionId,
    recorded: Recorded,
    event: DraftEmitted,
    came_from: Invocation | None,
) -> DraftFacts:
    asked = _asked(log, session, recorded, event.exchange)
    closing = _closing(log, session, asked) if asked is not None else None
    accepts = closing.event if closing is not None else None
    mine = isinstance(accepts, DraftAccepted) and accepts.index == event.index
    accepted = told(closing) if closing is not None else None
    after, acts = _interventions(log, session, recorded, asked)
    based_on = came_from.based_on if came_from is not None else recorded.version
    return DraftFacts(
        exchange=event.exchange,
        index=event.index,
        text=event.text,
        iteration=event.iteration,
        signal=event.signal,
        late=event.late,
        confidence=event.confidence,
        working=event.working,
        repeats=_repeats(log, session, recorded.version, event.repeats),
        message=message(log, asked) if asked is not None else None,
        interventions=tuple(Intervention(told(r), r.version <= based_on) for r in acts),
        interventions_after=after,
        seen=_seen(log, session, recorded, closing),
        accepted=accepted if mine else None,
        closed=accepted,
        source=picked(log, event.source),
    )


def _asked(
    log: Log, session: SessionId, recorded: Recorded, exchange: ExchangeId
) -> Recorded | None:
    """The message of a draft: the newest before it, or one of those before where it came late."""
    messages = log.read(
        session, upto=recorded.version, kinds=["message.sent"], newest_first=True, page=2
    )
    for asked in messages:
        if isinstance(asked.event, MessageSent) and asked.event.exchange == exchange:
            return asked
    return None


_ACTS = (
    "signal.changed",
    "draft.seen",
    "draft.accepted",
    "message.sent",
    "config.changed",
    "exchanges.pruned",
    "thought.added",
)


def _interventions(
    log: Log, session: SessionId, recorded: Recorded, asked: Recorded | None
) -> tuple[int, list[Recorded]]:
    """What was done to the session between a message and a draft, but by the mind itself."""
    if asked is None:
        return recorded.version - 1, []
    between = log.read(
        session,
        after=asked.version,
        upto=recorded.version - 1,
        kinds=_ACTS,
        newest_first=True,
        page=128,
    )
    looked_at = list(islice(between, EVENTS_LOOKED_AT + 1))
    after = asked.version
    if len(looked_at) > EVENTS_LOOKED_AT:
        after = looked_at.pop().version
    acts = [
        r
        for r in reversed(looked_at)
        if not isinstance(r.event, ThoughtAdded) or r.event.origin != "mind"
    ]
    return after, acts


def _repeats(log: Log, session: SessionId, version: int, index: int | None) -> Repeated | None:
    if index is None:
        return None
    dialogue = log.state(session, version - 1).dialogue
    latest = first = dialogue.draft(index)
    while first is not None and first.repeats is not None:
        first = dialogue.draft(first.repeats)
    if latest is None or first is None:
        return None
    return Repeated(
        latest.index,
        latest.version,
        latest.iteration,
        first.index,
        first.version,
        first.iteration,
    )


def _seen(
    log: Log, session: SessionId, recorded: Recorded, closing: Recorded | None
) -> tuple[Told, ...]:
    """Who read a draft: while its exchange is open, since later nobody marks it."""
    event = recorded.event
    if not isinstance(event, DraftEmitted):
        return ()
    upto = closing.version if closing is not None else None
    reads = log.read(session, after=recorded.version, upto=upto, kinds=["draft.seen"], page=64)
    return tuple(
        told(r)
        for r in islice(reads, EVENTS_LOOKED_AT)
        if isinstance(r.event, DraftSeen)
        and r.event.exchange == event.exchange
        and event.index in r.event.indexes
    )
