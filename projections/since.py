"""What a session did behind a moment, gathered in one pass over just those events."""

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from domain.ancestry import Point
from domain.config import Config
from domain.events import (
    EVENTS,
    ConfigChanged,
    DraftAccepted,
    DraftEmitted,
    Event,
    MessageSent,
    MindInvoked,
    SessionStarted,
    Source,
    ThoughtAdded,
)
from domain.ids import ExchangeId
from domain.log import Log
from domain.recorded import Recorded

COUNTED = frozenset(
    {
        *("draft.seen", "mind.signalled", "thought.embedded", "thought.clustered"),
        *("clustering.calibrated", "run.started", "run.stopped", "tool.used"),
        *("detector.invoked", "exchange.routed", "context.compacted", "artifacts.evicted"),
        *("effort.expanded", "effort.collapsed", "effort.focused"),
    }
)
"""Kinds that are counted and not listed: they tell how the rest came about."""

_CHANGES = (*("edited", "merged", "rejected", "linked", "imported", "excluded", "recalled"),)

FAMILIES = {
    "cluster.formed": "clusters",
    "cluster.merged": "clusters",
    "cluster.split": "clusters",
    "signal.changed": "presence",
    "note.added": "notes",
    "exchanges.pruned": "pruned",
    "replay.begun": "session",
    "event.redacted": "redactions",
    "event.noted": "events",
    **dict.fromkeys(("effort.opened", "effort.resolved", "effort.reopened"), "efforts"),
    "effort.branched": "efforts",
    **dict.fromkeys(("fact.learned", "fact.superseded"), "facts"),
    **dict.fromkeys((f"artifact.{how}" for how in _CHANGES), "artifacts"),
}
"""Under which name an event is listed; any other under the first word of its kind."""


class Draft(NamedTuple):
    """A draft that is or could be an answer."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    version: int
    iteration: int
    text: str
    redacted: bool = False


class Course(NamedTuple):
    """How an exchange went, as one side sees it."""

    exchange: ExchangeId
    version: int
    """Of its question."""
    question: str
    redacted: bool = False
    """The question was taken away for good."""
    content: int = 0
    signals: int = 0
    late: int = 0
    """Drafts since the moment, by sort."""
    draft: Draft | None = None
    """The answer; while there is none, the newest draft that could become it."""
    accepted: int | None = None
    """The version of the acceptance; None while the exchange is open."""
    by: str | None = None
    """Who accepted: user or auto-accept."""


class Thought(NamedTuple):
    """A thought that entered the pool."""

    version: int
    iteration: int
    origin: str
    text: str
    redacted: bool


class Happened(NamedTuple):
    """An event that is told on its own."""

    version: int
    at: int
    """Microseconds since 1970, UTC."""
    event: Event
    redacted: bool


class Picked(NamedTuple):
    """An event that was brought here from another branch."""

    version: int
    kind: str
    source: Source


class Work(NamedTuple):
    """What the mind's work came to."""

    outcomes: dict[str, int]
    """How many iterations ended how: ok, skipped, unparseable, failed."""
    models: dict[str, int]
    """How many iterations each model had."""
    tokens_in: int
    tokens_out: int
    cost_usd: float
    """Sum of the known costs."""
    unknown_costs: int
    """Iterations whose cost nobody could say."""

    @property
    def iterations(self) -> int:
        """How often the mind was asked."""
        return sum(self.outcomes.values())


class Since(NamedTuple):
    """All that one session did behind a moment, up to another."""

    session: str
    version: int
    events: int
    """How many."""
    kinds: dict[str, int]
    courses: tuple[Course, ...]
    """Exchanges, in the order of their questions; the first may have been asked before."""
    asked: int
    """Questions among these events."""
    answered: int
    """Acceptances among these events."""
    content: int
    signals: int
    late: int
    """Drafts among these events, by sort."""
    thoughts: tuple[Thought, ...]
    settings: dict[str, tuple[Any, Any]]
    """Those that were set: the value before the first change, and the last one."""
    work: Work
    picked: tuple[Picked, ...]
    listed: dict[str, tuple[Happened, ...]]
    """Everything else, by family; see :data:`FAMILIES`."""


def opened(log: Log, moment: Point) -> Course | None:
    """The exchange that awaits its answer at a moment; found by index."""
    name, upto = moment
    asked = log.newest(name, ["message.sent"], upto=upto)
    if asked is None or not isinstance(asked.event, MessageSent):
        return None
    answered = log.newest(name, ["draft.accepted"], upto=upto)
    if answered is not None and answered.version > asked.version:
        return None
    drafts = log.read(
        name, after=asked.version, upto=upto, kinds=["draft.emitted"], newest_first=True, page=8
    )
    standing = next((draft for draft in map(_draft, drafts) if draft is not None), None)
    return Course(
        asked.event.exchange,
        asked.version,
        asked.event.text,
        redacted=asked.redacted,
        draft=standing,
    )


def since(log: Log, moment: Point, after: int, course: Course | None) -> Since:
    """What a session did in its events ``after < version <= moment.version``.

    Args:
        log: where it lives.
        moment: the session, and how far to look.
        after: the moment behind which to look.
        course: the exchange that was open there, see :func:`opened`.
    """
    pass_ = _Pass(log, moment, course)
    for recorded in log.read(moment.session, after=after, upto=moment.version):
        pass_.take(recorded)
    return pass_.told()


