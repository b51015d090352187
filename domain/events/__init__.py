"""All that can happen in a session, one module per family.

``EVENTS`` maps each kind to its class: the only way from a stored name to code.
"""

from domain.events.artifacts import (
    ArtifactEdited,
    ArtifactExcluded,
    ArtifactImported,
    ArtifactLinked,
    ArtifactMerged,
    ArtifactRecalled,
    ArtifactRejected,
    ArtifactsEvicted,
    ContextCompacted,
    DetectorInvoked,
    EffortBranched,
    EffortCollapsed,
    EffortExpanded,
    EffortFocused,
    EffortOpened,
    EffortReopened,
    EffortResolved,
    EventNoted,
    ExchangeRouted,
    FactLearned,
    FactSuperseded,
)
from domain.events.base import REDACTED, Caused, Event, Source
from domain.events.clusters import (
    ClusterFormed,
    ClusteringCalibrated,
    ClusterMerged,
    ClusterSplit,
    ThoughtClustered,
)
from domain.events.dialogue import ExchangesPruned, MessageSent, ToolUsed
from domain.events.drafts import DraftAccepted, DraftEmitted, DraftSeen
from domain.events.notes import NoteAdded
from domain.events.presence import SignalChanged
from domain.events.redaction import EventRedacted
from domain.events.runs import RunStarted, RunStopped
from domain.events.sessions import (
    ConfigChanged,
    ReplayBegun,
    SessionArchived,
    SessionForked,
    SessionLabelled,
    SessionRenamed,
    SessionRestored,
    SessionStarted,
)
from domain.events.thinking import MindInvoked, MindSignalled, ThoughtAdded, ThoughtEmbedded

SessionEvent = (
    SessionStarted
    | SessionForked
    | SessionLabelled
    | SessionRenamed
    | SessionArchived
    | SessionRestored
    | ReplayBegun
    | ConfigChanged
    | MessageSent
    | ExchangesPruned
    | ToolUsed
    | DraftEmitted
    | DraftSeen
    | DraftAccepted
    | MindInvoked
    | ThoughtAdded
    | ThoughtEmbedded
    | ThoughtClustered
    | ClusterFormed
    | ClusterMerged
    | ClusterSplit
    | ClusteringCalibrated
    | MindSignalled
    | SignalChanged
    | NoteAdded
    | EffortOpened
    | EffortResolved
    | EffortReopened
    | EffortExpanded
    | EffortCollapsed
    | EffortBranched
    | EffortFocused
    | FactLearned
    | FactSuperseded
    | EventNoted
    | ArtifactEdited
    | ArtifactMerged
    | ArtifactRejected
    | ArtifactLinked
    | ArtifactImported
    | ArtifactExcluded
    | ArtifactsEvicted
    | ArtifactRecalled
    | ExchangeRouted
    | ContextCompacted
    | DetectorInvoked
    | RunStarted
    | RunStopped
    | EventRedacted
)
"""The union that ``evolve`` must handle to the last member."""

EVENTS: dict[str, type[Event]] = {
    str(event.model_fields["kind"].default): event for event in SessionEvent.__args__
}

__all__ = [
    "EVENTS",
    "REDACTED",
    "ArtifactEdited",
    "ArtifactExcluded",
    "ArtifactImported",
    "ArtifactLinked",
    "ArtifactMerged",
    "ArtifactRecalled",
    "ArtifactRejected",
    "ArtifactsEvicted",
    "Caused",
    "ClusterFormed",
    "ClusterMerged",
    "ClusterSplit",
    "ClusteringCalibrated",
    "ConfigChanged",
    "ContextCompacted",
    "DetectorInvoked",
    "DraftAccepted",
    "DraftEmitted",
    "DraftSeen",
    "EffortBranched",
    "EffortCollapsed",
    "EffortExpanded",
    "EffortFocused",
    "EffortOpened",
    "EffortReopened",
    "EffortResolved",
    "Event",
    "EventNoted",
    "EventRedacted",
    "ExchangeRouted",
    "ExchangesPruned",
    "FactLearned",
    "FactSuperseded",
    "MessageSent",
    "MindInvoked",
    "MindSignalled",
    "NoteAdded",
    "ReplayBegun",
    "RunStarted",
    "RunStopped",
    "SessionArchived",
    "SessionEvent",
    "SessionForked",
    "SessionLabelled",
    "SessionRenamed",
    "SessionRestored",
    "SessionStarted",
    "SignalChanged",
    "Source",
    "ThoughtAdded",
    "ThoughtClustered",
    "ThoughtEmbedded",
    "ToolUsed",
]
