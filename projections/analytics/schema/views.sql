-- Views and what they mean: every one has a sentence, every column of it too. The queries of
-- exchanges, runs and clusters stand in compound.py, since what a branch sees is made likewise.

CREATE VIEW lineage AS
WITH RECURSIVE up(session, stream, after, upto, depth) AS (
  SELECT session, session, coalesce(branched_at, 0), 9223372036854775807, 0
  FROM base.beginnings
  UNION ALL
  SELECT up.session, parent.session, coalesce(parent.branched_at, 0), least(up.upto, up.after),
    up.depth + 1
  FROM up
  JOIN base.beginnings child ON child.session = up.stream
  JOIN base.beginnings parent ON parent.session = child.parent
)
SELECT session, stream, after, upto, depth FROM up WHERE upto > after;
COMMENT ON VIEW lineage IS 'Whose events a session sees: its own and parts of its ancestors''.';
COMMENT ON COLUMN lineage.session IS 'the session';
COMMENT ON COLUMN lineage.stream IS 'itself or an ancestor: join with session of any other table';
COMMENT ON COLUMN lineage.after IS 'of the stream it sees after < version <= upto';
COMMENT ON COLUMN lineage.upto IS 'the newest version that it sees; the largest BIGINT for its own';
COMMENT ON COLUMN lineage.depth IS '0 for itself, 1 for its parent, and so on';

CREATE VIEW sessions AS
WITH ends AS (
  SELECT session, max(version) AS head, max(time) AS newest, count(*) AS events
  FROM events GROUP BY session
), depths AS (
  SELECT session, max(depth) AS depth FROM lineage GROUP BY session
), renamed AS (
  SELECT session, arg_max(title, version) AS title FROM base.titles GROUP BY session
), put_away AS (
  SELECT session, arg_max(archived, version) AS archived FROM base.archivings GROUP BY session
)
SELECT b.session, coalesce(renamed.title, b.title) AS title, b.time AS began, ends.newest,
  b.parent, b.branched_at, b.reason, depths.depth, ends.head, ends.events,
  coalesce(put_away.archived, false) AS archived, b.position
FROM base.beginnings b
JOIN ends USING (session) JOIN depths USING (session)
LEFT JOIN renamed USING (session) LEFT JOIN put_away USING (session);
COMMENT ON VIEW sessions IS 'Every session and branch, as it is now.';
COMMENT ON COLUMN sessions.session IS 'its name';
COMMENT ON COLUMN sessions.title IS 'its newest title of its own; NULL for a branch that got none';
COMMENT ON COLUMN sessions.began IS 'when it began, UTC';
COMMENT ON COLUMN sessions.newest IS 'when its newest event was recorded, UTC';
COMMENT ON COLUMN sessions.parent IS 'what it branched off; NULL for one that stands alone';
COMMENT ON COLUMN sessions.branched_at IS 'the newest version that it inherits';
COMMENT ON COLUMN sessions.reason IS 'why it branched, where that was said';
COMMENT ON COLUMN sessions.depth IS 'how many forks lie between it and where its history begins';
COMMENT ON COLUMN sessions.head IS 'its newest version';
COMMENT ON COLUMN sessions.events IS 'how many events it holds itself';
COMMENT ON COLUMN sessions.archived IS 'put away';
COMMENT ON COLUMN sessions.position IS 'place of its first event in the order of the store';

COMMENT ON VIEW artifacts IS 'What conversations left, with its newest words, in the session that found it; for what became of it in a branch: artifacts_of.';
COMMENT ON COLUMN artifacts.text IS 'the goal, the statement, what happens, or the summary, as last edited';
COMMENT ON COLUMN artifacts.status IS 'open, resolved, current, superseded, merged or rejected';
COMMENT ON COLUMN artifacts.outcome IS 'of a resolved effort: done, failed or abandoned';
COMMENT ON COLUMN artifacts.resolved_version IS 'version at which an effort was resolved';
COMMENT ON COLUMN artifacts.other IS 'the artifact that supersedes it or that it was merged into';
COMMENT ON COLUMN artifacts.evicted IS 'it has left the context, since nobody spoke of it';
COMMENT ON COLUMN artifacts.excluded IS 'it is kept from the mind';

