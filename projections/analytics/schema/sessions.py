"""How sessions begin and are named, configured, run and corrected."""

from collections.abc import Iterable

from domain.recorded import Plain
from projections.analytics.schema.table import (
    ACTOR,
    Column,
    Table,
    Values,
    as_json,
    fields,
)


def _settings(event: Plain) -> Iterable[Values]:
    for key, value in event.data.get("config", {}).items():
        yield key, as_json(value), None


def _setting(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield get("key"), as_json(get("new")), as_json(get("old"))


def _redacted(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield get("version"), get("what"), get("reason"), event.actor


SESSIONS = (
    Table(
        "base.beginnings",
        "How sessions began.",
        (
            Column("title", "VARCHAR", "its first title; NULL for a branch"),
            Column("parent", "VARCHAR", "what it branched off"),
            Column("branched_at", "BIGINT", "the newest version that it inherits"),
            Column("reason", "VARCHAR", "why it branched"),
        ),
        {
            "session.started": fields("title", "", "", ""),
            "session.forked": fields("", "parent", "at_version", "reason"),
        },
    ),
    Table(
        "base.titles",
        "Titles given later.",
        (Column("title", "VARCHAR", "the title"),),
        {"session.renamed": fields("title")},
    ),
    Table(
        "base.archivings",
        "Sessions put away and brought back.",
        (Column("archived", "BOOLEAN", "put away; False: brought back"),),
        {
            "session.archived": lambda _: ((True,),),
            "session.restored": lambda _: ((False,),),
        },
    ),
    Table(
        "labels",
        "Names of moments; the newest use of a label counts.",
        (
            Column("label", "VARCHAR", "the name"),
            Column("labelled", "BIGINT", "the version that it names"),
        ),
        {"session.labelled": fields("label", "version")},
    ),
    Table(
        "base.run_starts",
        "Runners that took a session.",
        (
            Column("run", "VARCHAR", "id of the run"),
            Column("mode", "VARCHAR", "observe or background"),
            Column("most", "BIGINT", "the most iterations"),
            Column("exact", "BOOLEAN", "asked for just so many"),
            ACTOR,
        ),
        {
            "run.started": lambda event: (
                (
                    event.data.get("run"),
                    event.data.get("mode"),
                    event.data.get("limit"),
                    event.data.get("exact", False),
                    event.actor,
                ),
            )
        },
    ),
    Table(
        "base.run_stops",
        "Runners that gave a session back.",
        (
            Column("run", "VARCHAR", "id of the run"),
            Column("reason", "VARCHAR", "why"),
            Column("iterations", "BIGINT", "how many it did"),
            Column("detail", "VARCHAR", "more of it"),
        ),
        {"run.stopped": fields("run", "reason", "iterations", "detail")},
    ),
    Table(
        "configs",
        "Settings: all of a session at its beginning, and each change.",
        (
            Column("key", "VARCHAR", "the setting"),
            Column("value", "JSON", "its value"),
            Column("old", "JSON", "the value before"),
        ),
        {"session.started": _settings, "config.changed": _setting},
    ),
    Table(
        "redactions",
        "What was taken away for good.",
        (
            Column("redacted_version", "BIGINT", "which event"),
            Column("redacted_kind", "VARCHAR", "its kind"),
            Column("reason", "VARCHAR", "why"),
            ACTOR,
        ),
        {"event.redacted": _redacted},
    ),
)
