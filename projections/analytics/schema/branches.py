"""What a branch sees, as of any moment: ``drafts_of('main', at_version := 40)``.

No row is copied for a fork: a branch is a few segments of streams (``path_of``), and each of these
macros is a table joined with them.
"""

from projections.analytics.schema.compound import COMPOUND, Source, clusters

_SIMPLE = (
    "events",
    "labels",
    "messages",
    "drafts",
    "draft_views",
    "acceptances",
    "thoughts",
    "invocations",
    "samples",
    "signals",
    "presence",
    "configs",
    "notes",
    "redactions",
    "interventions",
    "artifact_changes",
    "routes",
    "compactions",
    "looks",
    "tool_uses",
)
_PARAMETERS = "(_branch, at_version := NULL, at_time := NULL)"
_PATH = """CREATE OR REPLACE MACRO path_of(_branch) AS TABLE
WITH RECURSIVE up(stream, after, upto, depth) AS (
  SELECT session, coalesce(branched_at, 0), 9223372036854775807, 0
  FROM base.beginnings WHERE session = _branch
  UNION ALL
  SELECT parent.session, coalesce(parent.branched_at, 0), least(up.upto, up.after), up.depth + 1
  FROM up
  JOIN base.beginnings child ON child.session = up.stream
  JOIN base.beginnings parent ON parent.session = child.parent
)
SELECT stream, after, upto, depth FROM up WHERE upto > after"""


def _seen(table: str) -> str:
    """Rows of a table as a branch saw them at a moment."""
    return f"""SELECT t.* FROM path_of(_branch) p JOIN {table} t
  ON t.session = p.stream AND t.version > p.after AND t.version <= p.upto
  WHERE (at_version IS NULL OR t.version <= at_version)
    AND (at_time IS NULL OR t.time <= at_time)"""  # noqa: S608 — constants of this module only


_GIVEN = "(_branch, at_version := at_version, at_time := at_time)"
_SOURCE = Source(_seen("{}"), "")

_SPANS = f"""WITH RECURSIVE moves AS (
  SELECT a.*, lead(a.version) OVER (PARTITION BY thought ORDER BY version, position) AS next
  FROM ({_seen("base.assignments")}) a
), anew AS ( -- vectors of another model from here on: clusters begin anew
  SELECT version FROM ({_seen("configs")}) WHERE key = 'embedding_model' AND old IS NOT NULL
), lasted AS (
  SELECT m.*, least(m.next, anew.version) AS gone
  FROM moves m ASOF LEFT JOIN anew ON m.version < anew.version
), merges AS (
  SELECT cluster, other, version FROM ({_seen("base.clusters")}) WHERE what = 'merged'
), went(cluster, goes_as, since) AS ( -- which cluster a cluster is, and since when
  SELECT DISTINCT cluster, cluster, 0::BIGINT FROM lasted WHERE cluster IS NOT NULL
  UNION ALL
  SELECT w.cluster, m.other, m.version
  FROM went w JOIN merges m ON m.cluster = w.goes_as WHERE m.version > w.since
), names AS (
  SELECT *, lead(since) OVER (PARTITION BY cluster ORDER BY since) AS until FROM went
)
SELECT l.position, l.session, l.version, l.time, l.thought, n.goes_as AS cluster, l.how,
  l.similarity, greatest(l.version, n.since) AS since, least(l.gone, n.until) AS until
FROM lasted l LEFT JOIN names n ON n.cluster = l.cluster
  AND (l.gone IS NULL OR n.since < l.gone) AND (n.until IS NULL OR l.version < n.until)"""  # noqa: S608 — as above
_ASSIGNMENTS = f"SELECT * EXCLUDE (since, until) FROM cluster_spans_of{_GIVEN} WHERE until IS NULL"  # noqa: S608 — as above
_CLUSTERS = f"""SELECT c.*, coalesce(members, 0) AS members
FROM ({clusters(_SOURCE)}) c LEFT JOIN (
  SELECT cluster, count(*) AS members FROM cluster_assignments_of{_GIVEN} GROUP BY cluster
) USING (cluster)"""  # noqa: S608 — as above
_VECTORS = f"""WITH t AS (SELECT * FROM ({_seen("base.thoughts")}) WHERE NOT redacted), chosen AS (
  SELECT max_by(v.embedder, (t.version, e.newest)) AS embedder
  FROM t JOIN base.vectors v USING (position) JOIN base.embedders e ON e.embedder = v.embedder
)
SELECT t.position, t.session, t.version, t.time, e.model AS embedder, v.embedding
FROM t JOIN base.vectors v USING (position) JOIN chosen USING (embedder)
JOIN base.embedders e ON e.embedder = v.embedder"""  # noqa: S608 — as above
_ANSWERS = f"""WITH a AS (
  SELECT * FROM exchanges_of{_GIVEN} WHERE accepted IS NOT NULL
), calls AS (
  SELECT version, row_number() OVER (ORDER BY version) AS n FROM invocations_of{_GIVEN}
), newer AS (
  SELECT a.exchange, count(*) AS newer FROM a JOIN drafts_of{_GIVEN} d USING (exchange)
  WHERE NOT d.signal AND d.version < a.accepted_version AND d.number > a.accepted
  GROUP BY a.exchange
)
SELECT a.position, a.session, a.version, a.time, a.exchange, a.drafts, a.accepted,
  a.accepted_time, a.accepted_version, a.accepted_how,
  date_diff('microsecond', a.time, a.accepted_time) / 1e6 AS seconds,
  coalesce(upto.n, 0) - coalesce(before.n, 0) AS iterations, coalesce(newer, 0) AS newer,
  coalesce(p.presence, 'absent') AS presence, coalesce(p.status, '') AS status
FROM a
ASOF LEFT JOIN calls before ON a.version >= before.version
ASOF LEFT JOIN calls upto ON a.accepted_version >= upto.version
ASOF LEFT JOIN presence_of{_GIVEN} p ON a.accepted_version >= p.version
LEFT JOIN newer ON newer.exchange = a.exchange"""  # noqa: S608 — as above

