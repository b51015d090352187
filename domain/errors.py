"""Everything that can go wrong, on one screen, named for who must act.

    LogosphereError
    ├── Refused                 the wish can't be granted as things are; exit code 2
    │   ├── BadName, BadSetting, BadRef, NoSuchMoment, AmbiguousRef, BadExpression
    │   ├── NoSuchSession, SessionExists, SessionIsEmpty
    │   ├── NothingAwaits, AnswerFirst, NothingToAccept, NoSuchDraft, DraftIsASignal, DraftIsLate
    │   ├── NoSuchExchange, NothingToPrune, NothingChanges, PickConflicts,
    │   │   BadText
    │   ├── NoSuchCluster, NotAThought, NoSuchArtifact
    │   ├── BadQuery, QueryStopped
    │   ├── SomeoneRuns, RunIsOver
    │   ├── NoStore, NotAStore, StoreExists, StoreIsADirectory, StoreIsClosed,
    │   │   StoreOfAnotherLayout, StoreIsReadOnly, BadBundle
    │   ├── NoNews
    │   ├── those of stores on servers: domain/server_errors.py
    │   └── those of agents, projects and roles: domain/agent_errors.py
    └── Broken                  the world failed us; exit code 1
        ├── LostRace            somebody appended first: reload and decide again
        ├── StoreIsFull, StoreIsBusy, StoreIsDamaged
        └── UnknownKind, NewerSchema

Each holds one sentence that says what is and what to do.
"""

from collections.abc import Iterable, Sequence
from typing import NoReturn

from domain.nearest import nearest
from domain.sentences import the_nearest, there_are


class LogosphereError(Exception):
    """The root of all errors that this project raises on purpose."""

    @property
    def sentence(self) -> str:
        """What is and what to do, for a person."""
        return str(self)


class Refused(LogosphereError):
    """The wish can't be granted as things are; nothing has changed."""


class Broken(LogosphereError):
    """The world failed us; what was acknowledged before is safe."""


def refuse(error: Refused) -> NoReturn:
    """Raise where only an expression fits, as behind an ``or``."""
    raise error


# names, settings and moments


class BadName(Refused):
    """A name that no session can have."""

    def __init__(self, name: str, longest: int) -> None:
        super().__init__(
            f"{name!r} can't name a session: use a-z, 0-9, '.', '_', '-' and '/' between parts,"
            f" at most {longest} characters (for example payments/what-if)."
        )


class BadText(Refused):
    """A text that can't be sent."""


class BadSetting(Refused):
    """A key or value that the configuration does not take."""


class BadRef(Refused):
    """A text that names no moment at all."""

    def __init__(self, text: str, meant: str | None = None) -> None:
        super().__init__(
            f"{text!r} names no moment: did you mean {meant}?"
            if meant
            else f"{text!r} names no moment: use a version (412), iter:24, exc_24_000, draft:3,"
            " ~2, @label, an ISO time, or any of them after session@."
        )


class AmbiguousRef(Refused):
    """A ref that names several moments of this session."""

    def __init__(self, ref: str, candidates: Sequence[str]) -> None:
        *others, last = candidates
        super().__init__(f"{ref!r} could be {', '.join(others)} or {last}: write one of them.")


class BadExpression(Refused):
    """A condition that can't be read, or can't be asked of a moment."""


class NoSuchMoment(Refused):
    """A well-formed ref to a moment that this session does not have."""

    def __init__(self, session: str, ref: str, nearest: Iterable[str]) -> None:
        having = list(nearest)
        super().__init__(
            f"Session {session!r} has no moment {ref!r}"
            + (f"; {the_nearest(having)}." if having else ".")
        )


# sessions


