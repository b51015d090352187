"""What a table is: columns with what they mean, and how events become its rows."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from domain.recorded import Plain

Values = tuple[Any, ...]
Maker = Callable[[Plain], Iterable[Values]]


class Column(NamedTuple):
    """A column and what it holds."""

    name: str
    type: str
    about: str


class Table(NamedTuple):
    """A table, and what becomes of events in it."""

    name: str
    """With ``base.`` in front where users ask a view of that name."""
    about: str
    columns: tuple[Column, ...]
    """Behind those of :data:`ENVELOPE`, which all tables have."""
    rows: Mapping[str, Maker]
    """By kind, the values of these columns for each row that an event becomes."""


ENVELOPE = (
    Column("position", "BIGINT", "place of the event in the order of the whole store, from 1"),
    Column("session", "VARCHAR", "the session that holds the event; branches share it"),
    Column("version", "BIGINT", "place of the event in its session, ancestors included, from 1"),
    Column("time", "TIMESTAMP", "when it was recorded, UTC, to the microsecond"),
)

EXCHANGE = Column("exchange", "VARCHAR", "the exchange: a message, its drafts, their acceptance")
ITERATION = Column("iteration", "BIGINT", "number of the iteration in its session, from 1")
ACTOR = Column("actor", "VARCHAR", "who did it: user:NAME, mind:MODEL, agent:… or system")
REDACTED = Column("redacted", "BOOLEAN", "its content was taken away for good")
NUMBER = Column("number", "INTEGER", "number of the draft in its exchange, from 1")
THOUGHT = Column("thought", "BIGINT", "version of the thought: its id in its session")
SIMILARITY = Column(
    "similarity", "DOUBLE", "average link in the calibrated space; compatible: cosine"
)
SOURCES = (
    Column("source_session", "VARCHAR", "where it was picked from, if it was"),
    Column("source_version", "BIGINT", "its version there"),
)


def fields(*names: str) -> Maker:
    """One row with these fields of the event; an empty name gives None."""

    def row(event: Plain) -> Iterable[Values]:
        get = event.data.get
        return (tuple(get(name) for name in names),)

    return row


def source(event: Plain) -> tuple[str | None, int | None]:
    """Where an event was picked from."""
    found = event.data.get("source")
    return (found[0], found[1]) if found else (None, None)


def _as_hex(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)  # of kinds that are unknown


_ENCODER = json.JSONEncoder(
    skipkeys=True, default=_as_hex, ensure_ascii=False, check_circular=False
)


def as_json(value: Any) -> str:
    """JSON with bytes as hex digits."""
    return _ENCODER.encode(value)
