"""What is written down of each event: the tables under everything that can be asked.

A table is declared once: its columns with what they mean, and for each kind of event how one
becomes rows. What several events make together is a view (``views.sql``). Rows of forks are those
that forks have of their own; what a branch *sees* is ``…_of('branch')``.
"""

from domain.recorded import Plain
from projections.analytics.schema.agents import AGENTS
from projections.analytics.schema.artifacts import ARTIFACTS
from projections.analytics.schema.dialogue import DIALOGUE
from projections.analytics.schema.sessions import SESSIONS
from projections.analytics.schema.table import (
    ACTOR,
    REDACTED,
    Column,
    Table,
    Values,
    as_json,
)
from projections.analytics.schema.thinking import THINKING

_LEFT_OUT = frozenset({"embedding", "raw"})


def row(event: Plain) -> Values:
    """The row of :data:`EVENTS`, of any kind."""
    data = event.data
    if not _LEFT_OUT.isdisjoint(data):
        data = {name: value for name, value in data.items() if name not in _LEFT_OUT}
    command = event.command.hex()
    return event.kind, event.actor, command, event.cause, event.redacted, as_json(data)


EVENTS = Table(
    "events",
    "Every event of the store, of any kind.",
    (
        Column("kind", "VARCHAR", "what happened: message.sent, draft.emitted …"),
        ACTOR,
        Column("command", "VARCHAR", "id of the wish that it came from, 32 hex digits"),
        Column("cause", "BIGINT", "version of the event that led to it, where one did"),
        REDACTED,
        Column(
            "data", "VARIANT", "its fields: data.text::VARCHAR; hashes as hex; no raw, no vectors"
        ),
    ),
    {},
)

TABLES: tuple[Table, ...] = (*SESSIONS, *DIALOGUE, *THINKING, *ARTIFACTS, *AGENTS)
