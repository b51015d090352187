"""What is done to a session from outside of its mind, and what comes of each deed.

A book is kept event by event, oldest first. A deed whose effect lies in the future stays open in
it until a later event settles it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from domain.events import (
    REDACTED,
    ClusterFormed,
    ClusteringCalibrated,
    ClusterMerged,
    ClusterSplit,
    ConfigChanged,
    DraftAccepted,
    DraftEmitted,
    DraftSeen,
    Event,
    EventRedacted,
    ExchangesPruned,
    MessageSent,
    MindInvoked,
    MindSignalled,
    NoteAdded,
    ReplayBegun,
    RunStarted,
    RunStopped,
    SessionArchived,
    SessionForked,
    SessionLabelled,
    SessionRenamed,
    SessionRestored,
    SessionStarted,
    SignalChanged,
    ThoughtAdded,
    ThoughtClustered,
    ThoughtEmbedded,
    ToolUsed,
)
from domain.ids import SessionId
from domain.log import Log
from domain.recorded import Recorded
from domain.sentences import count
from projections.artifact_deeds import ENTRIES
from projections.effects import (
    Effect,
    Entry,
    Facts,
    Heard,
    Offered,
    Question,
    Shown,
    Tally,
    seconds,
    span,
)
from projections.timeline import summary


class Deed(NamedTuple):
    """Something that was done, and what came of it."""

    version: int
    position: int
    kind: str
    what: str
    effect: str
    """Empty where the deed says it all."""
    facts: Facts
    redacted: bool


class Book:
    """What is known at one moment of a history, and the deeds since the book was begun."""

    def __init__(self) -> None:
        self.deeds: dict[int, Deed] = {}
        """By position; whoever has read one may take it out."""
        self.open: set[int] = set()
        """Positions of those of which more may come."""
        self.title = ""
        self.presence = "absent"
        self.question: Question | None = None
        self.drafts: dict[int, Offered] = {}
        """Of the open exchange, by index."""
        self.run: Tally | None = None
        """The one that holds the session."""
        self.signals: tuple[Heard, ...] = ()
        """The newest that an iteration saw, and those that none has seen yet."""
        self.thoughts: dict[int, Shown] = {}
        """Those that were put into the pool from outside, by version."""

    @classmethod
    def begun_at(cls, log: Log, session: SessionId, version: int) -> "Book":
        """A book that knows how things stood at a version, and no deed up to it."""
        book = cls()
        if not version:
            return book
        state = log.state(session, version)
        signals, asked, run = state.attention.signals, state.dialogue.awaiting, state.work.run
        book.title = state.title
        if signals:
            book.presence = _present(signals[0].presence, signals[0].status)
        if run is not None:
            book.run = Tally(0, run.version, run.id, run.mode)
        if asked is not None:
            drafts = state.dialogue.drafts
            events = log.pick(session, [asked.version, *(draft.version for draft in drafts)])
            at = {recorded.version: recorded.at for recorded in events}
            book.question = Question(0, asked.version, at[asked.version])
            book.drafts = {d.index: Offered(at[d.version], d.repeats) for d in drafts}
        return book

    def take(self, recorded: Recorded) -> bool:
        """One more event; whether it is a deed."""
        entry = _ENTRIES[type(recorded.event)](self, recorded, recorded.event)
        if entry is not None:
            self.enter(recorded, entry)
        return entry is not None

    def enter(self, recorded: Recorded, entry: Entry) -> None:
        """Write a deed down."""
        what = " ".join(entry.what.split())
        if recorded.redacted and REDACTED not in what:
            what = f"{REDACTED} {what}".rstrip()
        if entry.effect is None:
            self.open.add(recorded.position)
        self.deeds[recorded.position] = Deed(
            recorded.version,
            recorded.position,
            recorded.event.kind,
            what,
            " ".join((entry.effect or "").split()),
            entry.facts,
            recorded.redacted,
        )

    def settle(self, position: int, effect: Effect) -> None:
        """Write down what came of a deed, if it is in this book."""
        self.open.discard(position)
        deed = self.deeds.get(position)
        if deed is not None:
            facts = {**deed.facts, **effect.facts}
            self.deeds[position] = deed._replace(effect=effect.text, facts=facts)

    def close(self) -> None:
        """Settle everything as it stands at the end."""
        if self.question is not None:
            self.settle(self.question.position, self.question.told(len(self.drafts), None, 0))
        if self.run is not None:
            self.settle(self.run.position, self.run.told("still going"))
        for signal in self.signals:
            self.settle(signal.position, signal.told())
        for thought in self.thoughts.values():
            self.settle(thought.position, thought.told())


def branch(recorded: Recorded, event: SessionForked) -> Entry:
    """The beginning of a branch: this session's own, or one that others made."""
    facts = {"branch": recorded.session, "parent": event.parent, "at_version": event.at_version}
    return Entry(summary(event), f"branch {recorded.session}", {**facts, "reason": event.reason})


