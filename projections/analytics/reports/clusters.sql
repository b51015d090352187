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
WITH today AS (
  SELECT a.cluster, max(t.iteration) AS newest, arg_max(t.text, t.version) AS text
  FROM cluster_assignments_of($session, at_version := $at_version) a
  JOIN thoughts_of($session, at_version := $at_version) t ON t.version = a.thought
  GROUP BY a.cluster
)
SELECT c.cluster, c.began_as, coalesce(i.iteration, 0) AS born, c.size AS began_with,
  c.members AS thoughts, today.newest, c.split_from, c.merged_into, today.text
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
WITH held AS (
  SELECT thought, cluster, since, coalesce(until, 9223372036854775807) AS until
  FROM cluster_spans_of($session, at_version := $at_version) WHERE cluster IS NOT NULL
), points AS (
  SELECT * FROM base.points_of($session, 50, at_version := $at_version)
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
