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
  END AS what, cause, redacted
FROM events
WHERE actor LIKE 'user:%' AND kind <> 'draft.seen' AND kind NOT LIKE 'run.%';
COMMENT ON VIEW interventions IS 'What users did that changed something: asked, accepted, injected, forked, configured …';
COMMENT ON COLUMN interventions.kind IS 'what happened: message.sent, draft.accepted …';
COMMENT ON COLUMN interventions.what IS 'the text, name or setting that it is about';
