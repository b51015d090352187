"""A session begins, branches, is configured; moments get names."""

from typing import Any, Literal

from domain.events.base import Event


class SessionStarted(Event):
    """A conversation with one mind began. Always version 1."""

    kind: Literal["session.started"] = "session.started"
    content = ("title",)
    title: str
    config: dict[str, Any]
    """Every setting at its value of that day, so that later defaults change nothing here."""
    protocol: str
    """Version of the format in which the mind is spoken to."""
    seed: int
    """Where all sampling of this session starts from."""


class SessionForked(Event):
    """A session branched off another one, by reference.

    Stored at version ``at_version + 1``; everything up to ``at_version`` is read from the parent.
    """

    kind: Literal["session.forked"] = "session.forked"
    content = ("reason",)
    parent: str
    at_version: int
    parent_hash: bytes
    """The parent's chain hash at ``at_version``: the branch can't be moved to another history."""
    reason: str | None = None


class SessionLabelled(Event):
    """A moment got a name; the newest use of a label counts."""

    kind: Literal["session.labelled"] = "session.labelled"
    content = ("label",)
    label: str
    version: int


class SessionRenamed(Event):
    """The session got another title; its name, by which others refer to it, never changes."""

    kind: Literal["session.renamed"] = "session.renamed"
    content = ("title",)
    title: str


class SessionArchived(Event):
    """The session was put away: hidden from lists, and otherwise as it was."""

    kind: Literal["session.archived"] = "session.archived"
    content = ("reason",)
    reason: str | None = None


class SessionRestored(Event):
    """An archived session was brought back."""

    kind: Literal["session.restored"] = "session.restored"


class ReplayBegun(Event):
    """A branch began to live another session's past again, under other settings."""

    kind: Literal["replay.begun"] = "replay.begun"
    source: str
    """The session whose user acts again here."""
    after: int
    upto: int
    """Its events ``after < version <= upto`` are lived again."""


class ConfigChanged(Event):
    """A setting got another value."""

    kind: Literal["config.changed"] = "config.changed"
    key: str
    old: Any = None
    new: Any = None
