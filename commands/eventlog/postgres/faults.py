"""What PostgreSQL, libpq and the network say when they fail, in our words."""

import re

import psycopg

from domain.errors import (
    LogosphereError,
    LostRace,
    NoStore,
    NotAStore,
    StoreIsBusy,
    StoreIsClosed,
    StoreIsDamaged,
    StoreIsFull,
    StoreIsReadOnly,
)
from domain.server_errors import NoSuchDatabase, StoreIsUnreachable

LOCK_TIMEOUT = 30.0
"""Seconds to wait for other writers before giving up."""

_GONE = ("08", "57P", "25P03", "25P04", "25006", "55006")
"""SQLSTATEs of a connection that is no good any more: lost, shut down, timed out, or to a server
that has become a standby."""

_BUSY = ("55P03", "57014", "40P01", "40001", "53300")
_FULL = ("53100", "53200", "53400")
_NO_STORE = ("42P01", "3F000")
_NOT_OURS = ("42703", "42P07", "42710", "42723")
"""SQLSTATEs of tables that are called as ours are, and have other columns."""

_OURS = ("23505", "LG002")
_DENIED = ("28", "42501")

_NO_DATABASE = re.compile(r'FATAL: +database "(.+)" does not exist$')
"""What libpq repeats of a server that did not let us in: it keeps its SQLSTATE, 3D000, to itself.
One that speaks another language is told as it spoke."""


def _is(error: BaseException, codes: tuple[str, ...]) -> bool:
    state = getattr(error, "sqlstate", None) or ""
    return state.startswith(codes) if state else False


def is_lost(error: BaseException) -> bool:
    """Whether the connection went away, so that another one may do better."""
    if _is(error, _GONE):
        return True
    return isinstance(error, psycopg.OperationalError) and error.sqlstate is None


def is_worth_another_try(error: BaseException) -> bool:
    """Whether nothing was written, and the same may succeed now."""
    return is_lost(error) or _is(error, ("40001", "40P01"))


def is_conflict(error: BaseException) -> bool:
    """Whether a row was there already, or the one before it was not."""
    return _is(error, _OURS)


def translated(error: BaseException, where: str) -> LogosphereError:
    """The error that tells the user what is and what to do."""
    why = str(error).partition("\n")[0]
    if is_conflict(error):
        return LostRace(f"somebody else wrote to {where!r} first: {why}")
    if _is(error, ("42501", "25006")):
        return StoreIsReadOnly(where)
    if _is(error, _DENIED):
        return StoreIsClosed(where, why)
    if _is(error, _BUSY):
        return StoreIsBusy(where, LOCK_TIMEOUT)
    if _is(error, _FULL):
        return StoreIsFull(where)
    if _is(error, _NO_STORE):
        return NoStore(where)
    if _is(error, _NOT_OURS):
        return NotAStore(where)
    missing = _missing(error)
    if missing is not None:
        return NoSuchDatabase(where, missing)
    if is_lost(error):
        return StoreIsUnreachable(where, _reason(error))
    return StoreIsDamaged(f"{where!r} can't be read to the end ({why}): ask its server's log.")


def _reason(error: BaseException) -> str:
    """Why there is no connection; of one host without the host, which the address names already."""
    told, *others = str(error).splitlines() or [""]
    if not any(" failed: " in line for line in others):
        told = told.rpartition(" failed: ")[2]
    return told.removeprefix("FATAL:").strip()


def _missing(error: BaseException) -> str | None:
    """The database that a server does not have; of several servers, that none of them has."""
    if getattr(error, "sqlstate", None) is not None:
        return None
    told = [line for line in str(error).splitlines() if " failed: " in line]
    found = {match[1] if (match := _NO_DATABASE.search(line)) else None for line in told}
    return found.pop() if len(found) == 1 else None
