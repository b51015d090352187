"""Working on one effort in a branch of its own, and bringing back what came of it.

The branch inherits the whole history by reference, but its mind is shown the effort's thread
alone. Efforts that are opened there are parts of it, and can have branches in turn.
"""

from collections.abc import Iterator
from typing import NamedTuple

from commands.artifacts.about import About
from commands.artifacts.efforts import resolution_events
from commands.command import Command, Decision
from commands.forks import fork_session
from commands.handle import handle
from commands.world import World
from domain.artifacts import Artifact
from domain.errors import NoSuchArtifact, Refused
from domain.events import (
    EffortBranched,
    EffortFocused,
    Event,
    EventNoted,
    FactLearned,
    Source,
)
from domain.ids import SessionId, session_id
from domain.log import Log
from domain.session import Session

_LONGEST_NAME = 80


class Working(NamedTuple):
    """A branch in which one effort is worked on."""

    session: SessionId
    effort: Artifact
    began: bool
    """Whether it was opened just now."""


class BroughtBack(NamedTuple):
    """What came of the work in a branch, in the session that it branched off."""

    session: SessionId
    effort: int
    events: tuple[Event, ...]
    """None of them where the session had it all already."""


class BranchEffort(Command):
    """Note that a branch works on an effort."""

    effort: int
    branch: str

    def decide(self, session: Session) -> Decision:
        """The branch, unless it is known."""
        artifact = session.shelf.get(self.effort)
        if artifact is not None and artifact.branch != self.branch:
            yield EffortBranched(effort=self.effort, branch=self.branch)


class TakeBack(About):
    """Take over what came of an effort that was worked on in a branch: its end, what it taught."""

    effort: int
    resolution: str
    outcome: str
    ended: Source
    """The event that resolved it there."""
    found: tuple[FactLearned | EventNoted, ...] = ()

    def decide(self, session: Session) -> Decision:
        """The resolution and the facts, each saying where it came from; what is known is not."""
        artifact = session.shelf.get(self.effort)
        known = {a.text for a in session.shelf.artifacts if a.type != "effort"}
        for event in self.found:
            text = event.statement if isinstance(event, FactLearned) else event.what
            if text not in known:
                yield event
        if artifact is None or artifact.is_open:
            yield from resolution_events(
                session,
                self.effort,
                self.resolution,
                outcome=self.outcome,  # type: ignore[arg-type]  # as it was recorded there
                source=self.ended,
                known=self.known,
            )


def work_on(
    log: Log, session: SessionId, effort: int, world: World, *, name: str | None = None
) -> Working:
    """Open a branch for an effort, or go back to the one that there is.

    Args:
        log: where they live.
        session: which session has the effort.
        effort: its id.
        world: time, chance and the present user.
        name: what the branch is to be called.

    Raises:
        NoSuchArtifact: no such effort lies on the shelf.
        Refused: it is resolved, or no effort.
        SessionExists, BadName: the branch can't be called that.
    """
    state = log.state(session)
    artifact = state.shelf.get(effort)
    if artifact is None:
        raise NoSuchArtifact(effort)
    if artifact.type != "effort" or not artifact.is_open:
        raise Refused(
            f"{artifact.type.capitalize()} {effort} is nothing to work on: name an open effort"
            f" (mind effort list), or reopen it (mind effort reopen {effort})."
        )
    if state.shelf.focus == effort:
        return Working(session, artifact, began=False)
    wanted = session_id(name) if name else _named(session, effort)
    for branch in (artifact.branch, wanted):
        if branch is not None and _works_on(log, SessionId(branch), effort):
            _noted(log, session, effort, SessionId(branch), world)
            return Working(SessionId(branch), artifact, began=False)
    focused = EffortFocused(effort=effort)
    reason = f"work on effort {effort}"
    fork_session(log, session, state.version, wanted, world, reason=reason, then=[focused])
    _noted(log, session, effort, wanted, world)
    return Working(wanted, artifact, began=True)


def bring_back(log: Log, branch: SessionId, world: World) -> BroughtBack | None:
    """Record in the session that it branched off what came of the effort of a branch.

    Returns:
        None where this is no branch of an effort, or the effort goes on.
    """
    focus = log.state(branch).shelf.focus
    path = log.path(branch)
    if focus is None or len(path) < 2:
        return None
    began = log.newest(branch, ["effort.focused"])
    if began is None or began.session != branch:
        return None  # a branch of such a branch: what comes of that is its own
    ended = None
    for recorded in log.read(branch, after=began.version, kinds=["effort.resolved"]):
        if getattr(recorded.event, "effort", None) == focus:
            ended = recorded
    artifact = log.state(branch).shelf.get(focus)
    if ended is None or artifact is None or artifact.is_open:
        return None
    parent = path[1].stream
    wish = TakeBack(
        effort=focus,
        resolution=artifact.resolution or "",
        outcome=artifact.outcome or "done",
        ended=_source(log, branch, ended.version),
        found=tuple(_found(log, branch, began.version)),
    )
    done = handle(log, parent, wish, world)
    return BroughtBack(parent, focus, done.events)


def _found(log: Log, branch: SessionId, after: int) -> Iterator[FactLearned | EventNoted]:
    """The facts and events of a branch that still hold, as the session will have them."""
    shelf = log.state(branch).shelf
    for recorded in log.read(branch, after=after, kinds=["fact.learned", "event.noted"]):
        event, artifact = recorded.event, shelf.get(recorded.version)
        if artifact is None or artifact.excluded:
            continue
        there = {"messages": (), "source": _source(log, branch, recorded.version)}
        if isinstance(event, FactLearned):
            words = {"statement": artifact.text, "effort": shelf.focus}
            yield event.model_copy(update={**there, **words})
        elif isinstance(event, EventNoted):
            yield event.model_copy(update={**there, "what": artifact.text})


def _source(log: Log, session: SessionId, version: int) -> Source:
    return Source(session, version, log.head(session, version).hash)


def _noted(log: Log, session: SessionId, effort: int, branch: SessionId, world: World) -> None:
    handle(log, session, BranchEffort(effort=effort, branch=branch), world)


def _works_on(log: Log, branch: SessionId, effort: int) -> bool:
    return log.exists(branch) and log.state(branch).shelf.focus == effort


def _named(session: SessionId, effort: int) -> SessionId:
    """``payments/effort-412``; of a long name, its beginning."""
    ending = f"/effort-{effort}"
    return session_id(session[: _LONGEST_NAME - len(ending)].rstrip("-._/") + ending)
