-- report: Acceptance
-- about: What it takes until a draft is accepted, and which one is, by how present the user was:
--   the presence in force when it was accepted, absent before the first one was said.
-- parameter: session | the session or branch; what it inherited is counted
-- parameter: at_version | as of this version of it; NULL is now

-- section: presence
-- title: By presence
-- nothing: no draft was accepted
-- column: presence | text | absent, reviewing or engaged
-- column: exchanges | count | exchanges that were answered then
-- column: seconds | seconds | from message to acceptance, median
-- column: iterations | mean | times that a mind was asked in between, median
-- column: drafts | mean | drafts that there were, median
-- column: accepted | mean | number of the accepted draft, median
-- column: newest | share | of the accepted drafts, those that were the newest
-- column: automatic | count | accepted by rule, not by hand
-- chart: bars | Iterations until a draft is accepted (median) | x=presence | y=iterations
SELECT presence, count(*) AS exchanges, median(seconds) AS seconds,
  median(iterations) AS iterations, median(drafts) AS drafts, median(accepted) AS accepted,
  count(*) FILTER (newer = 0) / count(*) AS newest,
  count(*) FILTER (accepted_how <> 'user') AS automatic
FROM answers_of($session, at_version := $at_version) GROUP BY presence ORDER BY exchanges DESC, presence

-- section: numbers
-- title: Which draft
-- nothing: no draft was accepted
-- column: accepted | number | number of the accepted draft in its exchange
-- column: presence | text | the presence in force when it was accepted
-- column: exchanges | count | exchanges with this answer
-- chart: stacked | Which draft is accepted | x=accepted | y=exchanges | series=presence
SELECT accepted, presence, count(*) AS exchanges
FROM answers_of($session, at_version := $at_version) GROUP BY ALL ORDER BY accepted, presence

-- section: exchanges
-- title: Exchange by exchange
-- nothing: no draft was accepted
-- keep: last
-- column: exchange | text | the exchange
-- column: at | time | when it was answered
-- column: seconds | seconds | from message to acceptance
-- column: iterations | count | times that a mind was asked in between
-- column: drafts | count | drafts that there were
-- column: accepted | number | number of the accepted draft
-- column: newer | count | newer drafts that were passed over
-- column: how | text | user or auto-accept
-- column: presence | text | the presence in force when it was accepted
-- column: status | text | what the user said with it
-- chart: scatter | Seconds until a draft is accepted | x=at | y=seconds | series=presence
SELECT exchange, accepted_time AS "at", seconds, iterations, drafts, accepted, newer,
  accepted_how AS how, presence, status
FROM answers_of($session, at_version := $at_version) ORDER BY version