def _draft(recorded: Recorded) -> Draft | None:
    """The draft that an event is, if it could be an answer."""
    event = recorded.event
    if not isinstance(event, DraftEmitted) or event.signal or event.late:
        return None
    return Draft(event.index, recorded.version, event.iteration, event.text, recorded.redacted)


class _Pass:
    """Takes events one by one, oldest first."""

    def __init__(self, log: Log, moment: Point, course: Course | None) -> None:
        self._log, self._moment = log, moment
        self._courses: dict[ExchangeId, Course] = {course.exchange: course} if course else {}
        self._drafts: dict[tuple[ExchangeId, int], Draft] = {}  # of the newest exchange
        self._kinds = Counter[str]()
        self._sorts = Counter[str]()
        self._outcomes, self._models = Counter[str](), Counter[str]()
        self._tokens_in = self._tokens_out = self._unknown_costs = 0
        self._cost = 0.0
        self._thoughts: list[Thought] = []
        self._settings: dict[str, tuple[Any, Any]] = {}
        self._picked: list[Picked] = []
        self._listed = defaultdict[str, list[Happened]](list)

    def take(self, recorded: Recorded) -> None:
        """One more event."""
        event = recorded.event
        self._kinds[event.kind] += 1
        source = getattr(event, "source", None)
        if isinstance(source, Source):
            self._picked.append(Picked(recorded.version, event.kind, source))
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, recorded, event)
        if event.kind not in _TOLD_OTHERWISE:
            family = FAMILIES.get(event.kind) or event.kind.partition(".")[0]
            happened = Happened(recorded.version, recorded.at, event, recorded.redacted)
            self._listed[family].append(happened)

    def told(self) -> Since:
        """What they came to."""
        return Since(
            session=self._moment.session,
            version=self._moment.version,
            events=self._kinds.total(),
            kinds=dict(self._kinds),
            courses=tuple(self._courses.values()),
            asked=self._kinds["message.sent"],
            answered=self._kinds["draft.accepted"],
            content=self._sorts["content"],
            signals=self._sorts["signals"],
            late=self._sorts["late"],
            thoughts=tuple(self._thoughts),
            settings=self._settings,
            work=Work(
                dict(self._outcomes),
                dict(self._models),
                self._tokens_in,
                self._tokens_out,
                self._cost,
                self._unknown_costs,
            ),
            picked=tuple(self._picked),
            listed={family: tuple(events) for family, events in self._listed.items()},
        )

    def started(self, _: Recorded, event: SessionStarted) -> None:
        """Its settings are what all later ones are compared with."""
        config = Config.model_validate(event.config).model_dump()
        self._settings = {key: (None, value) for key, value in config.items()}

    def configured(self, _: Recorded, event: ConfigChanged) -> None:
        """A setting got another value."""
        first, _last = self._settings.get(event.key, (event.old, None))
        self._settings[event.key] = (first, event.new)

    def sent(self, recorded: Recorded, event: MessageSent) -> None:
        """An exchange begins."""
        self._drafts = {}
        self._courses[event.exchange] = Course(
            event.exchange, recorded.version, event.text, redacted=recorded.redacted
        )

    def drafted(self, recorded: Recorded, event: DraftEmitted) -> None:
        """A draft, on its exchange."""
        sort = "late" if event.late else "signals" if event.signal else "content"
        self._sorts[sort] += 1
        course = self._courses.get(event.exchange)
        if course is None:  # late, on an exchange that was closed before the moment
            return
        draft = _draft(recorded)
        if draft is not None:
            self._drafts[event.exchange, event.index] = draft
        counts: dict[str, Any] = {sort: getattr(course, sort) + 1}
        self._courses[event.exchange] = course._replace(draft=draft or course.draft, **counts)

    def accepted(self, recorded: Recorded, event: DraftAccepted) -> None:
        """An exchange has its answer."""
        course = self._courses.get(event.exchange)
        if course is None:
            return
        draft = self._drafts.get((event.exchange, event.index)) or self._earlier(recorded)
        self._courses[event.exchange] = course._replace(
            draft=draft, accepted=recorded.version, by=event.by
        )

    def _earlier(self, recorded: Recorded) -> Draft | None:
        """The accepted draft, where it was emitted before the moment."""
        cause = [recorded.cause] if recorded.cause is not None else []
        return next(map(_draft, self._log.pick(self._moment.session, cause)), None)

    def thought(self, recorded: Recorded, event: ThoughtAdded) -> None:
        """A thought."""
        self._thoughts.append(
            Thought(recorded.version, event.iteration, event.origin, event.text, recorded.redacted)
        )

    def invoked(self, _: Recorded, event: MindInvoked) -> None:
        """The mind was asked."""
        self._outcomes[event.outcome] += 1
        self._models[event.model] += 1
        self._tokens_in += event.tokens_in or 0
        self._tokens_out += event.tokens_out or 0
        self._cost += (event.cost_usd or 0.0) + (event.embedding_cost_usd or 0.0)
        self._unknown_costs += event.cost_usd is None


_HANDLERS: dict[type[Event], Callable[[_Pass, Recorded, Any], None]] = {
    SessionStarted: _Pass.started,
    ConfigChanged: _Pass.configured,
    MessageSent: _Pass.sent,
    DraftEmitted: _Pass.drafted,
    DraftAccepted: _Pass.accepted,
    ThoughtAdded: _Pass.thought,
    MindInvoked: _Pass.invoked,
}

_TOLD_OTHERWISE = COUNTED | {
    kind for kind, event in EVENTS.items() if event in _HANDLERS and event is not SessionStarted
}
"""Kinds that are not listed: a session's beginning is, its settings stand elsewhere as well."""
