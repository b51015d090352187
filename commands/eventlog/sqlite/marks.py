"""The marks of redactions in SQLite, which has no hashes of its own."""

import sqlite3
from collections.abc import Iterable

from commands.eventlog.chain import HASH_LENGTH, marked


def newest_mark(cursor: sqlite3.Cursor) -> bytes:
    """The mark now; empty where nothing was redacted."""
    cursor.execute("SELECT mark FROM redactions ORDER BY position DESC LIMIT 1")
    row = cursor.fetchone()
    return row[0] if row is not None else b""


def note(cursor: sqlite3.Cursor, rows: Iterable[tuple[int, str, bytes]]) -> None:
    """Let the mark be that behind these rows: position, kind and state, in order."""
    for position, kind, state in rows:
        if kind == "event.redacted":
            mark = marked(newest_mark(cursor), state[:HASH_LENGTH])
            cursor.execute("INSERT INTO redactions VALUES (?,?)", (position, mark))