CREATE VIEW drafts AS
SELECT d.position, d.session, d.version, d.time, d.exchange, d.number, d.text, d.iteration, d.actor,
  d.signal, d.repeats, d.late, d.confidence, d.working, e.previous, e.edits, e.likeness,
  d.redacted, d.source_session, d.source_version
FROM base.drafts d LEFT JOIN base.edits e USING (position);
COMMENT ON VIEW drafts IS 'Candidate answers.';
COMMENT ON COLUMN drafts.previous IS 'version of the draft before it in its exchange; no signals';
COMMENT ON COLUMN drafts.edits IS 'characters to insert, delete or replace to get from that one to it';
COMMENT ON COLUMN drafts.likeness IS '1 - edits / length of the longer one: 1 where nothing changed';

COMMENT ON VIEW exchanges IS 'A message, its drafts and its answer, in the session that asked; for what became of it in a branch: exchanges_of.';
COMMENT ON COLUMN exchanges.message IS 'what was asked';
COMMENT ON COLUMN exchanges.asked_by IS 'who asked';
COMMENT ON COLUMN exchanges.drafts IS 'how many drafts came before it was answered, without signals';
COMMENT ON COLUMN exchanges.signals IS 'how many words about the drafts (+1) came';
COMMENT ON COLUMN exchanges.first_draft IS 'when the first draft came, UTC';
COMMENT ON COLUMN exchanges.accepted_time IS 'when a draft became its answer, UTC; NULL while open';
COMMENT ON COLUMN exchanges.accepted_version IS 'version of that';
COMMENT ON COLUMN exchanges.accepted IS 'number of the accepted draft; NULL while open';
COMMENT ON COLUMN exchanges.accepted_by IS 'who accepted it';
COMMENT ON COLUMN exchanges.accepted_how IS 'user or auto-accept';

COMMENT ON VIEW runs IS 'From when to when minds were at work, and why they stopped.';
COMMENT ON COLUMN runs.stopped_time IS 'when it gave the session back, UTC; NULL while it runs';
COMMENT ON COLUMN runs.stopped_version IS 'version of that';
COMMENT ON COLUMN runs.reason IS 'why: draft, hard signal, true silence, limit, interrupted, budget, failed, accepted, lost';
COMMENT ON COLUMN runs.iterations IS 'how many iterations it did';
COMMENT ON COLUMN runs.detail IS 'more of why, where there is more';

COMMENT ON VIEW clusters IS 'Clusters of thoughts: when each began, and into which it merged.';
COMMENT ON COLUMN clusters.cluster IS 'its id in its session, from 1; given once in a history';
COMMENT ON COLUMN clusters.began_as IS 'formed of thoughts that stood alone, or split from another';
COMMENT ON COLUMN clusters.split_from IS 'the cluster that it was a part of';
COMMENT ON COLUMN clusters.size IS 'how many thoughts it began with';
COMMENT ON COLUMN clusters.merged_into IS 'the cluster that goes on in its place; NULL while it lasts';
COMMENT ON COLUMN clusters.merged_version IS 'version of that';

CREATE VIEW cluster_assignments AS
SELECT position, session, version, time, thought, cluster, how, was, similarity
FROM base.assignments;
COMMENT ON VIEW cluster_assignments IS 'When which thought came to which cluster; cluster_assignments_of says where each is.';
COMMENT ON COLUMN cluster_assignments.thought IS 'version of the thought: its id in its session';
COMMENT ON COLUMN cluster_assignments.cluster IS 'the cluster; NULL: alone from now on';
COMMENT ON COLUMN cluster_assignments.how IS 'founded, split, joined, reached, moved or dropped';
COMMENT ON COLUMN cluster_assignments.was IS 'the cluster that it left';

