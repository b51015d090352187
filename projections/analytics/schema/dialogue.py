"""What is said: messages, drafts, who read and accepted them, presence, notes."""

from collections.abc import Iterable

from domain.recorded import Plain
from projections.analytics.schema.table import (
    ACTOR,
    EXCHANGE,
    ITERATION,
    NUMBER,
    REDACTED,
    SOURCES,
    Column,
    Table,
    Values,
    source,
)


def _message(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield (
        get("exchange"),
        get("text"),
        get("iteration"),
        event.actor,
        event.redacted,
        *source(event),
    )


def _draft(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield (
        get("exchange"),
        get("index"),
        get("text"),
        get("iteration"),
        event.actor,
        get("signal", False),
        get("repeats"),
        get("late", False),
        get("confidence"),
        get("working", False),
        event.redacted,
        *source(event),
    )


def _seen(event: Plain) -> Iterable[Values]:
    exchange = event.data.get("exchange")
    return ((exchange, index, event.actor) for index in event.data.get("indexes", ()))


def _accepted(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield get("exchange"), get("index"), get("by", "user"), event.actor


DIALOGUE = (
    Table(
        "messages",
        "What users asked.",
        (
            EXCHANGE,
            Column("text", "VARCHAR", "the message"),
            Column("iteration", "BIGINT", "the iteration that sees it first"),
            ACTOR,
            REDACTED,
            *SOURCES,
        ),
        {"message.sent": _message},
    ),
    Table(
        "base.drafts",
        "Candidate answers.",
        (
            EXCHANGE,
            NUMBER,
            Column("text", "VARCHAR", "the draft"),
            ITERATION,
            ACTOR,
            Column("signal", "BOOLEAN", "a word about the drafts (+1), not an answer"),
            Column("repeats", "INTEGER", "the earlier draft with the very same text"),
            Column("late", "BOOLEAN", "came when the exchange was closed: never acceptable"),
            Column("confidence", "DOUBLE", "the mind's own estimate, 0 to 1"),
            Column("working", "BOOLEAN", "the mind said that it was not done"),
            REDACTED,
            *SOURCES,
        ),
        {"draft.emitted": _draft},
    ),
    Table(
        "draft_views",
        "Who read which draft when; a row for each draft and reading.",
        (EXCHANGE, NUMBER, ACTOR),
        {"draft.seen": _seen},
    ),
    Table(
        "acceptances",
        "Which draft became the answer of its exchange.",
        (EXCHANGE, NUMBER, Column("how", "VARCHAR", "user or auto-accept"), ACTOR),
        {"draft.accepted": _accepted},
    ),
    Table(
        "presence",
        "How present users said they were.",
        (
            Column("presence", "VARCHAR", "present, reviewing, absent …"),
            Column("status", "VARCHAR", "in their own words"),
            Column("local_time", "VARCHAR", "weekday and time where they were"),
            Column("iteration", "BIGINT", "the iteration that sees it first"),
            ACTOR,
        ),
        {
            "signal.changed": lambda event: (
                (
                    event.data.get("presence"),
                    event.data.get("status", ""),
                    event.data.get("time"),
                    event.data.get("iteration"),
                    event.actor,
                ),
            )
        },
    ),
    Table(
        "notes",
        "What was written in the margin.",
        (
            Column("text", "VARCHAR", "the note"),
            Column("about", "BIGINT[]", "versions of the events that it speaks of"),
            Column("iteration", "BIGINT", "the newest iteration when it was written"),
            ACTOR,
        ),
        {
            "note.added": lambda event: (
                (
                    event.data.get("text"),
                    list(event.data.get("about", ())),
                    event.data.get("iteration"),
                    event.actor,
                ),
            )
        },
    ),
)
