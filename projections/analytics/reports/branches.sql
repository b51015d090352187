-- report: Branches
-- about: A session, what it branched off and all that branched off with it, side by side. As of a
--   past version, the others are as they were when that event was recorded.
-- parameter: session | the session or branch; what it inherited is counted
-- parameter: at_version | as of this version of it; NULL is now

-- section: branches
-- title: Side by side
-- shape: beside
-- nothing: there is no such session
-- column: session | text | the session or branch
-- column: here | flag | the one that is asked about
-- column: parent | text | what it branched off
-- column: shared | version | the newest version that it has in common with the one asked about
-- column: version | version | its newest version
-- column: own | count | events that it holds itself
-- column: exchanges | count | messages asked; here and below, inherited ones included
-- column: accepted | count | exchanges that have their answer
-- column: drafts | count | drafts, signals left out
-- column: per_exchange | mean | drafts by exchange
-- column: iterations | count | times that a mind was asked
-- column: thoughts | count | thoughts, of minds and of others
-- column: cost | USD | of replies and vectors, as far as it is known; NULL where none is
-- column: newest | time | when its newest event was recorded
-- chart: bars | Branches side by side | x=session | y=exchanges, drafts, iterations, thoughts
WITH family AS (
  SELECT * FROM base.family_of($session, at_version := $at_version)
), moment AS (
  SELECT DISTINCT upto FROM family
), heads AS (
  SELECT session AS stream, max(version) AS head, count(*) AS own, max(time) AS newest
  FROM events, moment WHERE position <= moment.upto
    AND session IN (SELECT stream FROM lineage JOIN family USING (session))
  GROUP BY session
), things AS (
  SELECT session, version, position, 1 AS x, 0 AS a, 0 AS d, 0 AS i, 0 AS t, NULL AS c FROM messages
  UNION ALL SELECT session, version, position, 0, 1, 0, 0, 0, NULL FROM acceptances
  UNION ALL SELECT session, version, position, 0, 0, 1, 0, 0, NULL FROM drafts WHERE NOT signal
  UNION ALL SELECT session, version, position, 0, 0, 0, 1, 0, cost_usd FROM invocations
  UNION ALL SELECT session, version, position, 0, 0, 0, 0, 1, NULL FROM thoughts
), sums AS (
  SELECT session AS stream, version, sum(x) OVER w AS x, sum(a) OVER w AS a, sum(d) OVER w AS d,
    sum(i) OVER w AS i, sum(t) OVER w AS t, coalesce(sum(c) OVER w, 0) AS c, count(c) OVER w AS n
  FROM things, moment
  WHERE position <= moment.upto AND session IN (SELECT stream FROM heads)
  WINDOW w AS (PARTITION BY session ORDER BY version)
), parts AS (
  SELECT l.session, l.stream, l.after, least(l.upto, h.head) AS upto, h.newest
  FROM lineage l JOIN family USING (session) JOIN heads h ON h.stream = l.stream
  WHERE h.head > l.after
), counted AS (
  SELECT p.session, max(p.upto) AS version, max(p.newest) FILTER (p.stream = p.session) AS newest,
    sum(coalesce(u.x, 0) - coalesce(b.x, 0))::BIGINT AS exchanges,
    sum(coalesce(u.a, 0) - coalesce(b.a, 0))::BIGINT AS accepted,
    sum(coalesce(u.d, 0) - coalesce(b.d, 0))::BIGINT AS drafts,
    sum(coalesce(u.i, 0) - coalesce(b.i, 0))::BIGINT AS iterations,
    sum(coalesce(u.t, 0) - coalesce(b.t, 0))::BIGINT AS thoughts,
    sum(coalesce(u.c, 0) - coalesce(b.c, 0)) AS cost,
    sum(coalesce(u.n, 0) - coalesce(b.n, 0)) AS known
  FROM parts p
  ASOF LEFT JOIN sums u ON u.stream = p.stream AND p.upto >= u.version
  ASOF LEFT JOIN sums b ON b.stream = p.stream AND p.after >= b.version
  GROUP BY p.session
), common AS (
  SELECT o.session, max(least(o.upto, m.upto)) AS shared
  FROM parts m JOIN parts o USING (stream) WHERE m.session = $session GROUP BY o.session
)
SELECT f.session, f.session = $session AS here, f.parent, common.shared, c.version,
  coalesce(h.own, 0) AS own, exchanges, accepted, drafts,
  drafts / nullif(exchanges, 0) AS per_exchange, iterations, thoughts,
  CASE WHEN known > 0 THEN cost END AS cost,
  coalesce(c.newest, (SELECT max(time) FROM events_of($session, at_version := $at_version)))
    AS newest
FROM family f JOIN counted c USING (session) LEFT JOIN common USING (session)
LEFT JOIN heads h ON h.stream = f.session ORDER BY f.position

-- section: answers
-- title: Where several went on by themselves
-- nothing: no exchange was worked on in more than one branch
-- keep: last
-- column: exchange | text | the exchange; after a fork, the next ones may bear the same name
-- column: session | text | the session or branch
-- column: drafts | count | drafts that came there, inherited ones and signals left out
-- column: accepted | number | number of the draft that was accepted there
-- column: message | text | what was asked
-- column: answer | text | the accepted draft
WITH family AS (
  SELECT * FROM base.family_of($session, at_version := $at_version)
), work AS (
  SELECT session, version, position, exchange, 0 AS drafts, NULL AS accepted FROM messages
  UNION ALL
  SELECT session, version, position, exchange, 1, NULL FROM drafts WHERE NOT signal
  UNION ALL
  SELECT session, version, position, exchange, 0, number FROM acceptances
), done AS (
  SELECT f.session, f.position, exchange, sum(drafts)::BIGINT AS drafts, max(accepted) AS accepted,
    max(w.version) AS version
  FROM work w JOIN family f USING (session) WHERE w.position <= f.upto GROUP BY ALL
), several AS (
  SELECT *, min(version) OVER (PARTITION BY exchange) AS first FROM done
  QUALIFY count(*) OVER (PARTITION BY exchange) > 1
), texts AS (
  SELECT s.session, s.exchange, any_value(m.text) AS message, any_value(d.text) AS answer
  FROM several s JOIN lineage l USING (session)
  LEFT JOIN messages m ON m.session = l.stream AND m.version > l.after AND m.version <= l.upto
    AND m.exchange = s.exchange
  LEFT JOIN drafts d ON d.session = l.stream AND d.version > l.after AND d.version <= l.upto
    AND d.exchange = s.exchange AND d.number = s.accepted
  GROUP BY s.session, s.exchange
)
SELECT s.exchange, s.session, s.drafts, s.accepted, message, answer
FROM several s LEFT JOIN texts USING (session, exchange)
ORDER BY s.first, s.exchange, s.position
