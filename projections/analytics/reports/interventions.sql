-- report: Interventions
-- about: What users did that changed something: asked, accepted, injected, forked, configured …
--   and how far minds went on by themselves in between.
-- parameter: session | the session or branch; what it inherited is counted
-- parameter: at_version | as of this version of it; NULL is now

-- section: kinds
-- title: By kind
-- nothing: no user has done anything
-- column: kind | text | what happened: message.sent, draft.accepted …
-- column: actor | text | who did it
-- column: count | count | how often
-- column: newest | time | when, last
-- chart: stacked | What users did | x=kind | y=count | series=actor
SELECT kind, actor, count(*) AS count, max(time) AS newest
FROM interventions_of($session, at_version := $at_version)
GROUP BY kind, actor ORDER BY count DESC, kind, actor

-- section: acts
-- title: One by one
-- nothing: no user has done anything
-- keep: last
-- column: version | version | the version of the event
-- column: at | time | when
-- column: iteration | iteration | the newest iteration by then; 0 before the first
-- column: alone | count | iterations that followed before the next one
-- column: actor | text | who did it
-- column: kind | text | what happened
-- column: what | text | the text, name or setting that it is about
-- chart: line | Iterations by themselves until the next intervention | x=version | y=alone
WITH i AS (
  SELECT version, iteration, row_number() OVER (ORDER BY version) AS n
  FROM invocations_of($session, at_version := $at_version)
), acts AS (
  SELECT a.version, a.time, a.actor, a.kind, a.what, coalesce(i.iteration, 0) AS iteration,
    coalesce(i.n, 0) AS n
  FROM interventions_of($session, at_version := $at_version) a
  ASOF LEFT JOIN i ON a.version >= i.version
)
SELECT version, time AS "at", iteration,
  lead(n, 1, (SELECT count(*) FROM i)) OVER (ORDER BY version) - n AS alone, actor, kind, what
FROM acts ORDER BY version
