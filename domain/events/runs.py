"""A run is a claim on the session: one runner at a time."""

from typing import Literal

from domain.events.base import Event
from domain.ids import RunId

Mode = Literal["observe", "background"]
StopReason = Literal[
    "draft",
    "hard signal",
    "true silence",
    "limit",
    "interrupted",
    "budget",
    "failed",
    "accepted",
    "lost",
]


class RunStarted(Event):
    """A runner took the session."""

    kind: Literal["run.started"] = "run.started"
    run: RunId
    mode: Mode
    limit: int
    """The most iterations."""
    exact: bool = False
    """Asked for a number of iterations: only that number ends it."""
    holder: str
    """``host:pid:start`` of the process, to tell a live runner from a dead one."""
    patience: int
    """Seconds without any event after which the claim is void."""


class RunStopped(Event):
    """A runner gave the session back, or was found to be gone (``lost``)."""

    kind: Literal["run.stopped"] = "run.stopped"
    content = ("detail",)
    run: RunId
    reason: StopReason
    iterations: int
    detail: str | None = None
