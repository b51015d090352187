-- report: Signals
-- about: What minds say by what they leave out: no draft (hard), a +1 (soft), neither draft nor
--   thought (silence); and why runs stopped.
-- parameter: session | the session or branch; what it inherited is counted
-- parameter: at_version | as of this version of it; NULL is now

-- section: kinds
-- title: Signals
-- nothing: no mind has signalled
-- column: signal | text | hard, soft or silence
-- column: count | count | how often
-- column: share | share | of all iterations
-- column: longest | count | most hard signals in a row, counting this one
-- column: newest | iteration | the iteration of the newest
-- chart: bars | Signals | x=signal | y=count
SELECT signal, count(*) AS count,
  count(*) / (SELECT count(*) FROM invocations_of($session, at_version := $at_version)) AS share,
  max(consecutive) AS longest, max(iteration) AS newest
FROM signals_of($session, at_version := $at_version) GROUP BY signal ORDER BY count DESC, signal

-- section: stops
-- title: Why runs stopped
-- nothing: no mind has run
-- column: reason | text | draft, hard signal, true silence, limit …; running: it has not stopped
-- column: mode | text | observe or background
-- column: runs | count | how many
-- column: iterations | count | what they did, added up
-- column: per_run | mean | iterations of a run, on average
-- column: newest | time | when the newest of them began
-- chart: stacked | Why runs stopped | x=reason | y=runs | series=mode
SELECT coalesce(reason, 'running') AS reason, mode, count(*) AS runs,
  coalesce(sum(iterations), 0)::BIGINT AS iterations, avg(iterations) AS per_run,
  max(time) AS newest
FROM runs_of($session, at_version := $at_version)
GROUP BY ALL ORDER BY runs DESC, reason, mode

-- section: exchanges
-- title: Exchange by exchange
-- nothing: no mind was asked
-- keep: last
-- column: iteration | iteration | the iteration that saw the message first
-- column: exchange | text | the exchange that was open
-- column: iterations | count | times that a mind was asked
-- column: hard | count | iterations without a draft
-- column: soft | count | words about the drafts, such as +1
-- column: silence | count | iterations with neither draft nor thought
-- column: message | text | what was asked
-- chart: stacked | Signals along the session | x=iteration | y=hard, soft, silence
WITH m AS (
  SELECT version, iteration, exchange, text FROM messages_of($session, at_version := $at_version)
), calls AS (
  SELECT m.exchange, count(*) AS iterations
  FROM invocations_of($session, at_version := $at_version) i
  ASOF JOIN m ON i.version >= m.version GROUP BY m.exchange
), s AS (
  SELECT m.exchange, count(*) FILTER (s.signal = 'hard') AS hard,
    count(*) FILTER (s.signal = 'soft') AS soft, count(*) FILTER (s.signal = 'silence') AS silence
  FROM signals_of($session, at_version := $at_version) s
  ASOF JOIN m ON s.version >= m.version GROUP BY m.exchange
)
SELECT m.iteration, m.exchange, calls.iterations, coalesce(hard, 0) AS hard,
  coalesce(soft, 0) AS soft, coalesce(silence, 0) AS silence, m.text AS message
FROM m JOIN calls USING (exchange) LEFT JOIN s USING (exchange) ORDER BY m.version
