-- report: Diversity
-- about: Whether thinking still goes anywhere: how alike the thoughts of the active pool are, in
--   how many directions and clusters they go, how far from where they began. Vectors are those of
--   the embedder of the newest thought that has one; one that came late counts from the beginning.
-- parameter: session | the session or branch; what it inherited is counted
-- parameter: at_version | as of this version of it; NULL is now

-- section: vectors
-- title: What is compared
-- shape: facts
-- nothing: no thought has a vector
-- column: embedder | text | the model that made the vectors
-- column: dimension | count | numbers in a vector
-- column: thoughts | count | thoughts in all
-- column: compared | count | of these, those with a vector by it
-- column: others | count | those with vectors by other models alone
WITH t AS (
  SELECT version, position, redacted FROM thoughts_of($session, at_version := $at_version)
), v AS (
  SELECT count(*) AS compared, any_value(embedder) AS embedder, any_value(len(embedding)) AS dimension
  FROM vectors_of($session, at_version := $at_version)
), known AS (
  SELECT count(DISTINCT version) AS thoughts FROM t JOIN base.vectors USING (position)
  WHERE NOT redacted
)
SELECT embedder, dimension, (SELECT count(*) FROM t) AS thoughts, compared,
  known.thoughts - compared AS others
FROM v, known WHERE compared > 0

-- section: pool
-- title: The active pool
-- about: In long sessions, at about 100 iterations that are evenly spaced.
-- nothing: no thought has a vector
-- keep: last
-- column: iteration | iteration | as its mind was shown the session; the last one: as it is now
-- column: pool | count | thoughts in the active pool; redacted ones left out
-- column: compared | count | of its newest 100, those with a vector
-- column: similarity | similarity | mean cosine of any two of these
-- column: directions | mean | how many directions these go in: Vendi score of order 2
-- column: near_first | similarity | their mean cosine to the first thought: falls with the drift
-- column: clusters | count | clusters that the pool's thoughts are of
-- column: alone | count | thoughts of the pool that are of none
-- column: effective | mean | clusters counted by weight (inverse Simpson); who is alone is one
-- column: largest | share | of the pool, what its largest cluster has
-- chart: line | How alike the thoughts of the pool are | x=iteration | y=similarity, near_first
-- chart: line | Directions and clusters of the pool | x=iteration | y=directions, effective
WITH held AS (
  SELECT thought, cluster, since, coalesce(until, 9223372036854775807) AS until
  FROM cluster_spans_of($session, at_version := $at_version) WHERE cluster IS NOT NULL
), points AS (
  SELECT * FROM base.points_of($session, 100, at_version := $at_version)
), t AS (
  SELECT version, row_number() OVER (ORDER BY version) AS n
  FROM thoughts_of($session, at_version := $at_version) WHERE NOT redacted
), v AS MATERIALIZED (
  SELECT t.n, v.embedding FROM t JOIN vectors_of($session, at_version := $at_version) v
    USING (version)
), sizes AS ( -- the pool's size while it was configured so
  SELECT c.since, c.until, c.size, coalesce(t.n, 0) AS total FROM (
    SELECT version AS since, value::BIGINT AS size,
      lead(version, 1, 9223372036854775807) OVER (ORDER BY version) AS until
    FROM configs_of($session, at_version := $at_version) WHERE key = 'active_pool_size'
  ) c ASOF LEFT JOIN t ON c.until >= t.version
), totals AS (
  SELECT p.iteration, p.version, coalesce(t.n, 0) AS total
  FROM points p ASOF LEFT JOIN t ON p.version >= t.version
), pools AS ( -- a pool that was made smaller and larger again has to fill up first
  SELECT p.iteration, p.version, p.total,
    least(p.total, min(s.size + greatest(p.total - s.total, 0))) AS pool
  FROM totals p LEFT JOIN sizes s ON s.since <= p.version
  GROUP BY p.iteration, p.version, p.total
), members AS MATERIALIZED (
  SELECT p.iteration, p.version, p.pool, t.n, t.version AS thought, t.n > p.total - 100 AS newest
  FROM pools p, unnest(range(p.total - p.pool + 1, p.total + 1)) r(n) JOIN t ON t.n = r.n
), compared AS (
  SELECT m.iteration, m.n, v.embedding FROM members m JOIN v USING (n) WHERE m.newest
), cosines AS (
  SELECT a.iteration, list_inner_product(a.embedding, b.embedding) AS cosine
  FROM compared a JOIN compared b ON a.iteration = b.iteration AND a.n < b.n
), alike AS (
  SELECT iteration, avg(cosine) AS similarity, sum(cosine * cosine) AS squares
  FROM cosines GROUP BY iteration
), near AS (
  SELECT iteration, count(*) AS compared, avg(list_inner_product(c.embedding, f.embedding)) AS near
  FROM compared c, (SELECT embedding FROM v ORDER BY n LIMIT 1) f GROUP BY iteration
), gathered AS (
  SELECT m.iteration, m.pool, h.cluster, count(*) AS thoughts
  FROM members m LEFT JOIN held h
    ON h.thought = m.thought AND h.since <= m.version AND m.version < h.until
  GROUP BY m.iteration, m.pool, h.cluster
), shares AS (
  SELECT iteration, pool, count(cluster) AS clusters,
    coalesce(sum(thoughts) FILTER (cluster IS NULL), 0)::BIGINT AS alone,
    pool * pool / sum(CASE WHEN cluster IS NULL THEN thoughts ELSE thoughts * thoughts END)
      AS effective,
    coalesce(max(thoughts) FILTER (cluster IS NOT NULL), 0) / pool AS largest
  FROM gathered GROUP BY iteration, pool
)
SELECT s.iteration, s.pool, n.compared, a.similarity,
  n.compared * n.compared / (n.compared + 2 * coalesce(a.squares, 0)) AS directions,
  n.near AS near_first, s.clusters, s.alone, s.effective, s.largest
FROM shares s JOIN near n USING (iteration) LEFT JOIN alike a USING (iteration)
ORDER BY s.iteration