def vectors(wish: Sequence[Recorded]) -> tuple[Recorded, Entry] | None:
    """The vectors that a wish gave to thoughts, as one deed, and the event to note it by."""
    given = [(r, r.event) for r in wish if isinstance(r.event, ThoughtEmbedded)]
    if not given:
        return None
    formed = sum(isinstance(r.event, ClusterFormed) for r in wish)
    first, event = given[0]
    model = event.embedding_model
    effect = f"made with {model}" + (f", {count(formed, 'cluster')} formed" if formed else "")
    facts = {"thoughts": len(given), "model": model, "clusters": formed}
    return first, Entry(f"vectors of {count(len(given), 'thought')}", effect, facts)


# sessions


def _started(book: Book, _: Recorded, event: SessionStarted) -> Entry:
    book.title = event.title
    model = event.config.get("model")
    return Entry(event.title, f"began with {model}", {"title": event.title, "model": model})


def _forked(book: Book, recorded: Recorded, event: SessionForked) -> Entry:
    if book.run is not None:  # it goes on in the parent, out of sight
        book.settle(book.run.position, book.run.told("left behind by this branch"))
        book.run = None
    return branch(recorded, event)


def _labelled(_: Book, __: Recorded, event: SessionLabelled) -> Entry:
    facts = {"label": event.label, "names": event.version}
    return Entry(f"@{event.label}", f"names event {event.version}", facts)


def _renamed(book: Book, _: Recorded, event: SessionRenamed) -> Entry:
    before, book.title = book.title, event.title
    return Entry(event.title, f"was {before}", {"before": before, "title": event.title})


def _archived(_: Book, __: Recorded, event: SessionArchived) -> Entry:
    return Entry(event.reason or "", "hidden from lists", {"reason": event.reason})


def _restored(_: Book, __: Recorded, ___: SessionRestored) -> Entry:
    return Entry("undo", "back in lists", {})


def _replayed(_: Book, recorded: Recorded, event: ReplayBegun) -> Entry:
    facts = {"source": event.source, "after": event.after, "upto": event.upto}
    return Entry(summary(event), f"lived again in {recorded.session}", facts)


def _configured(_: Book, __: Recorded, event: ConfigChanged) -> Entry:
    old, new = ("off" if value is None else str(value) for value in (event.old, event.new))
    facts = {"key": event.key, "old": event.old, "new": event.new}
    return Entry(event.key, f"{old} → {new}", facts)


def _redacted(_: Book, __: Recorded, event: EventRedacted) -> Entry:
    facts = {"event": event.version, "was": event.what, "reason": event.reason}
    what = f"event {event.version} ({event.what})"
    return Entry(what, f"content taken away: {event.reason}", facts)


def _noted(_: Book, __: Recorded, event: NoteAdded) -> Entry:
    about = f"about {', '.join(map(str, event.about))}" if event.about else ""
    return Entry(event.text, about, {"about": list(event.about)})


# the dialogue


def _asked(book: Book, recorded: Recorded, event: MessageSent) -> Entry:
    book.question = Question(recorded.position, recorded.version, recorded.at)
    book.drafts = {}
    return Entry(summary(event), None, {"exchange": event.exchange, **_source(event)})


def _drafted(book: Book, recorded: Recorded, event: DraftEmitted) -> Entry | None:
    if not event.late:
        book.drafts[event.index] = Offered(recorded.at, event.repeats)
    if event.source is not None:
        facts = {"exchange": event.exchange, "index": event.index, **_source(event)}
        return Entry(summary(event), f"a draft of {event.exchange}", facts)
    if book.run is not None:
        book.run = book.run._replace(drafts=book.run.drafts + 1)
    return None


def _seen(book: Book, recorded: Recorded, event: DraftSeen) -> Entry:
    known = [index for index in event.indexes if index in book.drafts]
    waits = {index: seconds(recorded.at - book.drafts[index].at) for index in known}
    effect = ""
    if waits:
        low, high = span(min(waits.values())), span(max(waits.values()))
        after = low if low == high else f"{low} to {high}"
        when = f"{after} after" if max(waits.values()) else "as"
        effect = f"{when} {'it' if len(waits) == 1 else 'they'} appeared"
    drafts = [{"index": index, "seconds": waits.get(index)} for index in event.indexes]
    return Entry(summary(event), effect, {"exchange": event.exchange, "drafts": drafts})


