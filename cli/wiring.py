"""The one place that builds things: which store, which session, which moment, which mind."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cli.output import safe, talk
from commands.command import Command
from commands.eventlog import EventLog
from commands.handle import Done, handle
from commands.moments import resolve
from commands.world import RealWorld
from domain.config import Config
from domain.errors import NoStore, NoSuchSession, Refused
from domain.ids import SessionId, session_id
from domain.refs import Moment, parse_moment
from domain.session import Session

if TYPE_CHECKING:
    from commands.embedders.embedder import Embedder
    from commands.gatherer import Gatherer
    from commands.hooks.hook import Hook
    from commands.minds.mind import Mind, MindFailed

MOMENT: ContextVar[Moment | None] = ContextVar("MOMENT", default=None)
"""The past moment that ``mind at REF …`` looks from."""

_CURRENT = "current"


class Desk(NamedTuple):
    """An open store and the session that is worked on."""

    directory: Path
    log: EventLog
    session: SessionId
    version: int | None
    """The moment that is looked at; None is now."""
    world: RealWorld

    @property
    def state(self) -> Session:
        """The session at the moment that is looked at."""
        return self.log.state(self.session, self.version)

    def do(self, command: Command) -> Done:
        """Fulfil a wish of the present user."""
        self.only_now()
        return handle(self.log, self.session, command, self.world)

    def only_now(self) -> None:
        """Make sure that nobody tries to change the past.

        Raises:
            Refused: ``mind at`` is for looking.
        """
        if MOMENT.get() is not None:
            raise Refused(
                "The past can only be read: branch off there first (mind fork NAME --at REF)."
            )

    def moment(self, text: str) -> tuple[SessionId, int]:
        """Look up a ref, of this session unless it names another; from the past, of the past.

        Raises:
            BadRef, NoSuchSession, NoSuchMoment, AmbiguousRef: it names no moment there.
        """
        named, ref = parse_moment(text)
        session = named or self.session
        if not self.log.exists(session):
            raise NoSuchSession(session, self.log.sessions())
        past = self.version if session == self.session else None
        return session, resolve(self.log, session, ref, upto=past)


@contextmanager
def desk(store: Path | None = None, session: str | None = None) -> Iterator[Desk]:
    """The store and session that the user means.

    Raises:
        NoStore, NotAStore, NoSuchSession, NoSuchMoment, BadName: there is none.
    """
    with open_store(store) as (directory, log):
        past = MOMENT.get()
        name = session_id(session) if session else past.session if past else None
        chosen = name or current_session(directory, log)
        if not log.exists(chosen):
            raise NoSuchSession(chosen, log.sessions())
        version = resolve(log, chosen, past.ref) if past else None
        yield Desk(directory, log, chosen, version, RealWorld.of_this_user())


@contextmanager
def desk_at(store: Path | None, session: str | None, ref: str | None) -> Iterator[Desk]:
    """As :func:`desk`, looking from a moment in the past where one is named.

    Raises:
        BadRef: ``ref`` names no moment; else as :func:`desk`.
    """
    token = MOMENT.set(parse_moment(ref) if ref is not None else MOMENT.get())
    try:
        with desk(store, session) as at:
            yield at
    finally:
        MOMENT.reset(token)


@contextmanager
def open_store(store: Path | None = None) -> Iterator[tuple[Path, EventLog]]:
    """The store that the user means, open."""
    directory = find_store(store)
    writable = os.access(directory, os.W_OK) and os.access(directory / "log.db", os.W_OK)
    with EventLog(directory, writable=writable) as log:
        yield directory, log


def find_store(store: Path | None = None) -> Path:
    """``--store``, else ``MIND_STORE``, else one around the working directory, else the last used.

    Raises:
        NoStore: there is none of these.
    """
    if store is None and os.environ.get("MIND_STORE"):
        store = Path(os.environ["MIND_STORE"])
    if store is not None:
        return store
    here = Path.cwd()
    for directory in (here, *here.parents):
        if os.path.isfile(directory / "log.db"):  # noqa: PTH113 — where none may look, none is
            return directory
    try:
        return Path(_pointer().read_text("utf-8", "replace").strip())
    except OSError:
        raise NoStore from None


def remember_store(directory: Path) -> None:
    """Make this the store that is used when none is named."""
    pointer = _pointer()
    try:
        pointer.parent.mkdir(parents=True, exist_ok=True)
        _replace(pointer, str(directory.absolute()))
    except OSError as error:
        talk(
            f"{str(pointer)!r} can't be written ({error.strerror}):"
            f" name the store with --store {directory} or MIND_STORE."
        )


def current_session(directory: Path, log: EventLog) -> SessionId:
    """``MIND_SESSION``, else the one last switched to, else the first."""
    named = os.environ.get("MIND_SESSION")
    if named:
        return session_id(named)
    try:
        return session_id((directory / _CURRENT).read_text("utf-8", "replace").strip())
    except OSError:
        sessions = log.sessions()
        if not sessions:
            raise NoSuchSession("main") from None
        return sessions[0]


def switch_session(directory: Path, session: SessionId) -> None:
    """Make this the session that is used when none is named."""
    _replace(directory / _CURRENT, session)


def mind_for(config: Config, on_retry: "Callable[[MindFailed, float], None]") -> "Mind":
    """The mind of these settings, patient with its provider.

    Args:
        config: names the mind and how often it is asked again.
        on_retry: told the failure and the seconds until the next attempt.
    """
    from commands.minds.choose import make_mind  # noqa: PLC0415 — only a run needs minds
    from commands.minds.retry import Patient  # noqa: PLC0415

    return Patient(
        make_mind(config.model, env=os.environ), attempts=config.attempts, on_retry=on_retry
    )


def gatherer_for(log: EventLog) -> "Gatherer":
    """What gives the thoughts of a log their vectors and clusters; problems are told on stderr."""
    from commands.gatherer import Gatherer  # noqa: PLC0415 — only where somebody thinks

    return Gatherer(log, embedder_for, on_problem=lambda sentence: talk(f"  ! {safe(sentence)}"))


def hooks_for(wanted: Sequence[str]) -> "list[Hook]":
    """The hooks of ``MIND_HOOKS``, then those that were asked for: the user alone chooses code.

    Raises:
        BadHook: one of them is not there, or not to be had so.
    """
    environment = os.environ.get("MIND_HOOKS", "")
    if not wanted and not environment:
        return []
    from commands.hooks.load import load_hooks  # noqa: PLC0415 — hooks are rarely asked for

    return load_hooks(wanted, environment)


def embedder_for(config: Config) -> "Embedder | None":
    """The embedder of these settings; None where they say off.

    Raises:
        EmbedderUnavailable: something has to be set up first.
    """
    if config.embedding_model == "off":
        return None
    from commands.embedders.choose import make_embedder  # noqa: PLC0415

    return make_embedder(config.embedding_model, os.environ)


def _pointer() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "mind" / "store"


def _replace(path: Path, text: str) -> None:
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(text + "\n", encoding="utf-8")
    new.replace(path)