class NoSuchSession(Refused):
    """No stream has this name; of those that are ``having``, the nearest are named first."""

    def __init__(self, session: str, having: Iterable[str] | None = None) -> None:
        if having is None:
            super().__init__(f"There is no session {session!r} (mind sessions lists them).")
            return
        having = list(having)
        named = nearest(session, having)
        names = there_are(named, len(having) - len(named))
        super().__init__(
            f"There is no session {session!r}"
            + (f"; {names}." if named else " in this store (mind new NAME makes one).")
        )


class SessionExists(Refused):
    """The name is taken, and ids are never used twice."""

    def __init__(self, session: str) -> None:
        super().__init__(f"Session {session!r} exists already: choose another name.")


# the dialogue


class NothingAwaits(Refused):
    """An iteration or a draft was asked for while no message awaits an answer."""

    def __init__(self, session: str) -> None:
        super().__init__(f'Session {session!r} is idle: send a message first (mind message "…").')


class AnswerFirst(Refused):
    """A message while another one awaits its answer."""

    def __init__(self, session: str, drafts: int) -> None:
        which = f"one of {drafts} drafts" if drafts > 1 else "its draft"
        waiting = (
            f"awaits your choice: accept {which} first (mind drafts, mind accept)"
            if drafts
            else "still awaits a draft for your last message: run the mind first (mind run)"
        )
        super().__init__(f"Session {session!r} {waiting}.")


class NothingToAccept(Refused):
    """There is no content draft."""

    def __init__(self, session: str) -> None:
        super().__init__(
            f"Session {session!r} has no draft that could be an answer: run the mind (mind run)."
        )


class NoSuchDraft(Refused):
    """The open exchange has no draft of that index."""

    def __init__(self, index: int, count: int) -> None:
        many = f"drafts 1 to {count}" if count > 1 else "draft 1"
        having = many if count else "no draft yet"
        super().__init__(f"There is no draft {index}: the exchange has {having} (mind drafts).")


class DraftIsASignal(Refused):
    """A ``+1`` endorses a draft; it is not one."""

    def __init__(self, index: int, text: str) -> None:
        super().__init__(
            f"Draft {index} is the signal {text!r}, not an answer: accept a draft with content."
        )


class NoSuchExchange(Refused):
    """No exchange has that id."""

    def __init__(self, exchange: str) -> None:
        super().__init__(f"There is no exchange {exchange!r} here (mind history lists them).")


class NoSuchCluster(Refused):
    """The session has no cluster of that id, or its embedding model is no longer in use."""

    def __init__(self, cluster: int, having: Iterable[int]) -> None:
        ids = list(having)
        shown = ", ".join(str(id_) for id_ in ids[:8]) + (" …" if len(ids) > 8 else "")
        super().__init__(
            f"There is no cluster {cluster}: "
            + (f"the session has {shown} (mind cluster status)." if ids else "there are none yet.")
        )


class NoSuchArtifact(Refused):
    """The session has no artifact of that id."""

    def __init__(self, artifact: int, session: str | None = None) -> None:
        where, which = (f"in {session!r}", f" -s {session}") if session else ("here", "")
        super().__init__(
            f"There is no artifact {artifact} {where} (mind artifact list --all{which})."
        )


class NotAThought(Refused):
    """What is to be explained is no thought."""

    def __init__(self, version: int, kind: str | None) -> None:
        what = f"is a {kind}" if kind else "does not exist"
        super().__init__(
            f"Event {version} {what}: name a thought by its number (mind thoughts lists them)."
        )


class PickConflicts(Refused):
    """What is to be brought over conflicts with what is here."""

    def __init__(self, conflicts: Iterable[str]) -> None:
        super().__init__(
            f"Nothing was brought over, since there is a conflict: {'; '.join(conflicts)}."
            " Bring it all the same (--force), or leave that out (--skip)."
        )


class NothingChanges(Refused):
    """The wish is already fulfilled."""


# runs


class SomeoneRuns(Refused):
    """Another runner holds the session."""

    def __init__(self, session: str, holder: str, until: str) -> None:
        host, _, process = holder.rpartition(":")[0].rpartition(":")
        super().__init__(
            f"Session {session!r} is being run by process {process} on {host}: wait until it stops,"
            f" or until its claim ends at {until}."
        )


