"""What a user did in a part of a history, as steps that can be taken again in a branch of it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from commands.command import Command, Decision
from commands.dialogue import PruneExchanges, SendMessage
from commands.drafts import AcceptDraft, MarkSeen
from commands.gatherer import Gatherer
from commands.picks import Pick, PickedExchange, PickedThought
from commands.sessions import changed
from commands.thinking import ChangeEmbedder, InjectThought
from domain.actors import Actor
from domain.errors import Refused
from domain.events import (
    ConfigChanged,
    DraftAccepted,
    DraftEmitted,
    DraftSeen,
    Event,
    ExchangesPruned,
    MessageSent,
    MindInvoked,
    RunStarted,
    RunStopped,
    SessionForked,
    SignalChanged,
    ThoughtAdded,
)
from domain.ids import CommandId, SessionId
from domain.log import Log
from domain.recorded import Recorded
from domain.session import Session


class Ask(NamedTuple):
    """The mind was asked, and could answer."""

    seen: bool
    """Somebody watched its drafts appear."""
    user_time: str
    """The user's local time as the prompt gave it."""


class Act(NamedTuple):
    """The user did something."""

    event: Event
    answer: DraftEmitted | None = None
    """Of a message that was picked from another branch: what came along with it."""


class Step(NamedTuple):
    """One thing to be lived again."""

    version: int
    """The event that it is taken from."""
    what: Ask | Act
    redacted: bool = False
    """What was said is gone for good."""


class Gone(Refused):
    """What is to be lived again was taken away for good."""


def steps(log: Log, source: SessionId, after: int, upto: int) -> list[Step]:
    """What happened in ``after < version <= upto`` on the user's side, in order.

    An iteration stands where its prompt was made, so that whatever the user did while the mind
    was at work stands behind it. Iterations in which no mind could answer (a provider that failed,
    a user who broke off) are none. Code around iterations (hooks) is no user: what it did is left
    out, and so is whatever no mind is ever shown: notes, labels, titles, runs.
    """
    run = log.state(source, after).work.run
    found = _Steps(observed=run is not None and run.mode == "observe")
    for recorded in log.read(source, after=after, upto=upto, kinds=_KINDS):
        found.fold(recorded)
    return [step for _, step in sorted(found.placed.items())]


def all_there(source: SessionId, wanted: Iterable[Step]) -> None:
    """Make sure that nothing of it was redacted.

    Raises:
        Gone: something was.
    """
    for step in wanted:
        if step.redacted and isinstance(step.what, Act):
            raise Gone(
                f"Event {step.version} of session {source!r} ({step.what.event.kind}) was redacted"
                " and can't be lived again: choose a part without it (--from REF, --until REF)."
            )


_KINDS = (
    "message.sent",
    "draft.emitted",
    "draft.seen",
    "draft.accepted",
    "exchanges.pruned",
    "signal.changed",
    "thought.added",
    "config.changed",
    "mind.invoked",
    "run.started",
    "run.stopped",
    "session.forked",
)

_Place = tuple[int, int, int]
"""Behind which event, an iteration behind an act, and in the order of the log."""


class _Steps:
    """The steps of a history as its events come along."""

    def __init__(self, *, observed: bool) -> None:
        self.placed: dict[_Place, Step] = {}
        self._observed = observed
        """Whether the run that holds the session watches."""
        self._iteration: tuple[CommandId, _Place | None] | None = None
        """The newest one."""
        self._picked: dict[tuple[CommandId, str], _Place] = {}
        """Messages that came from other branches, by wish and exchange."""

    def fold(self, recorded: Recorded) -> None:
        """One more event."""
        event = recorded.event
        match event:
            case MindInvoked():
                self._invoked(recorded, event)
            case RunStarted():
                self._observed = event.mode == "observe"
            case RunStopped() | SessionForked():
                self._observed = False
            case DraftSeen() if self._is_of_iteration(recorded):
                self._watched()
            case DraftEmitted() | DraftAccepted() if _picked(recorded, event) in self._picked:
                self._came_along(recorded, event)
            case DraftEmitted() | ThoughtAdded(origin="mind"):
                pass  # a mind's, not the user's
            case _ if not _is_hook(recorded.actor):
                place = self._add(recorded, Act(event))
                if isinstance(event, MessageSent) and event.source is not None:
                    self._picked[_picked(recorded, event)] = place

    def _add(self, recorded: Recorded, act: Act) -> _Place:
        place = (recorded.version, 0, recorded.version)
        self.placed[place] = Step(recorded.version, act, recorded.redacted)
        return place

    def _invoked(self, recorded: Recorded, event: MindInvoked) -> None:
        place = (event.based_on, 1, recorded.version)
        if event.outcome != "failed":
            self.placed[place] = Step(recorded.version, Ask(self._observed, event.user_time))
        self._iteration = recorded.command, place if event.outcome != "failed" else None

    def _is_of_iteration(self, recorded: Recorded) -> bool:
        return self._iteration is not None and self._iteration[0] == recorded.command

    def _watched(self) -> None:
        place = self._iteration[1] if self._iteration else None
        step = self.placed.get(place) if place else None
        if place and step and isinstance(step.what, Ask):
            self.placed[place] = step._replace(what=step.what._replace(seen=True))

    def _came_along(self, recorded: Recorded, event: DraftEmitted | DraftAccepted) -> None:
        place = self._picked[_picked(recorded, event)]
        step = self.placed[place]
        if isinstance(event, DraftEmitted) and isinstance(step.what, Act):
            redacted = step.redacted or recorded.redacted
            act = step.what._replace(answer=event)
            self.placed[place] = step._replace(what=act, redacted=redacted)


