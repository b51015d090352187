-- What is in this store: events of each kind, and when the last one came
SELECT kind, count(*) AS events, max(time) AS newest
FROM events GROUP BY kind ORDER BY events DESC;

-- Every session and branch, with its answers and what it cost
SELECT session, parent, branched_at, events, answers, calls, usd
FROM sessions
LEFT JOIN (SELECT session, count(*) AS answers FROM acceptances GROUP BY session) USING (session)
LEFT JOIN (
  SELECT session, count(*) AS calls, round(sum(cost_usd), 4) AS usd FROM invocations GROUP BY session
) USING (session)
ORDER BY began;

-- The conversation as this branch sees it: what was asked, what was answered
SELECT e.time AS asked, e.message, d.text AS answer
FROM exchanges_of($session, at_version := $at_version) e
LEFT JOIN drafts_of($session, at_version := $at_version) d
  ON d.exchange = e.exchange AND d.number = e.accepted
ORDER BY e.version;

-- How many drafts an exchange takes, and how long until one is accepted
SELECT exchange, drafts, signals, accepted, accepted_time - time AS waited
FROM exchanges_of($session, at_version := $at_version) ORDER BY version;

-- How much each draft changed the one before it
SELECT exchange, number, edits, round(likeness, 3) AS likeness, length(text) AS characters
FROM drafts_of($session, at_version := $at_version) WHERE NOT signal ORDER BY version;

-- Which draft of how many is accepted
SELECT drafts, accepted, count(*) AS exchanges
FROM exchanges WHERE accepted IS NOT NULL GROUP BY ALL ORDER BY ALL;

-- Why runs stop, and after how many iterations
SELECT reason, count(*) AS runs, round(avg(iterations), 1) AS iterations
FROM runs WHERE reason IS NOT NULL GROUP BY reason ORDER BY runs DESC;

-- What minds cost by model and day: calls, tokens, dollars, seconds
SELECT model, time::DATE AS day, count(*) AS calls, sum(tokens_in) AS tokens_in,
  sum(tokens_out) AS tokens_out, round(sum(cost_usd), 4) AS usd,
  round(median(latency_ms) / 1000, 1) AS median_seconds
FROM invocations GROUP BY ALL ORDER BY day, model;

-- Which replies could not be read, and why
SELECT session, iteration, model, outcome, coalesce(error, repairs::VARCHAR) AS why
FROM invocations WHERE outcome <> 'ok' OR len(repairs) > 0 ORDER BY position;

-- The newest thoughts of this branch, and the cluster that each is in
SELECT t.version, t.iteration, a.cluster, t.text
FROM thoughts_of($session, at_version := $at_version) t
LEFT JOIN cluster_assignments_of($session, at_version := $at_version) a ON a.thought = t.version
ORDER BY t.version DESC LIMIT 20;

-- Thoughts that are nearest to the newest one with a vector (cosine similarity)
WITH t AS (FROM thoughts_of($session, at_version := $at_version) WHERE embedding IS NOT NULL),
  newest AS (SELECT version AS newest, embedding AS vector FROM t ORDER BY version DESC LIMIT 1)
SELECT round(list_cosine_similarity(embedding::FLOAT[], vector::FLOAT[]), 3) AS similarity,
  version, text
FROM t, newest WHERE version <> newest ORDER BY similarity DESC LIMIT 10;

-- Which thoughts minds were shown most often
SELECT s.session, s.thought, count(*) AS shown, any_value(t.text) AS text
FROM samples s
JOIN lineage l ON l.session = s.session AND s.thought > l.after AND s.thought <= l.upto
JOIN thoughts t ON t.session = l.stream AND t.version = s.thought
GROUP BY ALL ORDER BY shown DESC LIMIT 20;

-- Who read which draft before accepting one, and how long it lay there
SELECT d.session, d.exchange, d.number, v.actor, min(v.time) - d.time AS unread
FROM drafts d JOIN draft_views v USING (session, exchange, number)
GROUP BY d.session, d.exchange, d.number, d.time, v.actor ORDER BY d.time;

-- What users did, newest first
SELECT time, session, actor, kind, what FROM interventions ORDER BY position DESC LIMIT 20;

-- Branches side by side: what each has of its own, and what it sees
SELECT l.session, max(l.depth) AS depth, count(*) AS sees,
  count(*) FILTER (l.depth = 0) AS own, count(*) FILTER (e.kind = 'draft.emitted') AS drafts
FROM lineage l JOIN events e
  ON e.session = l.stream AND e.version > l.after AND e.version <= l.upto
GROUP BY l.session ORDER BY l.session;

-- Any field of any event: where thoughts came from
SELECT data.origin::VARCHAR AS origin, count(*) AS thoughts
FROM events WHERE kind = 'thought.added' GROUP BY origin ORDER BY thoughts DESC;

-- Agents that can still be spoken to, with what they took
SELECT agent, role, project, task, model, turns, failed + lost AS unanswered,
  round(cost_usd, 4) AS usd, newest
FROM agents WHERE active ORDER BY newest DESC;

-- What agents took, by project, role and model
SELECT project, role, model, agents, active, turns, failed, tokens_in, tokens_out,
  round(cost_usd, 4) AS usd, unknown_costs
FROM agent_costs ORDER BY cost_usd DESC NULLS LAST, project, role, model;

-- The newest turns of agents that got no answer, and why
SELECT time, agent, turn, reason, detail, text
FROM turns WHERE outcome IN ('failed', 'lost') ORDER BY position DESC LIMIT 20;
