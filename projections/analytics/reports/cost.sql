-- report: Cost
-- about: What minds took: tokens, dollars, time; by model and by day.
-- parameter: session | the session or branch; what it inherited is counted
-- parameter: at_version | as of this version of it; NULL is now

-- section: total
-- title: In all
-- shape: facts
-- nothing: no mind was asked
-- column: iterations | count | times that a mind was asked
-- column: tokens_in | tokens | of prompts; NULL where nobody can say
-- column: tokens_out | tokens | of replies; NULL where nobody can say
-- column: cost | USD | of replies and vectors, as far as it is known; NULL where none is
-- column: unknown | count | iterations whose cost nobody can say
-- column: per_iteration | USD | known cost of an iteration, on average
-- column: per_answer | USD | known cost by answers accepted
-- column: thinking | seconds | how long minds took, all iterations added up
-- column: retries | count | attempts beyond the first, all iterations added up
SELECT count(*) AS iterations, sum(tokens_in)::BIGINT AS tokens_in,
  sum(tokens_out)::BIGINT AS tokens_out, sum(cost_usd) AS cost,
  count(*) FILTER (cost_usd IS NULL) AS unknown, avg(cost_usd) AS per_iteration,
  sum(cost_usd)
    / nullif((SELECT count(*) FROM acceptances_of($session, at_version := $at_version)), 0)
    AS per_answer,
  sum(latency_ms) / 1000 AS thinking, sum(greatest(attempts - 1, 0))::BIGINT AS retries
FROM invocations_of($session, at_version := $at_version) HAVING count(*) > 0

-- section: models
-- title: By model
-- nothing: no mind was asked
-- column: model | text | the mind as configured
-- column: iterations | count | times that it was asked
-- column: failed | count | of these, those that failed or could not be read
-- column: tokens_in | tokens | of prompts; NULL where nobody can say
-- column: tokens_out | tokens | of replies; NULL where nobody can say
-- column: cost | USD | of replies and vectors, as far as it is known; NULL where none is
-- column: median | ms | how long it took, median
-- column: slowest | ms | the time within which 95 of 100 came
-- column: per_second | mean | tokens of replies by second that it took
SELECT model, count(*) AS iterations,
  count(*) FILTER (outcome IN ('failed', 'unparseable')) AS failed,
  sum(tokens_in)::BIGINT AS tokens_in, sum(tokens_out)::BIGINT AS tokens_out,
  sum(cost_usd) AS cost, median(latency_ms) AS median,
  quantile_cont(latency_ms, 0.95) AS slowest,
  sum(tokens_out) / nullif(sum(latency_ms) FILTER (tokens_out IS NOT NULL) / 1000, 0) AS per_second
FROM invocations_of($session, at_version := $at_version)
GROUP BY model ORDER BY cost DESC NULLS LAST, iterations DESC, model

-- section: days
-- title: By day and model
-- nothing: no mind was asked
-- keep: last
-- column: day | day | the day, UTC
-- column: model | text | the mind as configured
-- column: iterations | count | times that it was asked
-- column: tokens | tokens | of prompts and replies, as far as they are known
-- column: cost | USD | of replies and vectors, as far as it is known; NULL where none is
-- column: median | ms | how long it took, median
-- chart: stacked | Tokens by day | x=day | y=tokens | series=model
-- chart: stacked | US dollars by day | x=day | y=cost | series=model
-- chart: line | Median latency by day | x=day | y=median | series=model
SELECT time::DATE AS day, model, count(*) AS iterations,
  (coalesce(sum(tokens_in), 0) + coalesce(sum(tokens_out), 0))::BIGINT AS tokens,
  sum(cost_usd) AS cost, median(latency_ms) AS median
FROM invocations_of($session, at_version := $at_version)
GROUP BY day, model ORDER BY day, model
