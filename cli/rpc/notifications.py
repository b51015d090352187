"""What the server tells by itself: each notification with its parameters."""

from typing import Any, Literal, NamedTuple

from cli.rpc.draft_session import DraftSession
from cli.rpc.method import Result


class EventAppended(Result):
    """An event that a subscription is about."""

    subscription: int
    """As `subscribe` called it."""
    position: int
    """Its place in the store: subscribe from here to go on behind it."""
    session: str
    """The stream that it was appended to."""
    version: int
    """Its place in that stream."""
    at: str
    """ISO 8601, UTC."""
    actor: str
    """As `user:ann`."""
    command: str
    """What all events of one wish share, in hexadecimal digits."""
    cause: int | None
    """The version of the event that led to it."""
    kind: str
    """As docs/events.md lists them."""
    summary: str
    """One line."""
    redacted: bool
    """Its texts were taken away for good."""
    data: dict[str, Any]
    """Its fields; bytes in hexadecimal digits, vectors left out."""


class CutOff(Result):
    """Events end here: with `subscription`, those of one; without it, the connection is closed."""

    reason: str
    """One sentence."""
    position: int | None
    """Of the last event that was sent; subscribe from the last one seen to miss nothing."""
    subscription: int | None = None


class StoreStatus(Result):
    """The server that holds the store went away, or is back."""

    away: bool
    """While it is, subscriptions wait; then they go on behind the last event that was sent."""
    reason: str | None
    """One sentence, while it is away."""


class RunProgress(Result):
    """A mind at work."""

    session: str
    iteration: int | None
    kind: Literal["began", "text", "retry", "ended", "problem"]
    """`text`: a piece of what the mind says, as it comes; `ended`: the iteration is in the log."""
    text: str
    outcome: str | None
    """Of an iteration that ended: `ok`, `skipped`, `unparseable` or `failed`."""
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    latency_ms: int | None


class ChannelMessage(Result):
    """Something that an agent said or did."""

    id: int
    """Counts up."""
    session_id: str
    """The agent."""
    type: str
    """`chunk` (a piece of an answer), `prompt`, `turn`, `answer`, `tool_use`, `tool_result`,
    `lifecycle`, `warning`, `error` or `result`."""
    content: str
    at: str
    """ISO 8601, UTC."""
    metadata: dict[str, Any]
    """What belongs to its type, such as `turn` and `prompt`."""


class ContextCompacted(Result):
    """An agent's conversation became too long, and was made shorter."""

    session_id: str
    pre_tokens: int | None
    """How long it was."""
    trigger: str


class PoolStatus(Result):
    """Who is at work; sent to everybody whenever that changes."""

    agents: list[dict[str, Any]]
    """As `draft_status`, and `way`, `client`, `parent`."""


class Notification(NamedTuple):
    """One notification of the protocol."""

    name: str
    summary: str
    params: type[Result]


NOTIFICATIONS = (
    Notification("event", "To subscribers: an event, in the order of the store.", EventAppended),
    Notification("cut_off", "No more events come; why, and up to where they did.", CutOff),
    Notification(
        "store_status",
        "To subscribers: the store is away, or back; until then calls wait, and may fail.",
        StoreStatus,
    ),
    Notification("run_progress", "To everybody: what a mind that runs is doing.", RunProgress),
    Notification(
        "channel_message", "To the client whose agent it is: what it says.", ChannelMessage
    ),
    Notification(
        "draft_status", "To that client, after each turn: how the draft is.", DraftSession
    ),
    Notification(
        "context_compacted", "To that client: the agent forgot details.", ContextCompacted
    ),
    Notification("pool_status", "To everybody: which agents are at work.", PoolStatus),
)
