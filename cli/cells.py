"""Stores of several cells, each with an order of its own: in which of them something is done."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cli import output as out
from cli.wiring import Desk, current_session, switch_session
from commands.eventlog import EventLog
from commands.eventlog.place import Place, prepared
from domain.errors import NoSuchSession
from domain.ids import SessionId, session_id
from domain.reach import Away
from domain.server_errors import StoreIsUnreachable

if TYPE_CHECKING:
    from projections.search.ask import Searcher
    from projections.search.hit import Hit, Kind, Scope, Vectors


@contextmanager
def in_cell(log: EventLog, session: SessionId, what: str = "") -> Iterator[EventLog]:
    """A log of which all has one order: that of a session's cell, where the store has several.

    Args:
        log: of the store.
        session: which.
        what: what that cell alone is, such as "asked", where the answer may lack something so.
    """
    place = log.place_of(session)
    if place == log.place:
        yield log
        return
    if what:
        _tell(place, session, what)
    with EventLog(place) as one:
        yield one


@contextmanager
def at_its_cell(at: Desk) -> Iterator[Desk]:
    """The same desk in the cell of its session: what is asked there is about this session alone."""
    with in_cell(at.log, at.session) as log:
        yield at._replace(directory=log.place.home, log=log)


def place_to_follow(store: Place, session: str | None, what: str) -> Place:
    """Where new events can be told as they come: the cell of the session that is worked on.

    Args:
        store: the whole.
        session: which; the current one if None, which it will be in that cell as well.
        what: what that cell alone is, such as "served".
    """
    if store.url is None or store.address.cell is not None:
        return store
    with EventLog(store) as log:
        try:
            chosen = session_id(session) if session else current_session(log.place.home, log)
        except NoSuchSession:
            return store
        place = log.place_of(chosen)
        if place == log.place:
            return store
    _tell(place, chosen, what)
    switch_session(prepared(place).home, chosen)
    return place


def _tell(place: Place, session: SessionId, what: str) -> None:
    cell = place.address.cell
    out.talk(out.safe(f"Only the cell {cell} is {what}: {session} is there."))


def answering(log: EventLog) -> tuple[list[Place], Sequence[Away]]:
    """The parts of a store that have an order each, and which of them do not answer."""
    places = log.places()
    if len(places) == 1:
        return places, ()
    away = log.reached("session").away
    silent = {one.cell for one in away}
    return [place for place in places if place.address.cell not in silent], away


class Searching:
    """Searches one cell after the other."""

    def __init__(self, each: "Sequence[Searcher]", away: Sequence[Away]) -> None:
        self._each = each
        self.away = away
        """What is not searched."""

    def search(
        self, text: str, *, scope: "Scope", kinds: "Collection[Kind]" = (), limit: int
    ) -> "list[Hit]":
        """The best hits of all cells: each ranks its own, and the ranks are compared."""
        found = [
            hit
            for one in self._each
            for hit in one.search(text, scope=scope, kinds=kinds, limit=limit)
        ]
        if len(self._each) > 1:
            found.sort(key=lambda hit: (-hit.score, -(hit.similarity or 0.0)))
        return found[:limit]

    def make_vectors(self) -> int:
        """Give all texts their vectors; how many have none yet."""
        return sum(one.make_vectors() for one in self._each)


@contextmanager
def searching(
    log: EventLog,
    scope: "Scope",
    vectors: "Vectors | None",
    *,
    on_remark: Callable[[str], object],
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Searching]:
    """What searches a scope: the cell of a session, or all that answer.

    Raises:
        StoreIsUnreachable: the one that is needed does not answer.
    """
    from projections.search.ask import Searcher  # noqa: PLC0415 — brings numpy along
    from projections.search.hit import Branch  # noqa: PLC0415 — as above

    away: Sequence[Away] = ()
    if isinstance(scope, Branch):
        places = [log.place_of(scope.session)]
    else:
        places, away = answering(log)
    with ExitStack() as stack:
        logs = [
            log if place == log.place else stack.enter_context(EventLog(place)) for place in places
        ]
        yield Searching(
            [
                stack.enter_context(
                    Searcher(one, one.place.home, vectors, on_remark=on_remark, progress=progress)
                )
                for one in logs
            ],
            away,
        )


def forget_caches(log: EventLog) -> bool:
    """Leave nothing of what was redacted in what is kept on this machine; whether that came about.

    Raises:
        OSError: nothing can be written there.
    """
    places, away = answering(log)
    gone = [_forget(log, log.place.home)]
    # who looks there next finds out
    gone += [not log.place.with_options(cell=one.cell).home.exists() for one in away]
    for place in places:
        if place == log.place or not place.home.exists():
            continue
        try:
            with EventLog(place) as one:
                gone += [_forget(one, place.home), one.forget()]
        except StoreIsUnreachable:  # as above
            gone.append(False)
    return all(gone)


def _forget(log: EventLog, directory: Path) -> bool:
    from projections.analytics.place import forget  # noqa: PLC0415 — rarely needed
    from projections.search.index import forget as forget_texts  # noqa: PLC0415 — as above

    return all((forget(directory), forget_texts(log, directory)))
