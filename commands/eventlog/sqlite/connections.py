"""Connections to the file: durable, impatient, and not those of the library."""

import sqlite3

from eventsourcing.sqlite import SQLiteConnection, SQLiteConnectionPool, SQLiteDatastore

_BUSY_MS = 25
"""How long SQLite itself waits; above that we wait, since its growing naps starve the unlucky."""


class _Pool(SQLiteConnectionPool):
    """Connections that are durable, impatient, and remember their statements."""

    def _create_connection(self) -> SQLiteConnection:
        connection = sqlite3.connect(
            self.db_name,
            uri=True,
            check_same_thread=False,
            isolation_level=None,
            cached_statements=128,
            timeout=_BUSY_MS / 1000,
        )
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA trusted_schema=OFF")
            # what a redaction takes away leaves no trace in the pages it stood on
            connection.execute("PRAGMA secure_delete=ON")
        except sqlite3.Error:
            connection.close()
            raise
        self.is_journal_mode_wal = True  # set once, when the file was made
        return SQLiteConnection(sqlite_conn=connection, max_age=self.max_age)


class Datastore(SQLiteDatastore):
    """The library's, with our connections."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri, originator_id_type="text")
        self.pool.close()
        self.pool = _Pool(db_name=uri)