CREATE VIEW interventions AS
SELECT position, session, version, time, actor, kind,
  CASE kind
    WHEN 'message.sent' THEN data.text::VARCHAR
    WHEN 'draft.accepted' THEN 'draft ' || data.index::VARCHAR || ' of ' || data.exchange::VARCHAR
    WHEN 'draft.emitted' THEN data.text::VARCHAR
    WHEN 'signal.changed' THEN data.presence::VARCHAR
    WHEN 'thought.added' THEN data.text::VARCHAR
    WHEN 'note.added' THEN data.text::VARCHAR
    WHEN 'config.changed' THEN data.key::VARCHAR
    WHEN 'session.forked' THEN 'off ' || data.parent::VARCHAR || '@' || data.at_version::VARCHAR
    WHEN 'session.renamed' THEN data.title::VARCHAR
    WHEN 'session.labelled' THEN data.label::VARCHAR
    WHEN 'event.redacted' THEN data.reason::VARCHAR
    WHEN 'agent.drafted' THEN data.role::VARCHAR
    WHEN 'prompt.submitted' THEN data.text::VARCHAR
    WHEN 'project.created' THEN data.name::VARCHAR
    WHEN 'task.created' THEN data.title::VARCHAR
    WHEN 'task.closed' THEN data.reason::VARCHAR
    WHEN 'task.reopened' THEN data.reason::VARCHAR
  END AS what, cause, redacted
FROM events
WHERE actor LIKE 'user:%' AND kind <> 'draft.seen' AND kind NOT LIKE 'run.%'
  AND kind NOT LIKE 'turn.%';
COMMENT ON VIEW interventions IS 'What users did that changed something: asked, accepted, injected, forked, configured …';
COMMENT ON COLUMN interventions.kind IS 'what happened: message.sent, draft.accepted …';
COMMENT ON COLUMN interventions.what IS 'the text, name or setting that it is about';

CREATE VIEW turns AS
SELECT p.position, p.session, p.version, p.time, p.agent, s.turn, p.prompt, p.text, p.sender,
  p.actor,
  CASE WHEN e.outcome IS NOT NULL THEN e.outcome WHEN a.agent IS NOT NULL THEN 'unanswered'
    WHEN s.turn IS NOT NULL THEN 'running' ELSE 'waiting' END AS outcome,
  e.answer, e.reason, e.detail, e.model, e.calls, e.tokens_in, e.tokens_out, e.cache_read,
  e.cache_creation, e.cost_usd, e.unknown_costs, e.context_tokens, e.context_window, e.latency_ms, e.finish,
  s.time AS began, e.time AS ended, p.redacted OR coalesce(e.redacted, false) AS redacted
FROM base.prompts p
LEFT JOIN base.turn_starts s USING (agent, prompt)
LEFT JOIN base.turn_ends e USING (agent, prompt)
LEFT JOIN base.agent_ends a USING (agent);
COMMENT ON VIEW turns IS 'What was said to agents, and what came of it: one row for each prompt.';
COMMENT ON COLUMN turns.session IS 'the stream of the agent: agent:NAME';
COMMENT ON COLUMN turns.version IS 'place of the prompt in that stream, from 1';
COMMENT ON COLUMN turns.agent IS 'name of the agent: ROLE-N';
COMMENT ON COLUMN turns.turn IS 'number of the turn of its agent, from 1; NULL where none began';
COMMENT ON COLUMN turns.prompt IS 'id of the prompt: the version of its event';
COMMENT ON COLUMN turns.text IS 'what was said';
COMMENT ON COLUMN turns.sender IS 'the agent that said it, where it was one';
COMMENT ON COLUMN turns.outcome IS 'completed, failed, lost, running, waiting, withdrawn or unanswered';
COMMENT ON COLUMN turns.answer IS 'the answer; of a failed turn what had arrived';
COMMENT ON COLUMN turns.reason IS 'why there is no answer: failed, stopped, interrupted, budget, time, idle, loop, session gone';
COMMENT ON COLUMN turns.detail IS 'the same as a sentence';
COMMENT ON COLUMN turns.model IS 'the model that really answered';
COMMENT ON COLUMN turns.calls IS 'calls of the model in it';
COMMENT ON COLUMN turns.tokens_in IS 'of its prompts, all calls together, uncached; NULL where nobody can say';
COMMENT ON COLUMN turns.tokens_out IS 'of its replies, all calls together; NULL where nobody can say';
COMMENT ON COLUMN turns.cache_read IS 'tokens of its prompts that the provider had kept';
COMMENT ON COLUMN turns.cache_creation IS 'tokens of its prompts that the provider keeps now';
COMMENT ON COLUMN turns.cost_usd IS 'known cost; NULL where none is';
COMMENT ON COLUMN turns.unknown_costs IS 'calls whose cost nobody can say';
COMMENT ON COLUMN turns.context_tokens IS 'what its last call was shown, cached or not';
COMMENT ON COLUMN turns.context_window IS 'tokens that the model can be shown';
COMMENT ON COLUMN turns.latency_ms IS 'how long it took';
COMMENT ON COLUMN turns.finish IS 'why the model stopped, as the provider says';
COMMENT ON COLUMN turns.began IS 'when its turn began, UTC';
COMMENT ON COLUMN turns.ended IS 'when its turn ended, or it was taken back, UTC';
COMMENT ON COLUMN turns.redacted IS 'the content of prompt or answer was taken away for good';

