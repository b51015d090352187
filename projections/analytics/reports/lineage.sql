-- report: Lineage
-- about: Which thoughts led to which: what a mind was shown, and what it thought then. Likeness is
--   the cosine of two vectors by the embedder of the newest thought that has one.
-- parameter: session | the session or branch; what it inherited is counted
-- parameter: at_version | as of this version of it; NULL is now

-- section: influence
-- title: Thoughts that led to most
-- nothing: no mind was shown a thought
-- column: thought | version | version of the thought
-- column: iteration | iteration | the iteration that it came from
-- column: origin | text | mind, injected or imported
-- column: shown | count | iterations that were shown it
-- column: led_to | count | thoughts that came of these
-- column: nearest | count | of these, those that are more like it than like all else that was shown
-- column: text | text | the thought
WITH t AS MATERIALIZED (
  SELECT * EXCLUDE (embedding) FROM thoughts_of($session, at_version := $at_version)
), v AS MATERIALIZED (
  SELECT version, embedding FROM vectors_of($session, at_version := $at_version)
), edges AS (
  SELECT s.thought AS shown, t.version AS thought, s.iteration
  FROM samples_of($session, at_version := $at_version) s
  LEFT JOIN t ON t.iteration = s.iteration AND t.origin = 'mind'
), nearest AS (
  SELECT e.thought, max_by(e.shown, list_inner_product(a.embedding, b.embedding)) AS shown
  FROM edges e JOIN v a ON a.version = e.shown JOIN v b ON b.version = e.thought
  GROUP BY e.thought
), counted AS (
  SELECT shown, count(DISTINCT iteration) AS times, count(thought) AS led_to
  FROM edges GROUP BY shown
), close AS (
  SELECT shown, count(*) AS nearest FROM nearest GROUP BY shown
)
SELECT c.shown AS thought, t.iteration, t.origin, c.times AS shown, c.led_to,
  CASE WHEN (SELECT count(*) FROM v) > 0 THEN coalesce(close.nearest, 0) END AS nearest, t.text
FROM counted c JOIN t ON t.version = c.shown LEFT JOIN close ON close.shown = c.shown
ORDER BY c.led_to DESC, nearest DESC NULLS LAST, c.times DESC, thought

-- section: reach
-- title: How far back minds reach
-- nothing: no mind was shown a thought
-- column: back | count | iterations between a thought and the mind that was shown it
-- column: shown | count | how often
-- column: led_to | count | pairs of a thought that was shown and one that came of it
-- column: likeness | similarity | of these pairs, on average
-- chart: bars | How far back minds reach | x=back | y=shown
-- chart: line | Likeness of what was shown and what came of it | x=back | y=likeness
WITH t AS MATERIALIZED (
  SELECT * EXCLUDE (embedding) FROM thoughts_of($session, at_version := $at_version)
), v AS MATERIALIZED (
  SELECT version, embedding FROM vectors_of($session, at_version := $at_version)
), shown AS (
  SELECT s.iteration - o.iteration AS back, s.iteration, s.thought
  FROM samples_of($session, at_version := $at_version) s JOIN t o ON o.version = s.thought
), pairs AS (
  SELECT back, count(*) AS led_to, avg(list_inner_product(a.embedding, b.embedding)) AS likeness
  FROM shown s JOIN t ON t.iteration = s.iteration AND t.origin = 'mind'
  LEFT JOIN v a ON a.version = s.thought LEFT JOIN v b ON b.version = t.version
  GROUP BY back
), times AS (
  SELECT back, count(*) AS shown FROM shown GROUP BY back
)
SELECT back, shown, coalesce(led_to, 0) AS led_to, likeness
FROM times LEFT JOIN pairs USING (back) ORDER BY back

-- section: steps
-- title: From thought to thought
-- nothing: no thought has come of one that was shown
-- keep: last
-- column: thought | version | version of a thought that a mind had
-- column: iteration | iteration | the iteration that it came from
-- column: shown | count | thoughts that the mind was shown then
-- column: nearest | version | the one of them that it is most like; NULL without vectors
-- column: back | count | iterations that lie between the two
-- column: likeness | similarity | of the two
-- column: text | text | the thought
-- column: nearest_text | text | the one that it is most like
WITH t AS MATERIALIZED (
  SELECT * EXCLUDE (embedding) FROM thoughts_of($session, at_version := $at_version)
), v AS MATERIALIZED (
  SELECT version, embedding FROM vectors_of($session, at_version := $at_version)
), best AS (
  SELECT t.version, any_value(t.iteration) AS iteration, any_value(t.text) AS text,
    count(*) AS shown,
    max_by(s.thought, list_inner_product(a.embedding, b.embedding)) AS nearest,
    max(list_inner_product(a.embedding, b.embedding)) AS likeness
  FROM t JOIN samples_of($session, at_version := $at_version) s USING (iteration)
  LEFT JOIN v a ON a.version = t.version LEFT JOIN v b ON b.version = s.thought
  WHERE t.origin = 'mind' GROUP BY t.version
)
SELECT best.version AS thought, best.iteration, shown, nearest, best.iteration - o.iteration AS back,
  likeness, best.text, o.text AS nearest_text
FROM best LEFT JOIN t o ON o.version = nearest ORDER BY thought

-- section: edges
-- title: What led to what
-- nothing: no thought has come of one that was shown
-- keep: last
-- column: shown | version | version of a thought that a mind was shown
-- column: thought | version | version of a thought that it had then
-- column: iteration | iteration | in which iteration
-- column: place | number | place of the shown one in the prompt
-- column: back | count | iterations that lie between the two
-- column: recalled | flag | the shown one was called back from beyond the pool
-- column: likeness | similarity | of the two
WITH t AS MATERIALIZED (
  SELECT * EXCLUDE (embedding) FROM thoughts_of($session, at_version := $at_version)
), v AS MATERIALIZED (
  SELECT version, embedding FROM vectors_of($session, at_version := $at_version)
)
SELECT s.thought AS shown, t.version AS thought, t.iteration, s.place,
  t.iteration - o.iteration AS back, s.recalled_by IS NOT NULL AS recalled,
  list_inner_product(a.embedding, b.embedding) AS likeness
FROM samples_of($session, at_version := $at_version) s
JOIN t ON t.iteration = s.iteration AND t.origin = 'mind' JOIN t o ON o.version = s.thought
LEFT JOIN v a ON a.version = t.version LEFT JOIN v b ON b.version = s.thought
ORDER BY t.version, s.place
