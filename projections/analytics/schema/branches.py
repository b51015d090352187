"""What a branch sees, as of any moment: ``drafts_of('main', at_version := 40)``.

No row is copied for a fork: a branch is a few segments of streams (``path_of``), and each of these
macros is a table joined with them.
"""

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


def _seen(table: str, columns: str = "t.*") -> str:
    """Rows of a table as a branch saw them at a moment."""
    return f"""SELECT {columns} FROM path_of(_branch) p JOIN {table} t
  ON t.session = p.stream AND t.version > p.after AND t.version <= p.upto
  WHERE (at_version IS NULL OR t.version <= at_version)
    AND (at_time IS NULL OR t.time <= at_time)"""  # noqa: S608 — constants of this module only


_GIVEN = "(_branch, at_version := at_version, at_time := at_time)"
_EXCHANGES = f"""WITH m AS ({_seen("messages")}), a AS ({_seen("acceptances")}), d AS (
  SELECT exchange, count(*) FILTER (NOT signal AND NOT late) AS drafts,
    count(*) FILTER (signal AND NOT late) AS signals,
    min(time) FILTER (NOT signal AND NOT late) AS first_draft
  FROM ({_seen("base.drafts")}) GROUP BY exchange
)
SELECT m.position, m.session, m.version, m.time, m.exchange, m.text AS message,
  m.actor AS asked_by, coalesce(d.drafts, 0) AS drafts, coalesce(d.signals, 0) AS signals,
  d.first_draft, a.time AS accepted_time, a.version AS accepted_version, a.number AS accepted,
  a.actor AS accepted_by, a.how AS accepted_how, m.redacted
FROM m LEFT JOIN d USING (exchange) LEFT JOIN a USING (exchange)"""  # noqa: S608 — as above
_RUNS = f"""WITH s AS ({_seen("base.run_starts")}), e AS ({_seen("base.run_stops")})
SELECT s.position, s.session, s.version, s.time, s.run, s.mode, s.most, s.exact, s.actor,
  e.time AS stopped_time, e.version AS stopped_version, e.reason, e.iterations, e.detail
FROM s LEFT JOIN e USING (run)"""  # noqa: S608 — as above
_ASSIGNMENTS = f"""WITH RECURSIVE another AS (
  SELECT coalesce(max(version), 0) AS embedder FROM ({_seen("configs")})
  WHERE key = 'embedding_model'
), moves AS (
  SELECT * FROM ({_seen("base.assignments")}) WHERE version > (SELECT embedder FROM another)
), merges AS (
  SELECT cluster, other FROM ({_seen("base.clusters")}) WHERE what = 'merged'
), newest AS (
  SELECT thought, max_by(moves, (version, position)) AS move FROM moves GROUP BY thought
), gone AS (
  SELECT thought, move, move.cluster AS cluster FROM newest
  UNION ALL
  SELECT gone.thought, gone.move, merges.other FROM gone JOIN merges USING (cluster)
)
SELECT g.move.position AS position, g.move.session AS session, g.move.version AS version,
  g.move.time AS time, g.thought, g.cluster, g.move.how AS how, g.move.similarity AS similarity
FROM gone g WHERE g.cluster IS NULL OR g.cluster NOT IN (SELECT cluster FROM merges)"""  # noqa: S608 — as above
_CLUSTERS = f"""WITH all_of AS ({_seen("base.clusters")}), members AS (
  SELECT cluster, count(*) AS members FROM cluster_assignments_of{_GIVEN} GROUP BY cluster
)
SELECT c.position, c.session, c.version, c.time, c.cluster, c.what AS began_as,
  c.other AS split_from, c.size, coalesce(members, 0) AS members, c.similarity,
  m.other AS merged_into, m.version AS merged_version
FROM all_of c LEFT JOIN all_of m ON m.cluster = c.cluster AND m.what = 'merged'
LEFT JOIN members ON members.cluster = c.cluster
WHERE c.what <> 'merged'"""  # noqa: S608 — as above


def macros() -> list[str]:
    """Statements that make them all."""
    of = {name: _seen(name) for name in _SIMPLE}
    of |= {"exchanges": _EXCHANGES, "runs": _RUNS}
    of |= {"cluster_assignments": _ASSIGNMENTS, "clusters": _CLUSTERS}
    made = [_PATH, _comment("path_of", "the segments that make up a branch, youngest first")]
    for name, query in of.items():
        made.append(f"CREATE OR REPLACE MACRO {name}_of{_PARAMETERS} AS TABLE {query}")
        made.append(_comment(f"{name}_of", f"{name} as a branch sees them, now or at a moment"))
    return made


def _comment(macro: str, about: str) -> str:
    return f"COMMENT ON MACRO TABLE {macro} IS '{about}'"
