"""What minds do: they are asked, think, signal; their thoughts are clustered."""

from collections.abc import Iterable

from domain.events.thinking import unpacked
from domain.recorded import Plain
from projections.analytics.schema.table import (
    ITERATION,
    REDACTED,
    SIMILARITY,
    SOURCES,
    THOUGHT,
    Column,
    Table,
    Values,
    fields,
    source,
)


def _thought(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield (
        get("text"),
        get("iteration"),
        get("mind"),
        get("origin", "mind"),
        event.redacted,
        *source(event),
    )


def _invocation(event: Plain) -> Iterable[Values]:
    get = event.data.get
    raw, costs = get("raw"), (get("cost_usd"), get("embedding_cost_usd"))
    known = [cost for cost in costs if cost is not None]
    yield (
        get("iteration"),
        get("based_on"),
        get("model"),
        get("answered_by"),
        get("protocol"),
        get("dialect"),
        get("outcome"),
        get("error"),
        get("finish"),
        get("tokens_in"),
        get("tokens_out"),
        sum(known) if known else None,
        get("latency_ms", 0),
        get("attempts", 1),
        get("embedding_tokens"),
        len(get("sampled", ())),
        list(get("repairs") or ()),
        get("prompt_hash", b"").hex(),
        None if raw is None else _valid(unpacked(raw)),
        event.redacted,
    )


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _sampled(event: Plain) -> Iterable[Values]:
    get = event.data.get
    called = {thought: (by, chance) for thought, by, chance in get("recalled", ())}
    for place, thought in enumerate(get("sampled", ()), 1):
        yield (get("iteration"), thought, place, *called.get(thought, (None, None)))


def _founded(event: Plain) -> Iterable[Values]:
    get = event.data.get
    for thought in get("members", ()):
        yield thought, get("cluster"), "founded", None, get("similarity")


def _parted(event: Plain) -> Iterable[Values]:
    get = event.data.get
    for thought in get("members", ()):
        yield thought, get("into"), "split", get("cluster"), get("similarity")


def _born(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield get("cluster"), "formed", None, len(get("members", ())), get("similarity")


def _branched(event: Plain) -> Iterable[Values]:
    get = event.data.get
    yield get("into"), "split", get("cluster"), len(get("members", ())), get("similarity")


THINKING = (
    Table(
        "base.thoughts",
        "Thoughts of minds and of others.",
        (
            Column("text", "VARCHAR", "the thought"),
            ITERATION,
            Column("mind", "VARCHAR", "the mind that had it, or who put it there"),
            Column("origin", "VARCHAR", "mind, injected or imported"),
            REDACTED,
            *SOURCES,
        ),
        {"thought.added": _thought},
    ),
    Table(
        "invocations",
        "Each time that a mind was asked.",
        (
            ITERATION,
            Column("based_on", "BIGINT", "version of the session that the prompt shows"),
            Column("model", "VARCHAR", "the mind as configured"),
            Column("answered_by", "VARCHAR", "what its provider calls the model that answered"),
            Column("protocol", "VARCHAR", "version of the format it was spoken to in"),
            Column("dialect", "VARCHAR", "full or compact"),
            Column("outcome", "VARCHAR", "ok, skipped, unparseable or failed"),
            Column("error", "VARCHAR", "what went wrong"),
            Column("finish", "VARCHAR", "why the model stopped, in its provider's word"),
            Column("tokens_in", "BIGINT", "tokens of the prompt; NULL where nobody can say"),
            Column("tokens_out", "BIGINT", "tokens of the reply; NULL where nobody can say"),
            Column(
                "cost_usd", "DOUBLE", "reply and vectors, US dollars; NULL where nobody can say"
            ),
            Column("latency_ms", "BIGINT", "how long it took, milliseconds"),
            Column("attempts", "INTEGER", "how often it was tried"),
            Column("embedding_tokens", "BIGINT", "tokens of the thoughts that got vectors"),
            Column("sampled", "INTEGER", "how many thoughts it was shown; which: samples"),
            Column("repairs", "VARCHAR[]", "what had to be mended in the reply to read it"),
            Column("prompt_hash", "VARCHAR", "sha256 of the prompt, hex"),
            Column("reply", "VARCHAR", "the raw reply; NULL when nothing came back"),
            REDACTED,
        ),
        {"mind.invoked": _invocation},
    ),
    Table(
        "samples",
        "Which thought a mind was shown in which iteration.",
        (
            ITERATION,
            THOUGHT,
            Column("place", "INTEGER", "its place in the prompt, from 1"),
            Column("recalled_by", "BIGINT", "the thought that called it back from beyond the pool"),
            Column("chance", "DOUBLE", "with which just this one was recalled, 0 to 1"),
        ),
        {"mind.invoked": _sampled},
    ),
    Table(
        "signals",
        "What minds said by what they left out, or by +1.",
        (
            Column("signal", "VARCHAR", "hard, soft or silence"),
            ITERATION,
            Column("consecutive", "INTEGER", "hard signals in a row, this one included"),
        ),
        {"mind.signalled": fields("signal", "iteration", "consecutive")},
    ),
    Table(
        "base.assignments",
        "Thoughts that came to a cluster, or left one.",
        (
            THOUGHT,
            Column("cluster", "BIGINT", "the cluster; NULL: alone from now on"),
            Column("how", "VARCHAR", "founded, split, joined, reached, moved or dropped"),
            Column("was", "BIGINT", "the cluster that it left"),
            SIMILARITY,
        ),
        {
            "thought.clustered": fields("thought", "cluster", "how", "was", "similarity"),
            "cluster.formed": _founded,
            "cluster.split": _parted,
        },
    ),
    Table(
        "base.clusters",
        "Beginnings and ends of clusters.",
        (
            Column("cluster", "BIGINT", "the cluster, or the one that is history now"),
            Column("what", "VARCHAR", "formed, split or merged"),
            Column("other", "BIGINT", "what it was split from, or merged into"),
            Column("size", "BIGINT", "thoughts that it began with"),
            SIMILARITY,
        ),
        {
            "cluster.formed": _born,
            "cluster.split": _branched,
            "cluster.merged": lambda event: (
                (
                    event.data.get("absorbed"),
                    "merged",
                    event.data.get("cluster"),
                    None,
                    event.data.get("similarity"),
                ),
            ),
        },
    ),
)
