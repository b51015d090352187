"""The log on disk: the one package that knows eventsourcing, msgpack and SQLite.

``EventLog`` is all that others need; the modules beside it hold one thing each: the tables
(``layout``), how an event becomes bytes (``wire``), how each event seals the ones before it
(``chain``), how rows are written and read (``recorder``), who inherits from whom (``lineage``),
states kept for speed (``states``, ``snapshots``), waking up on news (``follow``), proof
(``verify``, ``proof``), what is taken away for good (``redaction``) and sessions in a file of
their own (``bundle``).
"""

import sqlite3

from commands.eventlog.bundle import Taken
from commands.eventlog.log import EventLog
from commands.eventlog.verify import Finding, Verdict

SQLITE_VERSION = sqlite3.sqlite_version
"""The SQLite that this Python was built with; 3.40 is the oldest that we know to work."""

__all__ = ["SQLITE_VERSION", "EventLog", "Finding", "Taken", "Verdict"]
