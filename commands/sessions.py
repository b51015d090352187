"""Beginning sessions, changing their settings, naming moments, putting sessions away."""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

from commands.command import Command, Decision
from commands.embedders.names import check_embedder
from commands.minds.names import check_name
from commands.thinking import injected
from commands.world import World
from domain.config import Config
from domain.errors import BadSetting, BadText, NothingChanges
from domain.events import (
    Caused,
    ConfigChanged,
    MessageSent,
    SessionArchived,
    SessionLabelled,
    SessionRenamed,
    SessionRestored,
    SessionStarted,
)
from domain.ids import SessionId, exchange_id
from domain.log import Log
from domain.protocol.prompts import PROTOCOL
from domain.recorded import BEGINNING, Draw
from domain.session import Session
from domain.texts import checked_text
from domain.titles import title_of

LABEL_LENGTH = 80


def start_session(
    log: Log,
    session: SessionId,
    world: World,
    *,
    title: str = "",
    message: str | None = None,
    thoughts: Iterable[str] = (),
    settings: dict[str, Any] | None = None,
    first: bool = False,
) -> Session:
    """Begin a session, with its first message and thoughts, in a single append.

    Raises:
        SessionExists: the name is taken.
        StoreExists: it was to be the ``first`` session of the store, and there is one.
        BadSetting, BadText: nothing was begun.
    """
    config = Config()
    for key, value in (settings or {}).items():
        config = changed(config, key, value)
    started = SessionStarted(
        title=checked_text(title, "title") if title else title_of(message or "") or session,
        config=config.model_dump(),
        protocol=PROTOCOL,
        seed=world.seed(),
    )
    events = [Caused(started)]
    if message is not None:
        text = checked_text(message)
        events.append(Caused(MessageSent(exchange=exchange_id(1, 0), text=text, iteration=1)))
    for thought in thoughts:
        text = checked_text(thought, "thought")
        events.append(Caused(injected(text, str(world.actor), iteration=1)))
    draw = Draw(events, world.now(), world.actor, world.command_id())
    log.begin(session, BEGINNING, draw, first=first)
    return log.state(session)


def changed(config: Config, key: str, value: Any) -> Config:
    """The settings with one changed; a model's name is checked as well."""
    config = config.changed(key, value)
    if key == "model":
        check_name(config.model)
    elif key == "embedding_model":
        check_embedder(config.embedding_model)
    elif value in {"hdbscan", "compatible"} and find_spec("hdbscan") is None:
        raise BadSetting(f'{key}={value} needs HDBSCAN: pip install "logosphere[hdbscan]".')
    return config


class ChangeConfig(Command):
    """Change a setting of the session; `off` where a setting can be off."""

    key: str
    value: str

    def decide(self, session: Session) -> Iterator[ConfigChanged]:
        """The setting at its new value."""
        config = session.config
        if self.key not in Config.model_fields:
            config.changed(self.key, None)
        old, new = getattr(config, self.key), config.read(self.key, self.value)
        changed(config, self.key, new)
        embedded = sum(thought.embedded for thought in session.pool.active)
        if self.key == "embedding_model" and new != old and embedded:
            raise BadSetting(
                f"The pool has vectors made with {old!r} ({embedded} of them), which can't be"
                f" compared with others: embed it anew (mind embed --model {new}), or begin"
                " another session."
            )
        if new != old:
            yield ConfigChanged(key=self.key, old=old, new=new)


class LabelMoment(Command):
    """Give a moment a name, to be used as @label wherever a moment is asked for."""

    label: str
    version: int

    def decide(self, session: Session) -> Decision:
        """The label at the version."""
        plain = self.label.replace("-", "").replace("_", "").replace(".", "")
        if not plain.isalnum() or len(self.label) > LABEL_LENGTH:
            raise BadText(
                f"{self.label!r} can't be a label: use letters, digits, '.', '_' and '-',"
                f" at most {LABEL_LENGTH} characters."
            )
        if not 1 <= self.version <= session.version:
            raise BadSetting(f"A label needs a version from 1 to {session.version}.")
        yield SessionLabelled(label=self.label, version=self.version).because(self.version)


class RenameSession(Command):
    """Give the session another title; its name, by which others refer to it, never changes."""

    title: str

    def decide(self, session: Session) -> Decision:
        """The new title, on one line."""
        title = " ".join(checked_text(self.title, "title").split())
        if title == session.title:
            raise NothingChanges(f"The title of session {session.id!r} is {title!r} already.")
        yield SessionRenamed(title=title)


class ArchiveSession(Command):
    """Put the session away: lists hide it, and otherwise it stays as it is."""

    reason: str | None = None

    def decide(self, session: Session) -> Decision:
        """The session as archived."""
        reason = checked_text(self.reason, "reason") if self.reason is not None else None
        if session.archived:
            raise NothingChanges(
                f"Session {session.id!r} is archived already"
                f" (mind archive --undo {session.id} brings it back)."
            )
        yield SessionArchived(reason=reason)


class RestoreSession(Command):
    """Bring an archived session back into the lists."""

    def decide(self, session: Session) -> Decision:
        """The session as restored."""
        if not session.archived:
            raise NothingChanges(f"Session {session.id!r} is not archived: nothing to bring back.")
        yield SessionRestored()
