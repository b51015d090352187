"""The one place that builds things: which store, which session, which moment, which mind."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cli.output import safe, talk
from commands.command import Command
from commands.eventlog import EventLog
from commands.eventlog.place import Place, place_of
from commands.handle import Done, handle
from commands.moments import resolve
from commands.world import RealWorld
from domain.config import Config
from domain.errors import NoStore, NoSuchSession, Refused
from domain.ids import SessionId, session_id, stream_id
from domain.reach import Reached
from domain.refs import Moment, parse_moment
from domain.server_errors import CellsAreAway
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
        if self.version is not None or MOMENT.get() is not None:
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
        if session != self.session and not self.log.exists(session):
            raise NoSuchSession(session, self.log.reached("session").names)
        past = self.version if session == self.session else None
        return session, resolve(self.log, session, ref, upto=past)


@contextmanager
def desk(
    store: Place | None = None, session: str | None = None, *, any_stream: bool = False
) -> Iterator[Desk]:
    """The store and session that the user means.

    Args:
        store: where it is; see :func:`find_store`.
        session: its name; the current one if None.
        any_stream: whether it may be ``agent:NAME`` and its like, of which there is no ``state``.

    Raises:
        NoStore, NotAStore, NoSuchSession, NoSuchMoment, BadName: there is none.
    """
    with open_store(store) as (directory, log):
        yield seat(directory, log, session, MOMENT.get(), any_stream=any_stream)


def seat(
    directory: Path,
    log: EventLog,
    session: str | None,
    past: Moment | None,
    *,
    any_stream: bool = False,
) -> Desk:
    """The session that is meant in an open store, looked at from a moment in the past or from now.

    Raises:
        NoSuchSession, NoSuchMoment, AmbiguousRef, BadName: there is none.
    """
    named = stream_id if any_stream else session_id
    name = named(session) if session else past.session if past else None
    chosen = name or current_session(directory, log)
    if not log.exists(chosen):
        raise NoSuchSession(chosen, log.reached("session").names)
    version = resolve(log, chosen, past.ref) if past else None
    return Desk(directory, log, chosen, version, RealWorld.of_this_user())


@contextmanager
def desk_at(store: Place | None, session: str | None, ref: str | None) -> Iterator[Desk]:
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
def open_store(store: Place | None = None) -> Iterator[tuple[Path, EventLog]]:
    """The store that the user means, open."""
    with EventLog(find_store(store)) as log:
        yield log.place.home, log


def find_store(store: Place | None = None) -> Place:
    """``--store``, else ``MIND_STORE``, else one around the working directory, else the last used.

    Raises:
        NoStore, BadPlace: there is none of these.
    """
    if store is None and os.environ.get("MIND_STORE"):
        store = place_of(os.environ["MIND_STORE"])
    if store is not None:
        return store
    here = Path.cwd()
    for directory in (here, *here.parents):
        if os.path.isfile(directory / "log.db"):  # noqa: PTH113 — where none may look, none is
            return Place(directory)
    try:
        last = place_of(_pointer().read_text("utf-8", "replace").strip())
    except OSError:
        raise NoStore from None
    if last.url is None:
        with suppress(PermissionError):  # what may not be looked at is not gone
            try:
                last.home.stat()
            except (FileNotFoundError, NotADirectoryError):
                raise NoStore(str(last), last=True) from None
    return last


def remember_store(place: Place) -> None:
    """Make this the store that is used when none is named; a password is not remembered."""
    pointer = _pointer()
    try:
        pointer.parent.mkdir(parents=True, exist_ok=True)
        _replace(pointer, str(place) if place.url else str(place.home.absolute()))
    except OSError as error:
        talk(
            f"{str(pointer)!r} can't be written ({error.strerror}):"
            f" name the store with --store {place} or MIND_STORE."
        )


def current_session(directory: Path, log: EventLog) -> SessionId:
    """``MIND_SESSION``, else the one last switched to, else the first."""
    chosen = chosen_session(directory)
    if chosen is not None:
        return chosen
    there = log.reached("session")
    first = first_of(log, there)
    if first is None and there.away:
        todo = "try again, or name one with --session"
        raise CellsAreAway(there.away, "Nobody can say which session is the first", todo)
    if first is None:
        raise NoSuchSession("main")
    return first


def first_of(log: EventLog, there: Reached) -> SessionId | None:
    """The first of all sessions; None where there is none, or it may be where nobody answers."""
    first = there.streams[0] if there.streams else None
    if first is None or not there.away:
        return first
    # what is at home comes first of all
    return first if log.place_of(first).address.cell in {None, "home"} else None


def chosen_session(directory: Path) -> SessionId | None:
    """The same without the last: None where nobody has chosen."""
    named = os.environ.get("MIND_SESSION")
    if named:
        return session_id(named)
    try:
        return session_id((directory / _CURRENT).read_text("utf-8", "replace").strip())
    except OSError:
        return None


def switch_session(directory: Path, session: SessionId) -> None:
    """Make this the session that is used when none is named.

    Raises:
        Refused: that can't be written down here; what else was done stays.
    """
    file = directory / _CURRENT
    try:
        _replace(file, session)
    except OSError as error:
        raise Refused(
            f"{str(file)!r} can't be written ({error.strerror or error}): name the session each"
            f" time, with --session {session} or MIND_SESSION."
        ) from None


def agent_model(directory: Path, log: EventLog, env: Mapping[str, str]) -> str:
    """Who answers for agents whose role names no model.

    ``MIND_AGENT_MODEL``, else the mind of the store's current session, else ``local``.
    """
    if env.get("MIND_AGENT_MODEL"):
        return env["MIND_AGENT_MODEL"]
    try:
        return log.state(current_session(directory, log)).config.model
    except NoSuchSession:
        return Config().model


def mind_for(
    config: Config,
    on_retry: "Callable[[MindFailed, float], None]",
    sleep: Callable[[float], object] = time.sleep,
) -> "Mind":
    """The mind of these settings, patient with its provider.

    Args:
        config: names the mind and how often it is asked again.
        on_retry: told the failure and the seconds until the next attempt.
        sleep: waits for so long, or raises what ends the waiting.
    """
    from commands.minds.choose import make_mind  # noqa: PLC0415 — only a run needs minds
    from commands.minds.retry import Patient  # noqa: PLC0415

    mind = make_mind(config.model, env=os.environ)
    return Patient(mind, attempts=config.attempts, on_retry=on_retry, sleep=sleep)


def gatherer_for(log: EventLog, on_problem: Callable[[str], object] | None = None) -> "Gatherer":
    """What gives the thoughts of a log their vectors and clusters; problems are told on stderr."""
    from commands.gatherer import Gatherer  # noqa: PLC0415 — only where somebody thinks

    told = on_problem or (lambda sentence: talk(f"  ! {safe(sentence)}"))
    return Gatherer(log, embedder_for, on_problem=told)


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
    new = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_native_id()}")
    try:
        new.write_text(text + "\n", encoding="utf-8")
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink()
        raise
