"""Keeping the context small: what nobody speaks of leaves it, and what is old is summed up."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from commands.artifacts.compaction import conclusion, taken
from commands.command import Command, Decision
from domain.actors import SYSTEM
from domain.artifacts import MOST, Artifact
from domain.context import FRAME, RECENT, is_over
from domain.events import ArtifactsEvicted, ContextCompacted, EffortCollapsed, Event
from domain.ids import ExchangeId
from domain.session import Session
from domain.tokens import estimate

BATCH = 5
"""Exchanges that are at least summed up together: a summary of fewer saves little."""

NEAR = 0.8
"""The part of the room for history at which the oldest exchanges are summed up."""

CROWDED = MOST * 3 // 4
"""Artifacts on the shelf from which on those that nobody speaks of leave it before their time."""


class Loose(NamedTuple):
    """An accepted exchange that nothing stands for yet."""

    exchange: ExchangeId
    question: str
    answer: str
    effort: int | None = None


class Summary(NamedTuple):
    """What stands for some exchanges."""

    exchanges: tuple[Loose, ...]
    text: str


class KeepUp(Command):
    """Let leave what nobody speaks of, what was concluded, and what a summary stands for."""

    user_time: str
    """The user's local time, ISO 8601: what is over by then leaves."""
    loose: tuple[Loose, ...] = ()
    """Exchanges that nothing stood for."""
    summary: Summary | None = None

    def decide(self, session: Session) -> Decision:
        """What leaves the context now."""
        events = (
            *_concluded(session, self.loose),
            *_summed_up(session, self.summary),
            *_collapsed(session),
            *_evicted(session, self.user_time),
        )
        for event in events:
            yield event.because(session.version, by=SYSTEM)


def _concluded(session: Session, loose: Iterable[Loose]) -> Iterator[Event]:
    """What was still said of an effort when it had been resolved: that stands for it too."""
    shelf = session.shelf
    said: dict[int, list[Loose]] = {}
    for one in loose:
        effort = shelf.effort_of(one.exchange)
        if effort is not None and shelf.stands_for(one.exchange) is None:
            said.setdefault(effort, []).append(one)
    for effort, exchanges in said.items():
        artifact = shelf.get(effort)
        if artifact is not None and not artifact.is_open:
            before = sum(map(tokens_of, exchanges))
            yield conclusion(artifact, (one.exchange for one in exchanges), before)


def _summed_up(session: Session, summary: Summary | None) -> Iterator[Event]:
    shelf = session.shelf
    if summary is None or any(shelf.stands_for(o.exchange) is not None for o in summary.exchanges):
        return  # somebody else was faster: the summary is of other exchanges
    efforts = {one.effort for one in summary.exchanges}
    yield ContextCompacted(
        exchanges=tuple(one.exchange for one in summary.exchanges),
        effort=efforts.pop() if len(efforts) == 1 else None,
        summary=summary.text,
        how="extractive",
        tokens_before=sum(map(tokens_of, summary.exchanges)),
        tokens_after=estimate(summary.text) + FRAME,
    )


def unconcluded(session: Session, loose: Iterable[Loose]) -> list[Loose]:
    """Those that no artifact stands for, with the effort that they belong to, if that goes on."""
    shelf = session.shelf
    left = []
    for one in loose:
        effort = shelf.effort_of(one.exchange)
        artifact = shelf.get(effort) if effort is not None else None
        if shelf.stands_for(one.exchange) is None and (artifact is None or artifact.is_open):
            left.append(one._replace(effort=effort))
    return left


def crowded(session: Session, loose: Sequence[Loose]) -> tuple[Loose, ...]:
    """The exchanges that have to be summed up, oldest first; none while there is room.

    Args:
        session: the state.
        loose: all that nothing stands for, oldest first, the newest ones included.
    """
    old = loose[: max(0, len(loose) - RECENT)]
    if len(old) < BATCH:
        return ()
    config = session.config
    room = min(
        estimate(" " * config.history_display_chars), config.context_tokens - config.memory_tokens
    )
    said = sum(tokens_of(one) for one in loose)
    full = 2 * len(loose) > config.history_display_count or said > NEAR * room
    return tuple(old) if full else ()


def tokens_of(one: Loose) -> int:
    """About how many tokens an exchange takes in a prompt."""
    return taken(one.question, one.answer)


def loose_in(session: Session) -> list[Loose]:
    """The exchanges of the state that nothing stands for yet, oldest first."""
    shelf = session.shelf
    return [
        Loose(e.id, e.question, e.answer, shelf.effort_of(e.id))
        for e in session.dialogue.history
        if not e.pruned and e.answer is not None and shelf.stands_for(e.id) is None
    ]


def _collapsed(session: Session) -> Iterator[Event]:
    """Expanded efforts that nobody has spoken of for half the time that eviction takes."""
    shelf, patience = session.shelf, max(session.config.evict_after // 2, 1)
    for artifact in shelf.artifacts:
        if artifact.expanded and shelf.turn - artifact.referenced >= patience:
            yield EffortCollapsed(effort=artifact.id)


def _evicted(session: Session, user_time: str) -> Iterator[Event]:
    shelf, patience = session.shelf, session.config.evict_after
    leaving = [
        artifact
        for artifact in shelf.artifacts
        if not artifact.is_open
        and artifact.id != shelf.focus
        and (
            is_over(artifact, user_time)
            or (_passes(artifact) and shelf.turn - artifact.referenced >= patience)
        )
    ]
    left = len(shelf.artifacts) - len(leaving)
    if left > CROWDED:
        gone = {artifact.id for artifact in leaving}
        rest = [a for a in shelf.artifacts if a.id not in gone and not a.is_open]
        leaving += sorted(rest, key=lambda a: (a.referenced, a.id))[: left - CROWDED]
    if leaving:
        yield ArtifactsEvicted(artifacts=tuple(sorted(_ids(leaving))), turn=shelf.turn)


def _passes(artifact: Artifact) -> bool:
    """Whether it leaves when nobody speaks of it: what is to come stays until it is over."""
    return artifact.type in {"effort", "summary"} and not artifact.expanded


def _ids(artifacts: Iterable[Artifact]) -> Iterator[int]:
    return (artifact.id for artifact in artifacts)
