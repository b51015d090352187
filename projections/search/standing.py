"""How far the index lying in a directory has come, without opening it to search."""

import sqlite3
from contextlib import closing
from pathlib import Path

from projections.search.place import FILE


def position_of(directory: Path) -> int | None:
    """The newest position of the log that is in it; None where there is no index to be read."""
    file = directory / FILE
    if not file.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as reading:
            row = reading.execute("SELECT position FROM status").fetchone()
    except sqlite3.Error:
        return None
    return int(row[0]) if row is not None else None
