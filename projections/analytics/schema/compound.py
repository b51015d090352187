"""What several kinds of events make together, for all sessions or for what a branch sees.

Each is one query with two sources: all rows of a table, where things belong together within their
session, or the rows that a branch sees, where they do whichever session holds them.
"""

from typing import NamedTuple


class Source(NamedTuple):
    """Where rows come from, and what else has to agree for two to belong together."""

    rows: str
    """A query for the rows of ``{}``."""
    key: str
    """Columns in front of the id that they share."""

    def of(self, table: str) -> str:
        """A query for the rows of a table."""
        return self.rows.format(table)


EVERYWHERE = Source("SELECT * FROM {}", "session, ")


def exchanges(source: Source) -> str:
    """Messages with their drafts and answers."""
    key = f"{source.key}exchange"
    return f"""WITH m AS ({source.of("messages")}), a AS ({source.of("acceptances")}), d AS (
  SELECT {key}, count(*) FILTER (NOT signal) AS drafts, count(*) FILTER (signal) AS signals,
    min(time) FILTER (NOT signal) AS first_draft
  FROM ({source.of("base.drafts")}) WHERE NOT late GROUP BY {key}
)
SELECT m.position, m.session, m.version, m.time, m.exchange, m.text AS message,
  m.actor AS asked_by, coalesce(d.drafts, 0) AS drafts, coalesce(d.signals, 0) AS signals,
  d.first_draft, a.time AS accepted_time, a.version AS accepted_version, a.number AS accepted,
  a.actor AS accepted_by, a.how AS accepted_how, m.redacted
FROM m LEFT JOIN d USING ({key}) LEFT JOIN a USING ({key})"""  # noqa: S608 — our own names


def runs(source: Source) -> str:
    """Runners that took a session, and how they gave it back."""
    return f"""WITH s AS ({source.of("base.run_starts")}), e AS ({source.of("base.run_stops")})
SELECT s.position, s.session, s.version, s.time, s.run, s.mode, s.most, s.exact, s.actor,
  e.time AS stopped_time, e.version AS stopped_version, e.reason, e.iterations, e.detail
FROM s LEFT JOIN e USING ({source.key}run)"""  # noqa: S608 — our own names


def clusters(source: Source) -> str:
    """How clusters began, and into which they merged."""
    key = f"{source.key}cluster"
    return f"""WITH c AS ({source.of("base.clusters")}), m AS (
  SELECT * FROM c WHERE what = 'merged'
)
SELECT c.position, c.session, c.version, c.time, c.cluster, c.what AS began_as,
  c.other AS split_from, c.size, c.similarity, m.other AS merged_into, m.version AS merged_version
FROM c LEFT JOIN m USING ({key}) WHERE c.what <> 'merged'"""  # noqa: S608 — our own names


def artifacts(source: Source) -> str:
    """Artifacts with their newest words, and what became of them."""
    key = f"{source.key}artifact"
    newest, ends = "{} FILTER (change {})", "'superseded', 'merged', 'rejected', 'recalled'"
    words = newest.format("arg_max(text, version)", "= 'edited'")
    ending = newest.format(
        "arg_max(CASE WHEN change <> 'reopened' THEN text END, version)",
        "IN ('resolved', 'resolution', 'reopened')",
    )
    return f"""WITH a AS ({source.of("base.artifacts")}), c AS (
  SELECT {key}, {words} AS words,
    {newest.format("arg_max(change, version)", "IN ('resolved', 'reopened')")} AS ending,
    {newest.format("max(version)", "IN ('resolved', 'reopened')")} AS ended,
    {ending} AS resolution,
    {newest.format("arg_max(outcome, version)", "= 'resolved'")} AS outcome,
    {newest.format("arg_max(change, version)", f"IN ({ends})")} AS gone,
    {newest.format("arg_max(other, version)", "IN ('superseded', 'merged')")} AS other,
    {newest.format("arg_max(change, version)", "IN ('evicted', 'recalled')")} AS place,
    {newest.format("arg_max(change, version)", "IN ('excluded', 'included')")} AS wanted
  FROM ({source.of("artifact_changes")}) GROUP BY {key}
)
SELECT a.position, a.session, a.version, a.time, a.artifact, a.type,
  coalesce(c.words, a.text) AS text,
  CASE WHEN c.gone <> 'recalled' THEN c.gone WHEN c.ending = 'resolved' THEN 'resolved'
    WHEN c.ending = 'reopened' THEN 'open' ELSE a.status END AS status,
  CASE WHEN c.ended IS NULL THEN a.resolution ELSE c.resolution END AS resolution,
  CASE WHEN c.ending = 'resolved' THEN c.outcome END AS outcome,
  CASE WHEN c.ending = 'resolved' THEN c.ended END AS resolved_version, a.parent, c.other,
  a.starts, a.ends, coalesce(c.place = 'evicted', false) AS evicted,
  coalesce(c.wanted = 'excluded', false) AS excluded, a.messages, a.found_by,
  a.origin_session, a.origin_version, a.redacted
FROM a LEFT JOIN c USING ({key})"""  # noqa: S608 — our own names


COMPOUND = {"exchanges": exchanges, "runs": runs, "clusters": clusters, "artifacts": artifacts}