CREATE VIEW agents AS
WITH t AS (
  SELECT agent, count(*) FILTER (outcome = 'completed') AS turns,
    count(*) FILTER (outcome = 'failed') AS failed, count(*) FILTER (outcome = 'lost') AS lost,
    sum(coalesce(tokens_in, 0) + coalesce(cache_read, 0) + coalesce(cache_creation, 0))::BIGINT
      AS tokens_in,
    sum(tokens_out)::BIGINT AS tokens_out, sum(cost_usd) AS cost_usd,
    sum(unknown_costs)::BIGINT AS unknown_costs
  FROM base.turn_ends GROUP BY agent
), newest AS (
  SELECT session, max(time) AS newest FROM events WHERE session LIKE 'agent:%' GROUP BY session
)
SELECT a.position, a.session, a.version, a.time, a.agent, a.role, a.model, a.client, a.project,
  a.task, a.way, a.parent, a.actor, e.agent IS NULL AS active, coalesce(t.turns, 0) AS turns,
  coalesce(t.failed, 0) AS failed, coalesce(t.lost, 0) AS lost,
  coalesce(t.tokens_in, 0) AS tokens_in, coalesce(t.tokens_out, 0) AS tokens_out, t.cost_usd,
  coalesce(t.unknown_costs, 0) AS unknown_costs, newest.newest, e.time AS ended, e.how, e.reason,
  e.detail, e.duration_ms, a.redacted
FROM base.agents a JOIN newest USING (session)
LEFT JOIN t USING (agent) LEFT JOIN base.agent_ends e USING (agent);
COMMENT ON VIEW agents IS 'Agents that were drafted, as they are now.';
COMMENT ON COLUMN agents.session IS 'its stream: agent:NAME';
COMMENT ON COLUMN agents.version IS 'always 1';
COMMENT ON COLUMN agents.time IS 'when it was drafted, UTC';
COMMENT ON COLUMN agents.actor IS 'who drafted it';
COMMENT ON COLUMN agents.active IS 'it can still be spoken to';
COMMENT ON COLUMN agents.turns IS 'turns with an answer';
COMMENT ON COLUMN agents.failed IS 'turns that failed';
COMMENT ON COLUMN agents.lost IS 'turns whose process was gone';
COMMENT ON COLUMN agents.tokens_in IS 'what its model was shown, cached or not, as far as it is known';
COMMENT ON COLUMN agents.tokens_out IS 'what its model said, as far as it is known';
COMMENT ON COLUMN agents.cost_usd IS 'known cost; NULL where none is';
COMMENT ON COLUMN agents.unknown_costs IS 'calls of its model whose cost nobody can say';
COMMENT ON COLUMN agents.newest IS 'when its newest event was recorded, UTC';
COMMENT ON COLUMN agents.ended IS 'when it ended, UTC; NULL while it is active';
COMMENT ON COLUMN agents.how IS 'undrafted, reported or killed; NULL while it is active';
COMMENT ON COLUMN agents.reason IS 'why it ended; of a report its status';
COMMENT ON COLUMN agents.detail IS 'the same as a sentence; of a report its summary';
COMMENT ON COLUMN agents.duration_ms IS 'from its beginning to its end; NULL while it is active';
COMMENT ON COLUMN agents.redacted IS 'its instructions were taken away for good';

CREATE VIEW agent_costs AS
SELECT project, role, model, count(*) AS agents, count(*) FILTER (active) AS active,
  sum(turns)::BIGINT AS turns, sum(failed + lost)::BIGINT AS failed,
  sum(tokens_in)::BIGINT AS tokens_in, sum(tokens_out)::BIGINT AS tokens_out,
  sum(cost_usd) AS cost_usd, sum(unknown_costs)::BIGINT AS unknown_costs
