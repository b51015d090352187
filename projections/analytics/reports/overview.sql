-- report: Overview
-- about: What there is of a session: how long it is, what was asked and answered, what it cost.
-- parameter: session | the session or branch; what it inherited is counted
-- parameter: at_version | as of this version of it; NULL is now

-- section: facts
-- title: The session
-- shape: facts
-- nothing: nothing has happened yet
-- column: session | text | the session or branch
-- column: title | text | its title, its parent's where it has none of its own
-- column: version | version | the newest version
-- column: began | time | when its history began
-- column: newest | time | when its newest event was recorded
-- column: events | count | events that it sees
-- column: inherited | count | of these, events of the sessions that it branched off
-- column: exchanges | count | messages asked
-- column: accepted | count | exchanges that have their answer
-- column: drafts | count | candidate answers, late ones included, signals left out
-- column: iterations | count | times that a mind was asked
-- column: failed | count | of these, those that failed or could not be read
-- column: thoughts | count | thoughts, of minds and of others
-- column: clusters | count | clusters of thoughts that have not become part of others
-- column: interventions | count | what users did that changed something
-- column: tokens | tokens | of prompts and replies, as far as they are known
-- column: cost | USD | of replies and vectors, as far as it is known; NULL where none is
-- column: thinking | seconds | how long minds took, all iterations added up
-- column: redacted | count | events whose content was taken away for good
WITH e AS (
  SELECT * FROM events_of($session, at_version := $at_version)
), named AS (
  SELECT arg_max(data.title::VARCHAR, version) AS title FROM e
  WHERE kind IN ('session.started', 'session.renamed')
), kinds AS (
  SELECT max(version) AS version, min(time) AS began, max(time) AS newest, count(*) AS events,
    count(*) FILTER (session <> $session) AS inherited,
    count(*) FILTER (kind = 'message.sent') AS exchanges,
    count(*) FILTER (kind = 'draft.accepted') AS accepted,
    count(*) FILTER (kind = 'thought.added') AS thoughts,
    count(*) FILTER (kind IN ('cluster.formed', 'cluster.split'))
      - count(*) FILTER (kind = 'cluster.merged') AS clusters,
    count(*) FILTER (redacted) AS redacted
  FROM e
), content AS (
  SELECT count(*) FILTER (NOT signal) AS drafts
  FROM drafts_of($session, at_version := $at_version)
), calls AS (
  SELECT count(*) AS iterations,
    count(*) FILTER (outcome IN ('failed', 'unparseable')) AS failed,
    (coalesce(sum(tokens_in), 0) + coalesce(sum(tokens_out), 0))::BIGINT AS tokens,
    sum(cost_usd) AS cost, coalesce(sum(latency_ms), 0) / 1000 AS thinking
  FROM invocations_of($session, at_version := $at_version)
), acts AS (
  SELECT count(*) AS interventions FROM interventions_of($session, at_version := $at_version)
)
SELECT $session AS session, title, version, began, newest, events, inherited, exchanges, accepted,
  drafts, iterations, failed, thoughts, clusters, interventions, tokens, cost, thinking, redacted
FROM kinds, named, content, calls, acts WHERE events > 0

-- section: days
-- title: Day by day
-- nothing: nothing has happened yet
-- keep: last
-- column: day | day | the day, UTC
-- column: exchanges | count | messages asked
-- column: iterations | count | times that a mind was asked
-- column: drafts | count | drafts that came, signals included
-- column: accepted | count | drafts that became answers
-- column: thoughts | count | thoughts that came
-- column: events | count | events of any kind
-- chart: bars | What happened day by day | x=day | y=iterations, drafts, thoughts, accepted
SELECT time::DATE AS day, count(*) FILTER (kind = 'message.sent') AS exchanges,
  count(*) FILTER (kind = 'mind.invoked') AS iterations,
  count(*) FILTER (kind = 'draft.emitted') AS drafts,
  count(*) FILTER (kind = 'draft.accepted') AS accepted,
  count(*) FILTER (kind = 'thought.added') AS thoughts, count(*) AS events
FROM events_of($session, at_version := $at_version) GROUP BY day ORDER BY day