# at most so many evenly spaced iterations, as their minds were shown the session, and how it is now
_POINTS = f"""CREATE OR REPLACE MACRO base.points_of(_branch, _most, at_version := NULL,
  at_time := NULL) AS TABLE
WITH moments AS (
  SELECT iteration, based_on AS version FROM invocations_of{_GIVEN}
  UNION ALL
  SELECT coalesce(max(iteration), 0) + 1, (SELECT max(version) FROM events_of{_GIVEN})
  FROM invocations_of{_GIVEN}
)
SELECT iteration, version FROM moments
WINDOW along AS (ORDER BY iteration)
QUALIFY lead(iteration) OVER along IS NULL OR count(*) OVER () <= _most
  OR row_number() OVER along * _most // count(*) OVER ()
    > (row_number() OVER along - 1) * _most // count(*) OVER ()"""  # noqa: S608 — as above

# what branched off where this one did, as it was when the newest event that is looked at came
_FAMILY = f"""CREATE OR REPLACE MACRO base.family_of(_branch, at_version := NULL, at_time := NULL)
AS TABLE
WITH moment AS (
  SELECT CASE WHEN at_version IS NULL AND at_time IS NULL THEN 9223372036854775807
    ELSE max(position) END AS upto
  FROM events_of{_GIVEN}
), roots AS (
  SELECT session, arg_max(stream, depth) AS root FROM lineage GROUP BY session
)
SELECT s.session, s.parent, s.position, moment.upto
FROM sessions s JOIN roots USING (session), moment
WHERE root = (SELECT root FROM roots WHERE session = _branch)
  AND (s.position <= moment.upto OR s.session = _branch)"""  # noqa: S608 — as above

ABOUT = {
    "clusters_of": {"members": "how many thoughts are in it at that moment"},
    "cluster_spans_of": {
        "thought": "version of the thought: its id in its session",
        "cluster": "the cluster, under the name that it had then; NULL: alone",
        "how": "founded, split, joined, reached, moved or dropped",
        "similarity": "average link in the calibrated space; compatible: cosine",
        "since": "version from which on it was there",
        "until": "version from which on it was not; NULL while it is",
    },
    "vectors_of": {
        "embedder": "what made the vectors: the embedder of the newest thought that has one",
        "embedding": "unit vector of the thought of that version",
    },
    "answers_of": {
        "seconds": "from the message to its answer",
        "iterations": "how often a mind was asked in between",
        "newer": "how many newer drafts were passed over",
        "presence": "in force when it was accepted; absent before any was said",
        "status": "what the user said with it",
    },
}
"""What those columns mean that no table or view has, by branch view."""

LIKE = {
    "path_of": "lineage",
    "cluster_spans_of": "cluster_assignments",
    "vectors_of": "thoughts",
    "answers_of": "exchanges",
}
"""The view whose columns a branch view has, where that is not of the same name."""


def macros() -> list[str]:
    """Statements that make them all."""
    seen = {name: (_seen(name), f"{name} as a branch sees them") for name in _SIMPLE}
    seen |= {
        name: (make(_SOURCE), f"{name} as a branch sees them") for name, make in COMPOUND.items()
    }
    seen |= {
        "clusters": (_CLUSTERS, "clusters as a branch sees them, with how many thoughts are there"),
        "cluster_spans": (_SPANS, "in which cluster each thought was, from when to when"),
        "cluster_assignments": (_ASSIGNMENTS, "in which cluster each thought is"),
        "vectors": (_VECTORS, "vectors of thoughts, all by one embedder"),
        "answers": (_ANSWERS, "what it took until a draft was accepted"),
    }
    made = [_PATH, _comment("path_of", "the segments that make up a branch, youngest first")]
    for name, (query, about) in seen.items():
        made.append(f"CREATE OR REPLACE MACRO {name}_of{_PARAMETERS} AS TABLE {query}")
        made.append(_comment(f"{name}_of", f"{about}, now or at a moment"))
    return [*made, _POINTS, _FAMILY]


def _comment(macro: str, about: str) -> str:
    return f"COMMENT ON MACRO TABLE {macro} IS '{about}'"
