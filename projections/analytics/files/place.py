"""Where an export goes, and the database that it comes from."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from domain.errors import Broken, LogosphereError, Refused, StoreIsFull
from domain.log import Log
from projections.analytics.catchup import CaughtUp, Progress, catch_up
from projections.analytics.database import Status, opening, status
from projections.analytics.place import has_no_room
from projections.analytics.schema.describe import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY = 1 << 30
"""Bytes that DuckDB may use; what does not fit goes to the disk of the export."""


def outside(target: Path, store: Path) -> Path:
    """A place for an export, once it is clear that it is outside of the store.

    Raises:
        Refused: it can't be used.
    """
    name = str(target)
    with in_our_words(target):
        try:
            place, home = target.resolve(), store.resolve()
            str(place).encode()
        except (UnicodeError, RuntimeError):
            raise Refused(f"{name!r} can't be used: choose another name.") from None
        if place == home or home in place.parents:
            raise Refused(f"{name!r} is in the store: choose a place outside of it.")
        if not place.parent.is_dir():
            raise Refused(f"{name!r}: there is no such directory to write it into; make it first.")
    return place


@contextmanager
def in_our_words(target: Path) -> Iterator[None]:
    """What disk and DuckDB say when they fail, as what is and what to do.

    Raises:
        Refused, Broken: instead.
    """
    try:
        yield
    except LogosphereError:
        raise
    except FileExistsError as error:
        raise Refused(f"{str(target)!r} is there by now: choose another name.") from error
    except OSError as error:
        if has_no_room(error):
            raise StoreIsFull(str(target)) from error
        why = error.strerror or str(error)
        raise Refused(f"{str(target)!r} can't be written ({why}): choose another place.") from error


@contextmanager
def database(
    log: Log, store: Path, target: Path, progress: Progress | None
) -> Iterator[tuple["DuckDBPyConnection", CaughtUp]]:
    """The database, caught up, for reading, in an instance of its own.

    Raises:
        Broken: it is busy, can't be read, or there is no room for what is written of it.
    """
    caught_up = catch_up(log, store, progress=progress)
    import duckdb  # noqa: PLC0415 — the dialogue never waits for it

    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": 2,
        "memory_limit": f"{MEMORY}B",
        "temp_directory": "",
    }
    # what else this process has open may have other settings, so it is attached to a new instance
    with in_our_words(target), duckdb.connect(config=settings) as connection:
        try:
            opening(lambda: _attached(connection, caught_up.file))
            yield connection, caught_up
        except duckdb.Error as error:
            if has_no_room(error):
                raise StoreIsFull(str(target)) from error
            why = str(error).partition("\n")[0]
            raise Broken(f"{str(target)!r} could not be written: {why}") from error


def _attached(connection: "DuckDBPyConnection", file: Path) -> "DuckDBPyConnection":
    connection.execute(f"ATTACH {quoted(str(file.absolute()))} AS store (READ_ONLY)")
    return connection.execute("USE store")


def status_of(connection: "DuckDBPyConnection") -> Status:
    """How far the database in use has come.

    Raises:
        Broken: it is none of ours any more.
    """
    found = status(connection)
    if found is None:
        raise Broken("The database was replaced by something else meanwhile: try again.")
    return found
