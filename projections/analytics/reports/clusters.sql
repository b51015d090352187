-- report: Clusters
-- about: What thinking keeps coming back to: clusters of similar thoughts, how they began, grew,
--   split and merged. A change of the embedding model ends those that there are.
-- parameter: session | the session or branch; what it inherited is counted
-- parameter: at_version | as of this version of it; NULL is now

-- section: clusters
-- title: Clusters
-- nothing: no cluster has formed
-- column: cluster | number | its number
-- column: began_as | text | formed of thoughts that stood alone, or split from another
-- column: born | iteration | the iteration after which it began; 0 before the first
-- column: began_with | count | thoughts that it began with
-- column: thoughts | count | thoughts that it has; what was merged into it included
-- column: newest | iteration | the iteration that its newest thought came from
-- column: split_from | number | the cluster that it was a part of
-- column: merged_into | number | the cluster that goes on in its place
-- column: text | text | its newest thought
WITH RECURSIVE moves AS (
  SELECT a.thought, a.cluster, a.version,
    lead(a.version) OVER (PARTITION BY a.thought ORDER BY a.version) AS next
  FROM path_of($session) p JOIN cluster_assignments a
    ON a.session = p.stream AND a.version > p.after AND a.version <= p.upto
  WHERE $at_version IS NULL OR a.version <= $at_version
), anew AS ( -- vectors of another model from here on: clusters begin anew
  SELECT version FROM configs_of($session, at_version := $at_version)
  WHERE key = 'embedding_model' AND old IS NOT NULL
), spans AS (
  SELECT thought, cluster, m.version AS since, least(next, anew.version) AS until
  FROM moves m ASOF LEFT JOIN anew ON m.version < anew.version WHERE cluster IS NOT NULL
), known AS (
  SELECT cluster, merged_into, merged_version
  FROM clusters_of($session, at_version := $at_version)
), went AS ( -- which cluster a cluster is, and since when
  SELECT cluster, cluster AS goes_as, 0::BIGINT AS since FROM known
  UNION ALL
  SELECT w.cluster, k.merged_into, k.merged_version
  FROM went w JOIN known k ON k.cluster = w.goes_as WHERE k.merged_version > w.since
), names AS (
  SELECT cluster, goes_as, since, lead(since) OVER (PARTITION BY cluster ORDER BY since) AS until
  FROM went
), held AS (
  SELECT s.thought, n.goes_as AS cluster, greatest(s.since, n.since) AS since,
    coalesce(least(s.until, n.until), 9223372036854775807) AS until
  FROM spans s JOIN names n ON n.cluster = s.cluster
    AND (s.until IS NULL OR n.since < s.until) AND (n.until IS NULL OR s.since < n.until)
), today AS (
  SELECT h.cluster, count(*) AS thoughts, max(t.iteration) AS newest,
    arg_max(t.text, t.version) AS text
  FROM held h JOIN thoughts_of($session, at_version := $at_version) t ON t.version = h.thought
  WHERE h.until = 9223372036854775807 GROUP BY h.cluster
)
SELECT c.cluster, c.began_as, coalesce(i.iteration, 0) AS born, c.size AS began_with,
  coalesce(today.thoughts, 0) AS thoughts, today.newest, c.split_from, c.merged_into, today.text
FROM clusters_of($session, at_version := $at_version) c
ASOF LEFT JOIN invocations_of($session, at_version := $at_version) i ON c.version >= i.version
LEFT JOIN today ON today.cluster = c.cluster
ORDER BY thoughts DESC, c.cluster

