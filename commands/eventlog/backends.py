"""Which recorder a place needs."""

import os

from commands.eventlog.place import Place
from commands.eventlog.recorder import Recorder
from commands.eventlog.sqlite.layout import checked, make_database
from commands.eventlog.sqlite.recorder import opened

LOG_FILE = "log.db"


def make_store(place: Place) -> None:
    """Lay out an empty log: all of it or nothing.

    Raises:
        StoreExists: there is one.
        StoreIsReadOnly, StoreIsFull, StoreIsUnreachable: there can't be one.
    """
    if place.url is None:
        make_database(place.home / LOG_FILE)
        return
    from commands.eventlog.postgres.layout import make_schema  # noqa: PLC0415 — brings psycopg

    make_schema(place.address)


def recorder_of(place: Place, *, writable: bool) -> Recorder:
    """The rows of an existing store.

    Raises:
        NoStore, NotAStore, StoreOfAnotherLayout, StoreIsUnreachable: there is nothing here that
            we could read.
    """
    if place.url is None:
        file = place.home / LOG_FILE
        checked(file)
        return opened(file, writable=writable)
    from commands.eventlog.postgres.cells import opened as opened_there  # noqa: PLC0415 — as above

    return opened_there(place.address._replace(read_only=not writable))


def may_write(place: Place) -> bool:
    """Whether the present user has the right to; a server is not asked (see status.why_closed)."""
    if place.url is not None:
        return True
    return os.access(place.home, os.W_OK) and os.access(place.home / LOG_FILE, os.W_OK)
