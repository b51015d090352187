"""How far each draft is from the one before it: measured once, when it comes."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# the first position that matters: no draft of an exchange comes before its message, nor, if that
# was inherited, before the branch; a bound that is a number lets a scan skip all that is older
_SINCE = """
SELECT min(coalesce(m.position, b.position))
FROM (
  SELECT DISTINCT session, exchange FROM base.drafts WHERE position >= $from AND NOT signal
) d
JOIN base.beginnings b ON b.session = d.session
LEFT JOIN messages m ON m.session = d.session AND m.exchange = d.exchange
"""
# within its stream the draft before is a row above; only the first of a branch needs the ancestry
_PAIRS = """
WITH content AS (
  SELECT position, session, version, exchange, text, redacted FROM base.drafts
  WHERE position >= $since AND NOT signal AND (session, exchange) IN
    (SELECT (session, exchange) FROM base.drafts WHERE position >= $from)
), rows_above AS (
  SELECT position, session, version, exchange, text, redacted,
    lag(version) OVER above AS previous, lag(text) OVER above AS was,
    lag(redacted) OVER above AS was_redacted
  FROM content WINDOW above AS (PARTITION BY session, exchange ORDER BY version)
), first_ones AS (
  SELECT f.position, max_by(d, d.version) AS d
  FROM rows_above f
  JOIN lineage l ON l.session = f.session AND l.depth > 0
  JOIN base.drafts d ON d.session = l.stream AND d.version > l.after AND d.version <= l.upto
    AND d.exchange = f.exchange AND NOT d.signal
  WHERE f.previous IS NULL AND f.position >= $from
  GROUP BY f.position
)
SELECT r.position, coalesce(r.previous, f.d.version), r.text, coalesce(r.was, f.d.text),
  r.redacted OR coalesce(r.was_redacted, f.d.redacted)
FROM rows_above r LEFT JOIN first_ones f USING (position)
WHERE r.position >= $from AND coalesce(r.previous, f.d.version) IS NOT NULL
"""


def write_edits(connection: "DuckDBPyConnection", position: int) -> None:
    """Measure the drafts from a position on."""
    ((since,),) = connection.execute(_SINCE, {"from": position}).fetchall()
    if since is None:
        return
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 — not every slice has drafts

    rows = connection.execute(_PAIRS, {"from": position, "since": since}).fetchall()
    made: list[tuple[int, int, int | None, float | None]] = []
    for at, previous, text, was, redacted in rows:
        if redacted:
            made.append((at, previous, None, None))
            continue
        edits, longer = Levenshtein.distance(was, text), max(len(was), len(text))
        made.append((at, previous, edits, 1 - edits / longer if longer else 1.0))
    if made:
        with connection.appender("base.edits") as appender:
            appender.append_rows(made)
