"""The log on disk: the one package that knows eventsourcing, msgpack and SQLite.

``EventLog`` is all that others need; the modules beside it hold one thing each: how an event
becomes bytes (``wire``), how each event seals the ones before it (``chain``), how rows are kept and
guarded (``recorder``), who inherits from whom (``lineage``), states kept for speed (``snapshots``),
waking up on news (``follow``) and proof (``verify``).
"""

import sqlite3

from commands.eventlog.log import EventLog
from commands.eventlog.verify import Finding, Verdict

SQLITE_VERSION = sqlite3.sqlite_version
"""The SQLite that this Python was built with; 3.40 is the oldest that we know to work."""

__all__ = ["SQLITE_VERSION", "EventLog", "Finding", "Verdict"]