def _accepted(book: Book, recorded: Recorded, event: DraftAccepted) -> Entry:
    question, drafts, draft = book.question, len(book.drafts), book.drafts.get(event.index)
    repeats = draft.repeats if draft is not None else None
    facts: Facts = {"exchange": event.exchange, "index": event.index, "by": event.by}
    facts |= {"drafts": drafts, "repeats": repeats}
    effect = f"one of {drafts} drafts" if drafts > 1 else "the only draft"
    effect += f", repeats #{repeats}" if repeats else ""
    if question is not None:
        facts["seconds"] = seconds(recorded.at - question.at)
        effect += f"; closed {event.exchange} after {span(facts['seconds'])}"
        book.settle(question.position, question.told(drafts, event.index, recorded.at))
    book.question = None
    return Entry(summary(event), effect, facts)


def _pruned(_: Book, __: Recorded, event: ExchangesPruned) -> Entry:
    hidden = f"hidden from the mind: {', '.join(event.exchanges)}"
    return Entry(
        count(len(event.exchanges), "exchange"), hidden, {"exchanges": list(event.exchanges)}
    )


# the mind, and those who reach into it


def _thought(book: Book, recorded: Recorded, event: ThoughtAdded) -> Entry | None:
    if event.origin == "mind":
        if book.run is not None:
            book.run = book.run._replace(thoughts=book.run.thoughts + 1)
        return None
    book.thoughts[recorded.version] = Shown(recorded.position)
    return Entry(summary(event), None, {"origin": event.origin, **_source(event)})


def _present_now(book: Book, recorded: Recorded, event: SignalChanged) -> Entry:
    before, book.presence = book.presence, _present(event.presence, event.status)
    book.signals = (*book.signals, Heard(recorded.position, recorded.version, before))
    facts = {"before": before, "presence": event.presence, "status": event.status}
    return Entry(summary(event), None, facts)


def _run_started(book: Book, recorded: Recorded, event: RunStarted) -> Entry:
    book.run = Tally(recorded.position, recorded.version, event.run, event.mode)
    facts = {"mode": event.mode, "limit": event.limit, "exact": event.exact}
    return Entry(f"began: {summary(event)}", None, facts)


def _run_stopped(book: Book, _: Recorded, event: RunStopped) -> Entry:
    facts: Facts = {"reason": event.reason, "detail": event.detail, "run": None}
    run, effect = book.run, ""
    if run is not None and run.run == event.run:
        facts["run"], effect = run.version, f"ended the run of event {run.version}"
        end = "lost" if event.reason == "lost" else f"stopped: {event.reason}"
        book.settle(run.position, run.told(end))
        book.run = None
    return Entry(f"stopped: {summary(event)}", effect, facts)


def _invoked(book: Book, _: Recorded, event: MindInvoked) -> None:
    """The mind looked at the session as it stood at ``based_on``: what came later, it has not seen.

    Who looks at an old state (a call was under way) does not see the newest message or signal.
    """
    if book.question is not None and event.based_on >= book.question.version:
        book.question = book.question._replace(iterations=book.question.iterations + 1)
    if book.run is not None:
        book.run = book.run.after(event)
    back = {version for version, _, _ in event.recalled}
    for version in event.sampled:
        shown = book.thoughts.get(version)
        if shown is not None:
            book.thoughts[version] = shown.by(event.iteration, recalled=version in back)
    past = [signal for signal in book.signals if signal.version <= event.based_on]
    if past:
        for signal in past[:-1]:
            book.settle(signal.position, signal.told())
        book.signals = (past[-1].by(event.iteration), *book.signals[len(past) :])


def _nothing(_: Book, __: Recorded, ___: Event) -> None:
    """It is the mind's own, or follows from what others did."""


def _source(event: MessageSent | DraftEmitted | ThoughtAdded) -> Facts:
    source = event.source
    return {} if source is None else {"source": f"{source.session}@{source.version}"}


def _present(presence: str, status: str) -> str:
    return f"{presence}, “{status}”" if status else presence


_ENTRIES: dict[type[Event], Callable[[Book, Recorded, Any], Entry | None]] = {
    SessionStarted: _started,
    SessionForked: _forked,
    SessionLabelled: _labelled,
    SessionRenamed: _renamed,
    SessionArchived: _archived,
    SessionRestored: _restored,
    ReplayBegun: _replayed,
    ConfigChanged: _configured,
    MessageSent: _asked,
    ExchangesPruned: _pruned,
    ToolUsed: _nothing,
    DraftEmitted: _drafted,
    DraftSeen: _seen,
    DraftAccepted: _accepted,
    MindInvoked: _invoked,
    ThoughtAdded: _thought,
    ThoughtEmbedded: _nothing,
    ThoughtClustered: _nothing,
    ClusterFormed: _nothing,
    ClusterMerged: _nothing,
    ClusterSplit: _nothing,
    ClusteringCalibrated: _nothing,
    MindSignalled: _nothing,
    SignalChanged: _present_now,
    NoteAdded: _noted,
    **ENTRIES,
    RunStarted: _run_started,
    RunStopped: _run_stopped,
    EventRedacted: _redacted,
}
