"""The front door for notebooks and scripts: open a store, ask its history, visit its past.

    import logosphere

    with logosphere.open("letters") as store:
        store.sql("FROM exchanges_of('main')").show()
        store.state("draft:2~1").dialogue

What is returned is what the rooms behind use: :class:`domain.session.Session`,
:class:`domain.recorded.Recorded`, relations and connections of DuckDB.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

from cli.wiring import find_store
from commands.eventlog import EventLog
from commands.eventlog.place import Place, place_of
from commands.moments import resolve
from domain.errors import NoSuchSession, Refused
from domain.ids import SessionId, session_id
from domain.recorded import Recorded
from domain.refs import parse_moment
from domain.session import Session
from projections.analytics.catchup import CaughtUp, catch_up
from projections.analytics.database import opened

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["Store", "open"]


class Store:
    """An open store: reads only; what changes a session is done with ``mind``."""

    def __init__(self, place: Place) -> None:
        """Open the store at a place.

        Raises:
            NoStore, NotAStore, StoreOfAnotherLayout: there is none that could be read.
        """
        self.log = EventLog(place)
        self.directory = self.log.place.home
        self._connection: DuckDBPyConnection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of all files; connections and relations that came from here end, too."""
        self._let_go()
        self.log.close()

    def sessions(self) -> list[SessionId]:
        """The names of all sessions, in order of their beginnings."""
        return self.log.sessions()

    def version(self, ref: str = "head", session: str = "main") -> tuple[SessionId, int]:
        """Look up a moment: the session and the version that a ref names.

        Args:
            ref: as ``mind at`` takes it: ``head~3``, ``iter:2``, ``draft:1``, ``other@40`` …
            session: of which session, unless the ref names one.

        Raises:
            BadRef, BadName, NoSuchSession, NoSuchMoment, AmbiguousRef: it names no moment.
        """
        named, moment = parse_moment(ref)
        which = named or session_id(session)
        if not self.log.exists(which):
            raise NoSuchSession(which, self.log.sessions())
        return which, resolve(self.log, which, moment)

    def state(self, ref: str = "head", session: str = "main") -> Session:
        """What a session was at a moment; arguments and errors as :meth:`version`."""
        which, version = self.version(ref, session)
        return self.log.state(which, version)

    def events(self, ref: str = "head", session: str = "main") -> Iterator[Recorded]:
        """All that had happened up to a moment, oldest first; as :meth:`version`."""
        which, version = self.version(ref, session)
        return self.log.read(which, upto=version)

    def catch_up(self) -> CaughtUp:
        """Bring the database up to the newest event; said by what is returned if that failed."""
        self._let_go()
        return catch_up(self.log, self.directory)

    def connect(self) -> "DuckDBPyConnection":
        """A connection to all of the history as it is now, read-only.

        A store has one at a time: the one before is closed, so that this one sees what is new.

        Raises:
            Refused: DuckDB is not installed.
            StoreIsBusy, StoreIsReadOnly, StoreIsFull, StoreIsDamaged: it can't be read just now.
        """
        caught = self.catch_up()
        self._connection = opened(caught.file)
        return self._connection

    def sql(self, query: str, **parameters: Any) -> "DuckDBPyRelation":
        """Ask with SQL; the relation turns into Arrow, polars, pandas or a list as DuckDB's do.

        The first question catches up; later ones see the same, until :meth:`connect` or
        :meth:`catch_up`, after which relations from before can't be read any more.

        Args:
            query: one SELECT.
            parameters: values for ``$name``.

        Raises:
            duckdb.Error: it can't be answered.
        """
        connection = self._connection or self.connect()
        relation = connection.sql(query, params=parameters or None)
        if relation is None:
            raise Refused("A question is a SELECT: this one has no answer.")
        return relation

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def open(place: str | os.PathLike[str] | None = None) -> Store:  # noqa: A001 — as zipfile, gzip
    """Open a store: a directory, ``postgresql://…``, or the one ``mind`` would take from here.

    Raises:
        NoStore, NotAStore, StoreOfAnotherLayout: there is none that could be read.
    """
    return Store(find_store(place_of(place) if place is not None else None))