-- section: sizes
-- title: How they grew
-- about: In long sessions, at about 50 iterations that are evenly spaced.
-- nothing: no cluster has formed
-- keep: last
-- column: iteration | iteration | as its mind was shown the session; the last one: as it is now
-- column: cluster | number | the cluster
-- column: thoughts | count | thoughts that it had then
-- chart: line | Thoughts of each cluster | x=iteration | y=thoughts | series=cluster
WITH RECURSIVE moves AS (
  SELECT a.thought, a.cluster, a.version,
    lead(a.version) OVER (PARTITION BY a.thought ORDER BY a.version) AS next
  FROM path_of($session) p JOIN cluster_assignments a
    ON a.session = p.stream AND a.version > p.after AND a.version <= p.upto
  WHERE $at_version IS NULL OR a.version <= $at_version
), anew AS ( -- vectors of another model from here on: clusters begin anew
  SELECT version FROM configs_of($session, at_version := $at_version)
  WHERE key = 'embedding_model' AND old IS NOT NULL
), spans AS (
  SELECT thought, cluster, m.version AS since, least(next, anew.version) AS until
  FROM moves m ASOF LEFT JOIN anew ON m.version < anew.version WHERE cluster IS NOT NULL
), known AS (
  SELECT cluster, merged_into, merged_version
  FROM clusters_of($session, at_version := $at_version)
), went AS ( -- which cluster a cluster is, and since when
  SELECT cluster, cluster AS goes_as, 0::BIGINT AS since FROM known
  UNION ALL
  SELECT w.cluster, k.merged_into, k.merged_version
  FROM went w JOIN known k ON k.cluster = w.goes_as WHERE k.merged_version > w.since
), names AS (
  SELECT cluster, goes_as, since, lead(since) OVER (PARTITION BY cluster ORDER BY since) AS until
  FROM went
), held AS (
  SELECT s.thought, n.goes_as AS cluster, greatest(s.since, n.since) AS since,
    coalesce(least(s.until, n.until), 9223372036854775807) AS until
  FROM spans s JOIN names n ON n.cluster = s.cluster
    AND (s.until IS NULL OR n.since < s.until) AND (n.until IS NULL OR s.since < n.until)
), moments AS (
  SELECT iteration, based_on AS version
  FROM invocations_of($session, at_version := $at_version)
  UNION ALL
  SELECT coalesce(max(iteration), 0) + 1,
    (SELECT max(version) FROM events_of($session, at_version := $at_version))
  FROM invocations_of($session, at_version := $at_version)
), points AS (
  SELECT iteration, version FROM moments
  WINDOW along AS (ORDER BY iteration)
  QUALIFY lead(iteration) OVER along IS NULL OR count(*) OVER () <= 50
    OR row_number() OVER along * 50 // count(*) OVER ()
      > (row_number() OVER along - 1) * 50 // count(*) OVER ()
), turns AS (
  SELECT cluster, since AS version, 1 AS more FROM held
  UNION ALL
  SELECT cluster, until, -1 FROM held WHERE until < 9223372036854775807
), sums AS (
  SELECT cluster, version, sum(sum(more)) OVER (PARTITION BY cluster ORDER BY version) AS thoughts
  FROM turns GROUP BY cluster, version
), pairs AS (
  SELECT p.iteration, p.version, c.cluster FROM points p, (SELECT DISTINCT cluster FROM sums) c
)
SELECT b.iteration, b.cluster, s.thoughts::BIGINT AS thoughts
FROM pairs b ASOF JOIN sums s ON s.cluster = b.cluster AND b.version >= s.version
WHERE s.thoughts > 0 ORDER BY b.iteration, b.cluster

-- section: turnings
-- title: Births, splits, merges
-- nothing: no cluster has formed
-- keep: last
-- column: version | version | the version of the event
-- column: iteration | iteration | the iteration after which it happened
-- column: what | text | formed, split or merged
-- column: cluster | number | the cluster that began, or that ended in another
-- column: other | number | what it was split from, or merged into
-- column: thoughts | count | thoughts that it began with
WITH c AS (
  SELECT version, began_as AS what, cluster, split_from AS other, size
  FROM clusters_of($session, at_version := $at_version)
  UNION ALL
  SELECT merged_version, 'merged', cluster, merged_into, NULL
  FROM clusters_of($session, at_version := $at_version) WHERE merged_into IS NOT NULL
)
SELECT c.version, coalesce(i.iteration, 0) AS iteration, c.what, c.cluster, c.other,
  c.size AS thoughts
FROM c
ASOF LEFT JOIN invocations_of($session, at_version := $at_version) i ON c.version >= i.version
ORDER BY c.version