class RunIsOver(Refused):
    """The run that wants to go on was stopped or taken over."""

    def __init__(self, session: str) -> None:
        super().__init__(f"This run of session {session!r} is over: another runner took it.")


# the store


class NoStore(Refused):
    """No store was named and none is open."""

    def __init__(self, where: str | None = None, *, last: bool = False) -> None:
        super().__init__(
            f"The store {where!r}, which was used last, is no longer there: open another one with"
            " mind open DIR, make one with mind init DIR, or name one with --store DIR or"
            " MIND_STORE."
            if last
            else f"There is no store in {where!r}: make one with mind init {where}."
            if where
            else "No store is open: make one with mind init DIR, open one with mind open DIR,"
            " or name one with --store DIR or MIND_STORE."
        )


class StoreExists(Refused):
    """``init`` on a directory that is a store already."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where!r} is a store already: use it (mind open {where}), or add a session"
            " (mind new NAME)."
        )


class NotAStore(Refused):
    """The file is something else."""

    def __init__(self, where: str) -> None:
        super().__init__(f"{where!r} is not a Logosphere log: nothing was read or changed.")


class StoreIsADirectory(Refused):
    """A file was named as a store."""

    def __init__(self, file: str) -> None:
        super().__init__(f"{file!r} is a file: name a store's directory, the one with its log.db.")


class StoreIsClosed(Refused):
    """The present user may not read it."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where!r} can't be read ({why}): ask its owner for the right to.")


class StoreOfAnotherLayout(Refused):
    """The file was laid out by a version that this one can't read."""

    def __init__(self, where: str, found: int, known: int) -> None:
        super().__init__(
            f"{where!r} has store layout {found}, this version reads layout {known}:"
            " use the version of Logosphere that wrote it."
        )


class StoreIsReadOnly(Refused):
    """Nothing can be written here."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where!r} can't be written: reading works; copy the store or change its rights."
        )


class BadBundle(Refused):
    """A file that can't be imported, or a place that can't be exported to."""

    def __init__(self, file: str, why: str) -> None:
        super().__init__(f"{file!r}: {why.rstrip('.')}; nothing was taken over or written.")


class NoNews(Refused):
    """What is appended can't be followed."""

    def __init__(self, where: str) -> None:
        super().__init__(f"{where!r} can only be read as it is now: its news can't be followed.")


class LostRace(Broken):
    """Somebody appended first: reload and decide again."""


class StoreIsFull(Broken):
    """The disk has no room."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"The disk of {where!r} is full: nothing of this was written; free some space and"
            " try again."
        )


class StoreIsBusy(Broken):
    """Other processes wrote all the time that we were ready to wait."""

    def __init__(self, where: str, seconds: float) -> None:
        super().__init__(
            f"{where!r} was locked by another process for {seconds:.0f} s: nothing was written;"
            " try again."
        )


class StoreIsDamaged(Broken):
    """Bytes are not what was written."""


class UnknownKind(Broken):
    """An event of a kind that this version does not know."""

    def __init__(self, kind: str, session: str, version: int) -> None:
        super().__init__(
            f"Event {version} of session {session!r} is of the unknown kind {kind!r}:"
            " a newer Logosphere wrote it; install that to read it."
        )


class NewerSchema(Broken):
    """An event of a known kind in a form from the future."""

    def __init__(self, kind: str, session: str, version: int, found: int, known: int) -> None:
        super().__init__(
            f"Event {version} of session {session!r} ({kind}) has schema {found}, this version"
            f" reads up to {known}: install a newer Logosphere to read it."
        )


# queries


class BadQuery(Refused):
    """SQL that can't be run as it is written, or that does more than read."""


class QueryStopped(Refused):
    """A query that ran past its time or memory, or that the user broke off."""
