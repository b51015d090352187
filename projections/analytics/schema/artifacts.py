"""What conversations leave: artifacts, what became of them, and how the context was kept small."""

from collections.abc import Iterable

from domain.recorded import Plain
from projections.analytics.schema.table import (
    ACTOR,
    EXCHANGE,
    REDACTED,
    Column,
    Maker,
    Table,
    Values,
    fields,
)

ARTIFACT = Column("artifact", "BIGINT", "its id: the version of the event that brought it")
FOUND_BY = Column("found_by", "VARCHAR", "rules, model or user")


def _artifact(type_: str, *names: str) -> Maker:
    """A new artifact: text, parent, starts and ends are these fields of the event."""

    def row(event: Plain) -> Iterable[Values]:
        get = event.data.get
        text, parent, starts, ends = (get(name) if name else None for name in names)
        source = get("source") or (None, None)
        yield (
            event.version,
            type_ or get("type"),
            text,
            get("status") or ("open" if type_ == "effort" else "current"),
            get("resolution"),
            parent,
            starts,
            ends,
            list(get("messages", ())),
            get("found_by", "user"),
            *source[:2],
            event.redacted,
        )

    return row


def _summary(event: Plain) -> Iterable[Values]:
    if event.data.get("summary") is not None:
        row = _artifact("summary", "summary", "effort", "", "")
        yield from row(event._replace(data={**event.data, "found_by": "rules"}))


def _change(what: str, text: str = "", other: str = "", artifact: str = "artifact") -> Maker:
    """Something that became of an artifact."""

    def row(event: Plain) -> Iterable[Values]:
        get = event.data.get
        yield (
            get(artifact),
            what,
            get(text) if text else None,
            get(other) if other else None,
            get("outcome", "done") if what == "resolved" else None,
            get("found_by", "user"),
            event.actor,
            event.redacted,
        )

    return row


def _edited(event: Plain) -> Iterable[Values]:
    for what, text in (("edited", "text"), ("resolution", "resolution")):
        if event.data.get(text) is not None:
            yield from _change(what, text)(event)


def _excluded(event: Plain) -> Iterable[Values]:
    return _change("excluded" if event.data.get("excluded", True) else "included")(event)


def _evicted(event: Plain) -> Iterable[Values]:
    for artifact in event.data.get("artifacts", ()):
        data = {"artifact": artifact, "found_by": "rules"}
        yield from _change("evicted")(event._replace(data=data))


