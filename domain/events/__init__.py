"""All that can happen in a session, to an agent or in a project, one module per family.

``EVENTS`` maps each kind to its class: the only way from a stored name to code.
"""

from domain.events.agents import (
    AgentDrafted,
    AgentUndrafted,
    BackendOpened,
    ContextReset,
    ConversationCompacted,
    LoopNoticed,
    PeerAnswered,
    PeerAsked,
    PromptSubmitted,
    PromptWithdrawn,
    StopAsked,
    ToolCalled,
    TurnCompleted,
    TurnFailed,
    TurnLost,
    TurnStarted,
    WorkerDispatched,
    WorkerKilled,
    WorkerReported,
)
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
from domain.events.projects import (
    ProjectClosed,
    ProjectCreated,
    TaskClosed,
    TaskCreated,
    TaskReopened,
)
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
"""What happens in a session: the union that its ``evolve`` must handle to the last member."""

AgentEvent = (
    AgentDrafted
    | AgentUndrafted
    | PromptSubmitted
    | PromptWithdrawn
    | TurnStarted
    | StopAsked
    | ToolCalled
    | TurnCompleted
    | TurnFailed
    | TurnLost
    | BackendOpened
    | ConversationCompacted
    | ContextReset
    | LoopNoticed
    | WorkerDispatched
    | WorkerReported
    | WorkerKilled
    | PeerAsked
    | PeerAnswered
    | EventRedacted
)
"""What happens in the stream of an agent."""

ProjectEvent = ProjectCreated | ProjectClosed | EventRedacted
"""What happens in the stream of a project."""

TaskEvent = TaskCreated | TaskClosed | TaskReopened | EventRedacted
"""What happens in the stream of a task."""

EVENTS: dict[str, type[Event]] = {
    str(event.model_fields["kind"].default): event
    for family in (SessionEvent, AgentEvent, ProjectEvent, TaskEvent)
    for event in family.__args__
}

__all__ = [
    "EVENTS",
    "REDACTED",
    "AgentDrafted",
    "AgentEvent",
    "AgentUndrafted",
    "ArtifactEdited",
    "ArtifactExcluded",
    "ArtifactImported",
    "ArtifactLinked",
    "ArtifactMerged",
    "ArtifactRecalled",
    "ArtifactRejected",
    "ArtifactsEvicted",
    "BackendOpened",
    "Caused",
    "ClusterFormed",
    "ClusterMerged",
    "ClusterSplit",
    "ClusteringCalibrated",
    "ConfigChanged",
    "ContextCompacted",
    "ContextReset",
    "ConversationCompacted",
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
    "LoopNoticed",
    "MessageSent",
    "MindInvoked",
    "MindSignalled",
    "NoteAdded",
    "PeerAnswered",
    "PeerAsked",
    "ProjectClosed",
    "ProjectCreated",
    "ProjectEvent",
    "PromptSubmitted",
    "PromptWithdrawn",
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
    "StopAsked",
    "TaskClosed",
    "TaskCreated",
    "TaskEvent",
    "TaskReopened",
    "ThoughtAdded",
    "ThoughtClustered",
    "ThoughtEmbedded",
    "ToolCalled",
    "ToolUsed",
    "TurnCompleted",
    "TurnFailed",
    "TurnLost",
    "TurnStarted",
    "WorkerDispatched",
    "WorkerKilled",
    "WorkerReported",
]
