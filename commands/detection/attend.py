"""Looking at what was said for what it leaves, exchange by exchange, each one once.

It happens behind the dialogue, in appends of its own: whatever fails here, the dialogue is in the
log already, and what was not looked at can be looked at later.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from commands.artifacts.recall import spoken_of_again
from commands.artifacts.record import RecordFindings
from commands.artifacts.upkeep import KeepUp, Loose, Summary, crowded, loose_in, unconcluded
from commands.detection.looked import Detector
from commands.handle import handle
from commands.world import World
from domain.artifacts import Artifact
from domain.detection.findings import Passage
from domain.detection.summarise import extractive
from domain.events import DetectorInvoked, DraftAccepted, DraftEmitted, MessageSent
from domain.ids import CommandId, ExchangeId, SessionId
from domain.log import Log
from domain.recorded import Recorded
from domain.session import Session

BEFORE = 3
"""Earlier exchanges that a detector is shown."""

SUMMARY_TOKENS = 120
"""How long a summary of exchanges may be."""


class Attended(NamedTuple):
    """What came of looking."""

    looks: int
    events: int


class _Said(NamedTuple):
    """A message or an acceptance that is to be looked at."""

    version: int
    at: int
    """µs since 1970."""
    exchange: ExchangeId
    turn: int
    question: str
    answer: str | None
    messages: tuple[int, ...]


def attend(
    log: Log,
    session: SessionId,
    detector: Detector | None,
    world: World,
    *,
    after: int | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> Attended:
    """Look at what was said behind a version, or at all that nobody has looked at.

    Args:
        log: where the session lives.
        session: which session.
        detector: finds artifacts; it never raises, whatever a model does. Without one, the context
            is kept small all the same.
        world: time, chance and the present user.
        after: look only at what was said behind this version; None looks at everything that has
            no look of its own in the log, and notes what it looked at.
        progress: told after each look up to which version that has come.
    """
    state, since = log.state(session), after or 0
    past = [e for e in state.dialogue.history if e.version <= since]
    before = deque(((e.question, e.answer) for e in past if e.answer is not None), maxlen=BEFORE)
    inherited = {exchange.id for exchange in past}
    loose = [one for one in loose_in(state) if one.exchange in inherited]
    had = _looked_at(log, session, since)
    looks = events = 0
    for said in _said(log, state, since):
        seen = said.version in had
        if detector is not None and not seen:
            passage = Passage(
                said.exchange, said.question, said.answer, tuple(before), _local(world, said.at)
            )
            state = log.state(session)
            looked = detector.look(passage, state.shelf)
            wish = RecordFindings(
                invocation=DetectorInvoked(
                    looked_at=said.version,
                    exchange=said.exchange,
                    turn=said.turn,
                    **looked.facts(),
                ),
                findings=looked.findings,
                messages=said.messages,
                asked_for=after is None,
                mentioned=_again(log, state, said),
            )
            done = handle(log, session, wish, world, command_id=_once(session, said.version))
            events += len(done.events)
            looks += 1
        if said.answer is not None:
            before.append((said.question, said.answer))
            loose.append(Loose(said.exchange, said.question, said.answer))
        if not seen:
            loose, kept = _kept_up(log, session, loose, world)
            events += kept
        progress(said.version)
    return Attended(looks, events)


def _kept_up(
    log: Log, session: SessionId, loose: Sequence[Loose], world: World
) -> tuple[list[Loose], int]:
    """Let leave what has to: the exchanges for which nothing stands then, and how many events."""
    state = log.state(session)
    wish = KeepUp(
        user_time=_local(world, world.now()),
        loose=tuple(loose),
        summary=summed_up(state, unconcluded(state, loose)),
    )
    done = handle(log, session, wish, world)
    return unconcluded(done.state, loose), len(done.events)


def _local(world: World, at: int) -> str:
    """A moment where the user is, ISO 8601: what is to be done tomorrow depends on it."""
    here = world.local_time().tzinfo
    return datetime.fromtimestamp(at // 1_000_000, here).isoformat(timespec="minutes")


def _once(session: SessionId, version: int) -> CommandId:
    """The id of a look: who looks at the same at the same time, finds it was carried out."""
    return CommandId(sha256(f"look/{session}/{version}".encode()).digest()[:16])


def _looked_at(log: Log, session: SessionId, after: int) -> frozenset[int]:
    looks = log.read(session, after=after, kinds=["detector.invoked"])
    return frozenset(
        recorded.event.looked_at
        for recorded in looks
        if isinstance(recorded.event, DetectorInvoked)
    )


def _again(log: Log, state: Session, said: _Said) -> tuple[Artifact, ...]:
    """What had left the context and the message speaks of; nothing for its answer."""
    return () if said.answer is not None else tuple(spoken_of_again(log, state, said.question))


def summed_up(state: Session, loose: Sequence[Loose]) -> Summary | None:
    """A summary of the oldest exchanges, where there is no more room for them."""
    old = crowded(state, loose)
    if not old:
        return None
    text = extractive([(one.question, one.answer) for one in old], SUMMARY_TOKENS)
    return Summary(old, text)


def _said(log: Log, state: Session, after: int) -> Iterator[_Said]:
    """Messages and acceptances behind a version, in order; without what was redacted."""
    later = log.read(state.id, after=after, kinds=["message.sent"])
    turn = state.shelf.turns - sum(1 for _ in later)
    asked: Recorded | None = None
    for recorded in log.read(state.id, after=after, kinds=["message.sent", "draft.accepted"]):
        event = recorded.event
        if isinstance(event, MessageSent):
            asked = recorded
            turn += 1
            drafted = None
        elif isinstance(event, DraftAccepted) and recorded.cause is not None:
            asked = asked or log.newest(state.id, ["message.sent"], upto=recorded.version)
            (drafted,) = log.pick(state.id, [recorded.cause])
        else:
            continue
        if asked is None or asked.redacted or (drafted is not None and drafted.redacted):
            continue
        messages = (asked.version,) if drafted is None else (asked.version, drafted.version)
        yield _Said(
            recorded.version,
            recorded.at,
            event.exchange,
            turn,
            _text(asked),
            _text(drafted) if drafted is not None else None,
            messages,
        )


def _text(recorded: Recorded) -> str:
    event = recorded.event
    return event.text if isinstance(event, MessageSent | DraftEmitted) else ""