FROM agents GROUP BY project, role, model;
COMMENT ON VIEW agent_costs IS 'What agents took, by project, role and model.';
COMMENT ON COLUMN agent_costs.project IS 'name of the project';
COMMENT ON COLUMN agent_costs.role IS 'what they were drafted as';
COMMENT ON COLUMN agent_costs.model IS 'the mind that answers';
COMMENT ON COLUMN agent_costs.agents IS 'how many were drafted';
COMMENT ON COLUMN agent_costs.active IS 'how many can still be spoken to';
COMMENT ON COLUMN agent_costs.turns IS 'turns with an answer';
COMMENT ON COLUMN agent_costs.failed IS 'turns that failed or were lost';
COMMENT ON COLUMN agent_costs.tokens_in IS 'what models were shown, cached or not, as far as it is known';
COMMENT ON COLUMN agent_costs.tokens_out IS 'what models said, as far as it is known';
COMMENT ON COLUMN agent_costs.cost_usd IS 'known cost; NULL where none is';
COMMENT ON COLUMN agent_costs.unknown_costs IS 'calls of models whose cost nobody can say';

CREATE VIEW tasks AS
WITH c AS (
  SELECT session, arg_max(closed, version) AS closed, arg_max(reason, version) AS reason
  FROM base.closings GROUP BY session
), a AS (
  SELECT project, task, count(*) AS agents, sum(cost_usd) AS cost_usd
  FROM agents GROUP BY project, task
)
SELECT t.position, t.session, t.version, t.time, t.project, t.task, t.title, t.description,
  t.actor, NOT coalesce(c.closed, false) AS open, c.reason, coalesce(a.agents, 0) AS agents,
  a.cost_usd, t.redacted
FROM base.tasks t LEFT JOIN c USING (session) LEFT JOIN a USING (project, task);
COMMENT ON VIEW tasks IS 'Tasks of projects, as they are now.';
COMMENT ON COLUMN tasks.session IS 'its stream: task:PROJECT/SLUG';
COMMENT ON COLUMN tasks.version IS 'always 1';
COMMENT ON COLUMN tasks.time IS 'when it was set, UTC';
COMMENT ON COLUMN tasks.actor IS 'who set it';
COMMENT ON COLUMN tasks.open IS 'it is worked on';
COMMENT ON COLUMN tasks.reason IS 'why it was closed, or opened again';
COMMENT ON COLUMN tasks.agents IS 'agents that were drafted for it';
COMMENT ON COLUMN tasks.cost_usd IS 'what these cost, as far as it is known';

CREATE VIEW projects AS
WITH c AS (
  SELECT session, arg_max(closed, version) AS closed FROM base.closings GROUP BY session
), t AS (
  SELECT project, count(*) AS tasks, count(*) FILTER (open) AS open_tasks
  FROM tasks GROUP BY project
), a AS (
  SELECT project, count(*) AS agents, sum(cost_usd) AS cost_usd FROM agents GROUP BY project
)
SELECT p.position, p.session, p.version, p.time, p.project, p.description, p.roles, p.path,
  p.virtual, p.actor, NOT coalesce(c.closed, false) AS open, coalesce(t.tasks, 0) AS tasks,
  coalesce(t.open_tasks, 0) AS open_tasks, coalesce(a.agents, 0) AS agents, a.cost_usd, p.redacted
FROM base.projects p LEFT JOIN c USING (session)
LEFT JOIN t USING (project) LEFT JOIN a USING (project);
COMMENT ON VIEW projects IS 'Projects, as they are now.';
COMMENT ON COLUMN projects.session IS 'its stream: project:NAME';
COMMENT ON COLUMN projects.version IS 'always 1';
COMMENT ON COLUMN projects.time IS 'when it began, UTC';
COMMENT ON COLUMN projects.actor IS 'who began it';
COMMENT ON COLUMN projects.open IS 'things can be begun in it';
COMMENT ON COLUMN projects.tasks IS 'how many tasks it has had';
COMMENT ON COLUMN projects.open_tasks IS 'how many of these are open';
COMMENT ON COLUMN projects.agents IS 'agents that were drafted into it';
COMMENT ON COLUMN projects.cost_usd IS 'what these cost, as far as it is known';
