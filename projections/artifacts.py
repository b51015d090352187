"""The catalogue: every artifact that a session sees, what became of it, by whom, and from where."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from domain.artifacts import Shelf
from domain.errors import NoSuchArtifact
from domain.events import (
    ArtifactEdited,
    ArtifactImported,
    ArtifactLinked,
    ArtifactMerged,
    ContextCompacted,
    EffortOpened,
    EffortReopened,
    EffortResolved,
    Event,
    EventNoted,
    ExchangeRouted,
    FactLearned,
    Source,
)
from domain.ids import ExchangeId, SessionId
from domain.lives import LIVES, Left, Life, live, lives, touched
from domain.log import Log
from domain.recorded import Recorded
from projections.causes import Told, picked, told


class Link(NamedTuple):
    """Two artifacts have to do with each other."""

    artifact: int
    relation: str
    to: int
    version: int


class Away(NamedTuple):
    """The origin of an artifact that was imported."""

    session: str
    version: int
    """Of the event that brought it there: its name there."""
    as_of: int
    """The version of that session that its words here are of."""
    follow: bool
    here: bool
    """Whether that session is in this store."""
    moved_on: bool
    """Whether it has changed there since."""
    now: str | None
    """What it says there now, where that can be read."""


class Item(NamedTuple):
    """An artifact."""

    id: int
    session: SessionId
    """The branch whose stream holds the event that brought it."""
    at: int
    """When it came, microseconds since 1970, UTC."""
    type: str
    text: str
    status: str
    """Open, resolved or current."""
    outcome: str | None
    resolution: str | None
    left: Left | None
    """How it left the context; None where it may be shown."""
    instead: int | None
    """The artifact that superseded it, or that it was merged into."""
    excluded: bool
    expanded: bool
    when: str | None
    expires: str | None
    parent: int | None
    parts: tuple[int, ...]
    """What says that it is a part of this, or was learned in it."""
    supersedes: tuple[int, ...]
    merged: tuple[int, ...]
    """What was merged into it."""
    links: tuple[Link, ...]
    found_by: str
    """``user``, ``model`` or ``rules``."""
    messages: tuple[int, ...]
    """Versions of the messages and drafts that it came from, or that it was told in what became
    of it."""
    exchanges: tuple[ExchangeId, ...]
    """Of an effort those that belong to it, of a summary those that it stands for."""
    branch: str | None
    """The session in which this effort is worked on alone."""
    origin: Away | None
    orphan: str | None
    """Why nothing holds it any more, if that is so."""
    redacted: bool
    """Whether the event that brought it was redacted."""
    history: tuple[Told, ...]
    """All that happened to it, oldest first."""

    @property
    def standing(self) -> str:
        """How it stands, in one word."""
        return self.left or ("excluded" if self.excluded else self.status)

    @property
    def holds(self) -> bool:
        """Whether it was neither superseded nor merged nor rejected."""
        return self.left in {None, "evicted"}


class Catalogue:
    """The artifacts of a session as of a moment, by id, oldest first."""

    def __init__(self, items: dict[int, Item]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    def get(self, id_: int) -> Item:
        """The artifact of that id.

        Raises:
            NoSuchArtifact: there is none.
        """
        if id_ not in self._items:
            raise NoSuchArtifact(id_)
        return self._items[id_]

    def find(self, id_: int | None) -> Item | None:
        """The artifact of that id, if there is one."""
        return self._items.get(id_) if id_ is not None else None

    def orphans(self) -> list[Item]:
        """Those that nothing holds any more."""
        return [item for item in self if item.orphan is not None]


def catalogue(log: Log, session: SessionId, upto: int | None = None) -> Catalogue:
    """Every artifact that a session sees, now or as of a version.

    Reads the events that tell of artifacts, once, and those of sessions that some were imported
    from.

    Raises:
        NoSuchSession, NoSuchMoment: there is no such session, or version.
    """
    book = _Book(log.state(session, upto).shelf)
    for recorded in log.read(session, upto=upto, kinds=LIVES):
        book.take(recorded)
    return Catalogue(book.items(_Origins(log, book.sources.values())))


class _Book:
    """What the events told so far."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.lives: dict[int, Life] = {}
        self.brought: dict[int, Recorded] = {}
        self.history: dict[int, list[Told]] = {}
        self.messages: dict[int, list[int]] = {}
        self.links: list[Link] = []
        self.sources: dict[int, tuple[Source, int, bool]] = {}
        """Of imported ones: the event there, as of when it was read, whether it is followed."""
        self.places: dict[ExchangeId, int | None] = {}
        """Which effort an exchange belongs to."""
        self.summed: dict[int, tuple[ExchangeId, ...]] = {}

    def take(self, recorded: Recorded) -> None:
        """One more event."""
        event, version = recorded.event, recorded.version
        live(self.lives, event, version)
        about = touched(event)
        if version in self.lives:
            self.brought[version] = recorded
            about = (version, *about)
        for id_ in dict.fromkeys(about):
            # where exchanges belong is told by the exchanges themselves
            if id_ in self.lives and not isinstance(event, ExchangeRouted):
                self.history.setdefault(id_, []).append(told(recorded))
        if isinstance(event, ArtifactLinked):
            self.links.append(Link(event.artifact, event.relation, event.to, version))
        self._place(event, version)
        self._source(event, version)

    def _place(self, event: Event, version: int) -> None:
        """Where exchanges belong."""
        match event:
            case EffortOpened(exchange=exchange) if exchange is not None:
                self.places[exchange] = version
            case ExchangeRouted(exchange=exchange, effort=effort):
                self.places[exchange] = effort
            case ContextCompacted(exchanges=exchanges, summary=summary) if summary is not None:
                self.summed[version] = exchanges
            case ArtifactMerged(artifact=artifact, into=into):
                for exchange, effort in self.places.items():
                    if effort == artifact:
                        self.places[exchange] = into

    def _source(self, event: Event, version: int) -> None:
        """Where artifacts came from, and as of when."""
        match event:
            case EffortOpened() | FactLearned() | EventNoted():
                self.messages[version] = list(event.messages)
                source = getattr(event, "source", None)
                if isinstance(source, Source):  # brought back from the branch of an effort
                    self.sources[version] = (source, source.version, False)
            case EffortResolved() | EffortReopened():
                self.messages.setdefault(event.effort, []).extend(event.messages)
            case ArtifactImported():
                self.sources[version] = (event.source, event.as_of, event.follow)
            case ArtifactEdited(artifact=artifact, source=Source() as moment):
                if artifact in self.sources:
                    source, as_of, _ = self.sources[artifact]
                    self.sources[artifact] = (source, max(as_of, moment.version), True)

    def items(self, origins: "_Origins") -> dict[int, Item]:
        """All artifacts with all that was told."""
        about = _About(self)
        return {id_: self._item(id_, about, origins) for id_ in self.lives}

    def _item(self, id_: int, about: "_About", origins: "_Origins") -> Item:
        life, brought = self.lives[id_], self.brought[id_]
        artifact = life.artifact
        pushed_off = life.left is None and self.shelf.get(id_) is None
        return Item(
            id=id_,
            session=brought.session,
            at=brought.at,
            type=artifact.type,
            text=artifact.text,
            status=artifact.status,
            outcome=artifact.outcome,
            resolution=artifact.resolution,
            left="evicted" if pushed_off else life.left,
            instead=life.instead,
            excluded=artifact.excluded,
            expanded=artifact.expanded,
            when=artifact.when,
            expires=artifact.expires,
            parent=artifact.parent,
            parts=tuple(about.parts[id_]),
            supersedes=tuple(about.supersedes[id_]),
            merged=tuple(about.merged[id_]),
            links=tuple(about.links[id_]),
            found_by=_finder(brought.event),
            messages=tuple(dict.fromkeys(self.messages.get(id_, ()))),
            exchanges=self.summed.get(id_) or tuple(about.exchanges[id_]),
            branch=artifact.branch,
            origin=origins.of(self.sources.get(id_)),
            orphan=self._orphan(life),
            redacted=brought.redacted,
            history=tuple(self.history.get(id_, ())),
        )

    def _orphan(self, life: Life) -> str | None:
        """Why nothing holds an artifact that holds itself."""
        if life.left in {"superseded", "merged", "rejected"}:
            other = self.lives.get(life.instead) if life.instead is not None else None
            if life.left == "rejected" or other is None or other.left != "rejected":
                return None
            return f"{other.artifact.id}, by which it was {life.left}, was rejected"
        parent = life.artifact.parent
        if parent is None:
            return None
        whole = self.lives.get(parent)
        if whole is None or whole.left == "rejected":
            gone = "was rejected" if whole else "is not there"
            return f"effort {parent}, which it is part of, {gone}"
        return None


