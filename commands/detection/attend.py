"""Looking at what was said for what it leaves, exchange by exchange, each one once.

It happens behind the dialogue, in appends of its own: whatever fails here, the dialogue is in the
log already, and the next look begins where this one ended.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
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
from domain.ids import ExchangeId, SessionId
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

    upto: int
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
    """Look at what was said since the last look, or since a version.

    Args:
        log: where the session lives.
        session: which session.
        detector: finds artifacts; it never raises, whatever a model does. Without one, the context
            is kept small all the same.
        world: time, chance and the present user.
        after: look only at what was said behind this version; None looks at all that nobody has
            looked at, and notes how far that came.
        progress: told after each look up to which version all has been looked at.
    """
    state = log.state(session)
    since = max(after or 0, state.shelf.detected)
    past = [e for e in state.dialogue.history if e.version <= since]
    before = deque(((e.question, e.answer) for e in past if e.answer is not None), maxlen=BEFORE)
    seen = {exchange.id for exchange in past}
    loose = [one for one in loose_in(state) if one.exchange in seen]
    looks = events = 0
    for said in _unseen(log, state, since):
        now = world.local_time().isoformat(timespec="minutes")
        if detector is not None:
            passage = Passage(said.exchange, said.question, said.answer, tuple(before), now)
            state = log.state(session)
            looked = detector.look(passage, state.shelf)
            wish = RecordFindings(
                invocation=DetectorInvoked(
                    upto=said.upto, exchange=said.exchange, turn=said.turn, **looked.facts()
                ),
                findings=looked.findings,
                messages=said.messages,
                asked_for=after is None,
                mentioned=_again(log, state, said),
            )
            events += len(handle(log, session, wish, world).events)
            looks += 1
        if said.answer is not None:
            before.append((said.question, said.answer))
            loose.append(Loose(said.exchange, said.question, said.answer))
        state = log.state(session)
        summary = summed_up(state, unconcluded(state, loose))
        kept = KeepUp(user_time=now, loose=tuple(loose), summary=summary)
        done = handle(log, session, kept, world)
        events += len(done.events)
        loose = unconcluded(done.state, loose)
        progress(said.upto)
    return Attended(looks, events)


def _again(log: Log, state: Session, said: _Said) -> tuple[Artifact, ...]:
    """What had left the context and the message speaks of; nothing for its answer."""
    return () if said.answer is not None else tuple(spoken_of_again(log, state, said.question))


def summed_up(state: Session, loose: Sequence[Loose]) -> Summary | None:
    """A summary of the oldest exchanges, where there is no more room for them."""
    old = crowded(state, loose)
    if not old:
        return None
    text = extractive([(one.question, one.answer) for one in old], SUMMARY_TOKENS)
    return Summary(old, text, "extractive")


def _unseen(log: Log, state: Session, after: int) -> Iterator[_Said]:
    """Messages and acceptances behind a version, in order, with what they say."""
    later = log.read(state.id, after=after, kinds=["message.sent"])
    turn = state.shelf.turns - sum(1 for _ in later)
    asked: tuple[Recorded, MessageSent] | None = None
    kinds = ["message.sent", "draft.accepted"]
    for recorded in log.read(state.id, after=after, kinds=kinds):
        event = recorded.event
        if recorded.redacted:
            turn += 1
            continue
        if isinstance(event, MessageSent):
            asked = (recorded, event)
            turn += 1
            yield _Said(
                recorded.version, event.exchange, turn, event.text, None, (recorded.version,)
            )
        elif isinstance(event, DraftAccepted) and recorded.cause is not None:
            if asked is None:
                asked = _message(log, state.id, recorded.version)
            (drafted,) = log.pick(state.id, [recorded.cause])
            if asked is None or not isinstance(drafted.event, DraftEmitted):
                continue
            yield _Said(
                recorded.version,
                event.exchange,
                turn,
                asked[1].text,
                drafted.event.text,
                (asked[0].version, drafted.version),
            )


def _message(log: Log, session: SessionId, before: int) -> tuple[Recorded, MessageSent] | None:
    found = log.newest(session, ["message.sent"], upto=before)
    if found is None or not isinstance(found.event, MessageSent):
        return None
    return found, found.event