def _picked(
    recorded: Recorded, event: MessageSent | DraftEmitted | DraftAccepted
) -> tuple[CommandId, str]:
    return recorded.command, event.exchange


def _is_hook(actor: Actor) -> bool:
    return actor.who == "agent" and actor.name.startswith("hook:")


# the wishes that steps are


def as_wish(
    act: Act,
    session: Session,
    exchanges: Mapping[str, str],
    by: Actor,
    gatherer: Gatherer | None,
) -> Command | None:
    """What an act is in a branch that stands like this; None where it comes to nothing there.

    Args:
        act: what the user did.
        session: the branch.
        exchanges: what exchanges of the source are called in the branch, where it is not the same.
        by: who does it now.
        gatherer: gives thoughts their vectors and company.
    """
    event, dialogue = act.event, session.dialogue
    match event:
        case MessageSent() if event.source is not None and act.answer is not None:
            answer = act.answer
            drafted = answer.source or event.source
            return Pick(picked=(PickedExchange(event.text, event.source, answer.text, drafted),))
        case MessageSent():
            return SendMessage(text=event.text)
        case DraftAccepted():
            return AcceptDraft() if dialogue.awaiting else None
        case DraftSeen():
            there = tuple(i for i in event.indexes if dialogue.draft(i))
            asked = dialogue.awaiting
            ours = asked and asked.exchange == exchanges.get(event.exchange, event.exchange)
            return MarkSeen(indexes=there) if ours and there else None
        case ExchangesPruned():
            return _pruned(event, session, exchanges)
        case SignalChanged():
            return SignalAgain(signal=event)
        case ThoughtAdded():
            again = _thought(event, by)
            return gatherer.with_company(again, session, [event.text]) if gatherer else again
        case ConfigChanged():
            return setting(session, event.key, event.new, gatherer)
        case _:
            raise TypeError(event.kind)


def setting(session: Session, key: str, value: object, gatherer: Gatherer | None) -> Command:
    """A setting's new value, with new vectors for the pool where another model makes them."""
    config = changed(session.config, key, value)
    if key != "embedding_model" or not any(t.embedded for t in session.pool.active):
        return SetAgain(key=key, value=value)
    if gatherer is None:
        return ChangeEmbedder(model=config.embedding_model)
    return ChangeEmbedder(
        model=config.embedding_model,
        embedded=gatherer.anew(session, config),
        gather=gatherer.decide_anew(config),
    )


def _thought(event: ThoughtAdded, by: Actor) -> InjectThought | Pick:
    if event.source is None:
        return InjectThought(text=event.text, by=str(by))
    return Pick(picked=(PickedThought(event.text, event.mind, event.source),))


def _pruned(
    event: ExchangesPruned, session: Session, exchanges: Mapping[str, str]
) -> PruneExchanges | None:
    shown = {e.id for e in session.dialogue.history if not e.pruned}
    named = [exchanges.get(e, e) for e in event.exchanges]
    there = tuple(e for e in named if e in shown)
    return PruneExchanges(exchanges=there) if there else None


class SignalAgain(Command):
    """Tell the mind what it was told of your presence, the time of then included."""

    signal: SignalChanged

    def decide(self, session: Session) -> Decision:
        """The same signal, at the iteration that will see it."""
        yield self.signal.model_copy(update={"iteration": session.upcoming})


class SetAgain(Command):
    """Give a setting a value."""

    key: str
    value: object

    def decide(self, session: Session) -> Iterator[ConfigChanged]:
        """The setting at that value, if it has another one."""
        old, new = getattr(session.config, self.key), self.value
        changed(session.config, self.key, new)
        if new != old:
            yield ConfigChanged(key=self.key, old=old, new=new)