class _About:
    """Who says what of whom, the other way around."""

    def __init__(self, book: _Book) -> None:
        self.parts = defaultdict[int, list[int]](list)
        self.supersedes = defaultdict[int, list[int]](list)
        self.merged = defaultdict[int, list[int]](list)
        self.links = defaultdict[int, list[Link]](list)
        self.exchanges = defaultdict[int, list[ExchangeId]](list)
        for id_, life in book.lives.items():
            if life.artifact.parent is not None and life.artifact.parent != id_:
                self.parts[life.artifact.parent].append(id_)
            if life.instead is not None:
                stands = self.merged if life.left == "merged" else self.supersedes
                stands[life.instead].append(id_)
        for link in dict.fromkeys(book.links):
            self.links[link.artifact].append(link)
            self.links[link.to].append(link)
        # of the newest exchanges the state knows more: in the branch of an effort all are its own
        places = book.places | {place.exchange: place.effort for place in book.shelf.threads}
        for exchange, effort in places.items():
            if effort is not None:
                self.exchanges[effort].append(exchange)


class _Origins:
    """Artifacts of other sessions as they are there by now."""

    def __init__(self, log: Log, sources: Iterable[tuple[Source, int, bool]]) -> None:
        self._log = log
        self._first: dict[str, int] = {}
        for source, _, _ in sources:
            known = self._first.get(source.session, source.version)
            self._first[source.session] = min(known, source.version)
        self._lives: dict[str, dict[int, Life]] = {}

    def of(self, imported: tuple[Source, int, bool] | None) -> Away | None:
        """The origin of an artifact, if it was imported."""
        if imported is None:
            return None
        source, as_of, follow = imported
        found = picked(self._log, source)
        life = self._there(source.session).get(source.version) if found and found.here else None
        moved_on = life is not None and life.changed > as_of
        now = _worded(life) if life is not None else None
        here = found is not None and found.here
        return Away(source.session, source.version, as_of, follow, here, moved_on, now)

    def _there(self, session: str) -> dict[int, Life]:
        if session not in self._lives:
            after = self._first[session] - 1
            events = self._log.read(SessionId(session), after=after, kinds=LIVES)
            self._lives[session] = lives(events)
        return self._lives[session]


def _finder(event: Event) -> str:
    if isinstance(event, ContextCompacted):
        return "rules"
    found_by: str = getattr(event, "found_by", "user")
    return found_by


def _worded(life: Life) -> str:
    """What an artifact says, and whether it still holds."""
    artifact = life.artifact
    ended = f" => {artifact.resolution}" if artifact.resolution is not None else ""
    left = f" ({life.left})" if life.left not in {None, "evicted"} else ""
    return f"{artifact.text}{ended}{left}"
