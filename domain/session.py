"""The state a command decides by: small states side by side, folded from events.

It is bounded: the newest drafts and exchanges, the active pool, counters. Whatever is older is
read from the log when somebody asks. States are named tuples: immutable, cheap to change, and a
snapshot of them is plain msgpack.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, cast

from domain import artifacts, dialogue, pool, presence, runs
from domain.artifacts import Shelf
from domain.config import Config
from domain.dialogue import Dialogue
from domain.events import (
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
from domain.ids import CommandId, SessionId
from domain.pool import Pool
from domain.presence import Attention
from domain.recorded import Recorded
from domain.runs import Work

COMMANDS_KEPT = 32

Changes = dict[str, Any]
"""Fields of a :class:`Session` at their new values."""


class Session(NamedTuple):
    """Everything one moment of a session is."""

    id: SessionId
    title: str
    protocol: str
    seed: int
    config: Config
    version: int = 0
    at: int = 0
    """When the newest event happened, µs since 1970."""
    iteration: int = 0
    """How many times the mind has been invoked."""
    dialogue: Dialogue = Dialogue()
    pool: Pool = Pool()
    attention: Attention = Attention()
    work: Work = Work()
    shelf: Shelf = Shelf()
    commands: tuple[CommandId, ...] = ()
    """The newest wishes that were carried out: none is carried out twice."""
    archived: bool = False
    """Put away: hidden from lists."""

    @property
    def upcoming(self) -> int:
        """The iteration that sees first what happens now."""
        return self.iteration + 1


_PLACE = {name: place for place, name in enumerate(Session._fields)}

SHAPE = 4
"""Raised whenever a field of a state changes: snapshots of another shape are not read."""


def evolve(session: Session | None, recorded: Recorded) -> Session:
    """The state after one more event. Never reads a clock, never changes its input."""
    event = recorded.event
    if session is None:
        if not isinstance(event, SessionStarted):
            raise ValueError(f"a history can't begin with {event.kind}")
        config = Config.model_validate(event.config)
        session = Session(recorded.session, event.title, event.protocol, event.seed, config)
        changes: Changes = {}
    else:
        changes = _EVOLVE[type(event)](session, recorded)
    known = session.commands
    if not known or known[-1] != recorded.command:
        changes["commands"] = (*known[1 - COMMANDS_KEPT :], recorded.command)
    changes["version"], changes["at"] = recorded.version, recorded.at
    values = list(session)  # half the time of _replace, once per event of every replay
    for name, value in changes.items():
        values[_PLACE[name]] = value
    return Session._make(values)


def fold(events: Iterable[Recorded], session: Session | None = None) -> Session | None:
    """The state after all of these."""
    for recorded in events:
        session = evolve(session, recorded)
    return session


# What each event changes: the parts of the state that are new.


def _forked(session: Session, recorded: Recorded) -> Changes:
    # the branch is nobody's run and is looked at, whatever its parent was at the fork point
    return {
        "id": recorded.session,
        "work": session.work._replace(run=None),
        "archived": False,
    }


def _renamed(_: Session, recorded: Recorded) -> Changes:
    event = cast("SessionRenamed", recorded.event)
    return {"title": event.title}


def _archived(_: Session, __: Recorded) -> Changes:
    return {"archived": True}


def _restored(_: Session, __: Recorded) -> Changes:
    return {"archived": False}


def _configured(session: Session, recorded: Recorded) -> Changes:
    event = cast("ConfigChanged", recorded.event)
    config = Config.model_validate({**session.config.model_dump(), event.key: event.new})
    kept = pool.resized(session.pool, config.active_pool_size)
    if event.key == "embedding_model":
        kept = pool.unembedded(kept)
    return {"config": config, "pool": kept}


def _message(session: Session, recorded: Recorded) -> Changes:
    event = cast("MessageSent", recorded.event)
    return {
        "dialogue": dialogue.sent(session.dialogue, event, recorded.version),
        "shelf": artifacts.sent(session.shelf, event),
        "work": session.work._replace(consecutive_hard=0),
    }


def _draft(session: Session, recorded: Recorded) -> Changes:
    event = cast("DraftEmitted", recorded.event)
    return {
        "dialogue": dialogue.emitted(session.dialogue, event, recorded.version),
        "work": session.work if event.late else runs.drafted(session.work),
    }


def _seen(session: Session, recorded: Recorded) -> Changes:
    event = cast("DraftSeen", recorded.event)
    return {"dialogue": dialogue.seen(session.dialogue, event)}


def _accepted(session: Session, recorded: Recorded) -> Changes:
    event = cast("DraftAccepted", recorded.event)
    return {"dialogue": dialogue.accepted(session.dialogue, event, recorded.version)}


def _pruned(session: Session, recorded: Recorded) -> Changes:
    event = cast("ExchangesPruned", recorded.event)
    return {"dialogue": dialogue.pruned(session.dialogue, event)}


def _invoked(session: Session, recorded: Recorded) -> Changes:
    event = cast("MindInvoked", recorded.event)
    return {"iteration": event.iteration, "work": runs.invoked(session.work, event)}


def _thought(session: Session, recorded: Recorded) -> Changes:
    event = cast("ThoughtAdded", recorded.event)
    if recorded.redacted:
        return {"pool": pool.passed(session.pool)}
    size = session.config.active_pool_size
    return {"pool": pool.added(session.pool, event, recorded.version, size)}


def _embedded(session: Session, recorded: Recorded) -> Changes:
    event = cast("ThoughtEmbedded", recorded.event)
    return {"pool": pool.embedded(session.pool, event)}


def _clustered(session: Session, recorded: Recorded) -> Changes:
    event = cast("ThoughtClustered", recorded.event)
    return {"pool": pool.clustered(session.pool, event)}


def _gathered(session: Session, recorded: Recorded) -> Changes:
    event = cast("ClusterFormed | ClusterSplit", recorded.event)
    return {"pool": pool.gathered(session.pool, event)}


def _merged(session: Session, recorded: Recorded) -> Changes:
    event = cast("ClusterMerged", recorded.event)
    return {"pool": pool.merged(session.pool, event)}


def _signalled(session: Session, recorded: Recorded) -> Changes:
    event = cast("MindSignalled", recorded.event)
    return {"work": runs.signalled(session.work, event)}


def _present(session: Session, recorded: Recorded) -> Changes:
    event = cast("SignalChanged", recorded.event)
    return {"attention": presence.changed(session.attention, event)}


def _run_started(session: Session, recorded: Recorded) -> Changes:
    event = cast("RunStarted", recorded.event)
    return {"work": runs.started(session.work, event, recorded.version)}


def _run_stopped(session: Session, recorded: Recorded) -> Changes:
    event = cast("RunStopped", recorded.event)
    run = session.work.run
    if run is None or run.id != event.run:
        return {}
    return {"work": session.work._replace(run=None)}


def _shelved(session: Session, recorded: Recorded) -> Changes:
    return {"shelf": artifacts.evolve(session.shelf, recorded.event, recorded.version)}


def _nothing(_: Session, __: Recorded) -> Changes:
    return {}


def _misplaced(_: Session, recorded: Recorded) -> Changes:
    raise ValueError(f"{recorded.event.kind} in the middle of a history")


_EVOLVE: dict[type[Event], Callable[[Session, Any], Changes]] = {
    SessionStarted: _misplaced,
    SessionForked: _forked,
    SessionLabelled: _nothing,
    SessionRenamed: _renamed,
    SessionArchived: _archived,
    SessionRestored: _restored,
    ReplayBegun: _nothing,
    ConfigChanged: _configured,
    MessageSent: _message,
    ExchangesPruned: _pruned,
    ToolUsed: _nothing,
    DraftEmitted: _draft,
    DraftSeen: _seen,
    DraftAccepted: _accepted,
    MindInvoked: _invoked,
    ThoughtAdded: _thought,
    ThoughtEmbedded: _embedded,
    ThoughtClustered: _clustered,
    ClusterFormed: _gathered,
    ClusterMerged: _merged,
    ClusterSplit: _gathered,
    ClusteringCalibrated: _nothing,
    MindSignalled: _signalled,
    SignalChanged: _present,
    NoteAdded: _nothing,
    **dict.fromkeys(artifacts.EVOLVE, _shelved),
    RunStarted: _run_started,
    RunStopped: _run_stopped,
    EventRedacted: _nothing,
}