def _routed(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield (
        get("exchange"),
        get("effort"),
        list(get("mentions", ())),
        get("words"),
        get("found_by", "user"),
        event.actor,
    )


def _compacted(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield (
        list(get("exchanges", ())),
        get("effort"),
        get("how"),
        get("tokens_before"),
        get("tokens_after"),
    )


ARTIFACTS = (
    Table(
        "base.artifacts",
        "What conversations left: efforts, facts, events and summaries.",
        (
            ARTIFACT,
            Column("type", "VARCHAR", "effort, fact, event or summary"),
            Column("text", "VARCHAR", "the goal, the statement, what happens, or the summary"),
            Column("status", "VARCHAR", "open, resolved or current"),
            Column("resolution", "VARCHAR", "how an effort ended, in words"),
            Column("parent", "BIGINT", "the effort that it is a part of or came from"),
            Column("starts", "VARCHAR", "when it happens, or since when it holds, local time"),
            Column("ends", "VARCHAR", "when it is over, local time"),
            Column("messages", "BIGINT[]", "versions of the messages and drafts it came from"),
            FOUND_BY,
            Column("origin_session", "VARCHAR", "where it was imported from, if it was"),
            Column("origin_version", "BIGINT", "its version there"),
            REDACTED,
        ),
        {
            "effort.opened": _artifact("effort", "goal", "parent", "", ""),
            "fact.learned": _artifact("fact", "statement", "effort", "since", ""),
            "event.noted": _artifact("event", "what", "", "when", "expires"),
            "artifact.imported": _artifact("", "text", "", "when", "expires"),
            "context.compacted": _summary,
        },
    ),
    Table(
        "artifact_changes",
        "What became of artifacts.",
        (
            ARTIFACT,
            Column("change", "VARCHAR", "resolved, reopened, edited, superseded, evicted …"),
            Column("text", "VARCHAR", "the resolution, the new words, the reason"),
            Column("other", "BIGINT", "the other artifact, where there is one"),
            Column("outcome", "VARCHAR", "of a resolved effort: done, failed or abandoned"),
            FOUND_BY,
            ACTOR,
            REDACTED,
        ),
        {
            "effort.resolved": _change("resolved", "resolution", artifact="effort"),
            "effort.reopened": _change("reopened", "reason", artifact="effort"),
            "effort.expanded": _change("expanded", artifact="effort"),
            "effort.collapsed": _change("collapsed", artifact="effort"),
            "effort.branched": _change("branched", "branch", artifact="effort"),
            "effort.focused": _change("focused", artifact="effort"),
            "fact.superseded": _change("superseded", "reason", "by", artifact="fact"),
            "artifact.edited": _edited,
            "artifact.merged": _change("merged", other="into"),
            "artifact.rejected": _change("rejected", "reason"),
            "artifact.linked": _change("linked", "relation", "to"),
            "artifact.excluded": _excluded,
            "artifacts.evicted": _evicted,
            "artifact.recalled": _change("recalled", "words"),
        },
    ),
    Table(
        "routes",
        "Which effort an exchange belongs to, and what it speaks of.",
        (
            EXCHANGE,
            Column("effort", "BIGINT", "the effort; NULL for none"),
            Column("mentions", "BIGINT[]", "artifacts that it speaks of"),
            Column("words", "VARCHAR", "the words that told"),
            FOUND_BY,
            ACTOR,
        ),
        {"exchange.routed": _routed},
    ),
    Table(
        "compactions",
        "Exchanges that left the mind's context, never history.",
        (
            Column("exchanges", "VARCHAR[]", "the exchanges"),
            Column("effort", "BIGINT", "the effort that they belong to"),
            Column("how", "VARCHAR", "conclusion or extractive"),
            Column("tokens_before", "BIGINT", "about how many tokens they took"),
            Column("tokens_after", "BIGINT", "about how many stand for them"),
        ),
        {"context.compacted": _compacted},
    ),
    Table(
        "looks",
        "Looks at exchanges for what they leave.",
        (
            EXCHANGE,
            Column("turn", "BIGINT", "the user's turn, from 1"),
            FOUND_BY,
            Column("model", "VARCHAR", "the model that was asked, if one was"),
            Column("error", "VARCHAR", "why it did not find them"),
            Column("attempts", "BIGINT", "how often it was asked"),
            Column("tokens_in", "BIGINT", "tokens of its prompts"),
            Column("tokens_out", "BIGINT", "tokens of its replies"),
            Column("cost_usd", "DOUBLE", "what it cost, where known"),
            Column("latency_ms", "BIGINT", "what it took"),
        ),
        {
            "detector.invoked": fields(
                "exchange",
                "turn",
                "found_by",
                "model",
                "error",
                "attempts",
                "tokens_in",
                "tokens_out",
                "cost_usd",
                "latency_ms",
            )
        },
    ),
    Table(
        "tool_uses",
        "Tools that minds used while they answered; known of imported dialogues.",
        (
            EXCHANGE,
            Column("tool", "VARCHAR", "its name"),
            Column("arguments", "VARCHAR", "what it was given"),
            Column("result", "VARCHAR", "what it gave back; NULL where that is not known"),
            Column("failed", "BOOLEAN", "it gave back an error"),
            ACTOR,
            REDACTED,
        ),
        {
            "tool.used": lambda event: (
                (
                    event.data.get("exchange"),
                    event.data.get("name"),
                    event.data.get("arguments"),
                    event.data.get("result"),
                    event.data.get("failed", False),
                    event.actor,
                    event.redacted,
                ),
            )
        },
    ),
)
