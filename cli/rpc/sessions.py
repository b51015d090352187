"""Sessions among each other: sessions, switch, new, fork, config."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from cli.attention import attend_to
from cli.output import iso
from cli.rpc.functions import Look, in_store
from cli.rpc.method import Method, Params, Result
from cli.rpc.service import Service
from cli.sessions import configured
from cli.wiring import current_session, switch_session
from commands.forks import fork_session
from commands.sessions import start_session
from domain.config import Config
from domain.errors import NoSuchSession
from domain.ids import SessionId, session_id
from projections.tree import Branch, branch, branches, visible

Value = str | int | float | bool | None
"""Of a setting; None is off."""


# sessions


class SessionsOf(Params):
    """Which sessions are told."""

    all: bool = False
    """Archived ones as well."""


class Session(Result):
    """A session among the others."""

    id: str
    title: str
    version: int
    parent: str | None
    """What it branched off, as `main@12`."""
    current: bool
    """Whether it is the one that is meant where none is named."""
    archived: bool
    drafting: bool
    """Whether a message awaits its answer."""
    drafts: int
    """Of the open exchange."""
    iteration: int
    label: str | None
    """The newest that it was given."""
    at: str
    """When its newest event happened, ISO 8601 in UTC."""


class Sessions(Result):
    """Sessions, in order of their beginnings."""

    sessions: tuple[Session, ...]


def sessions(service: Service, asked: SessionsOf) -> Sessions:
    """Tell which sessions there are, and how far each has come."""
    found = branches(service.log)
    current = current_session(service.directory, service.log) if found else None
    shown = found if asked.all else visible(found, current)
    return Sessions(sessions=tuple(_session(each, current) for each in shown))


def _session(each: Branch, current: SessionId | None) -> Session:
    return Session(
        id=each.session,
        title=each.title,
        version=each.now.version,
        parent=f"{each.parent}@{each.fork.version}" if each.fork else None,
        current=each.session == current,
        archived=each.archived,
        drafting=each.now.drafting,
        drafts=each.now.drafts,
        iteration=each.now.iteration,
        label=each.label,
        at=iso(each.at),
    )


# switch


class SwitchTo(Params):
    """Which session is meant from now on where none is named."""

    session: str


class Switched(Result):
    """The session that is meant now."""

    session: str
    archived: bool


def switch(service: Service, asked: SwitchTo) -> Switched:
    """Make another session the one that is meant where none is named."""
    chosen = session_id(asked.session)
    if not service.log.exists(chosen):
        raise NoSuchSession(chosen, service.log.sessions())
    away = branch(service.log, chosen).archived
    switch_session(service.directory, chosen)
    return Switched(session=chosen, archived=away)


# new


class New(Params):
    """A session that is to begin."""

    name: str
    title: str = ""
    """By default what the first message is about."""
    message: str | None = None
    settings: Mapping[str, Value] = Field(default_factory=dict)
    """By their names, as `{"model": "local"}`; the others are as usual."""


class Begun(Result):
    """The session that has begun, and that is meant from now on."""

    session: str
    version: int
    remarks: tuple[str, ...]
    """What became of artifacts, in sentences."""


def new(service: Service, asked: New) -> Begun:
    """Begin another session, with a first message or without, and switch to it."""
    chosen = session_id(asked.name)
    settings: dict[str, Any] = {k: Config().read(k, _text(v)) for k, v in asked.settings.items()}
    state = start_session(
        service.log,
        chosen,
        service.world,
        title=asked.title,
        message=asked.message,
        settings=settings,
    )
    switch_session(service.directory, chosen)
    remarks: list[str] = []
    attend_to(service.desk(chosen), 0, say=remarks.append)
    told = tuple(remark.strip() for remark in remarks)
    return Begun(session=chosen, version=state.version, remarks=told)


def _text(value: Value) -> str:
    """A value as a person types it."""
    if value is None:
        return "off"
    return str(value).lower() if isinstance(value, bool) else str(value)


# fork


class ForkOf(Look):
    """Where a branch is to begin."""

    name: str
    reason: str | None = None
    """For whoever reads it later."""
    stay: bool = False
    """Whether to go on with the session that one works on."""


class Forked(Result):
    """The branch."""

    session: str
    parent: str
    at: int
    """The parent's version that it branches off."""
    version: int


def fork(service: Service, asked: ForkOf) -> Forked:
    """Branch off at any moment, by reference, and switch to the branch."""
    child = session_id(asked.name)
    here = service.desk(asked.session)
    parent, version = here.moment("head" if asked.at is None else asked.at)
    head = fork_session(here.log, parent, version, child, here.world, reason=asked.reason)
    if not asked.stay:
        switch_session(here.directory, child)
    return Forked(session=child, parent=parent, at=version, version=head.version)


# config


class Configuring(Look):
    """Settings to read, now or as of a moment, or to change."""

    changes: Mapping[str, Value] = Field(default_factory=dict, alias="set")
    """By their names; all of them, or none. The past can't be changed."""


class Configured(Result):
    """All settings of a session."""

    session: str
    settings: dict[str, Any]


def config(service: Service, asked: Configuring) -> Configured:
    """Tell the settings of a session, after changing some."""
    at = service.desk(asked.session, asked.at)
    settings = configured(at, [(key, _text(value)) for key, value in asked.changes.items()])
    return Configured(session=at.session, settings=settings.model_dump(mode="json"))


def methods(service: Service) -> list[Method]:
    """The methods of this file."""
    return [
        in_store(service, sessions),
        in_store(service, switch),
        in_store(service, new),
        in_store(service, fork),
        in_store(service, config),
    ]
