-- report: Drafts
-- about: How answers grow: drafts per exchange, what changes from one to the next, what comes
--   again to the letter.
-- parameter: session | the session or branch; what it inherited is counted
-- parameter: at_version | as of this version of it; NULL is now

-- section: summary
-- title: In all
-- shape: facts
-- nothing: no message was sent
-- column: exchanges | count | messages asked
-- column: drafts | count | candidate answers; signals (+1) left out, late ones included
-- column: per_exchange | mean | drafts of an exchange before it was answered, on average
-- column: median_per_exchange | mean | the same, median
-- column: most | count | the same, the most
-- column: repeated | count | drafts with the very text of an earlier one of their exchange
-- column: late | count | drafts that came when their exchange was closed
-- column: characters | mean | length of a draft, on average; redacted ones left out
-- column: edits | mean | characters inserted, deleted or replaced since the draft before, median
-- column: likeness | similarity | to the draft before, on average: 1 where nothing changed
WITH d AS (
  SELECT * FROM drafts_of($session, at_version := $at_version) WHERE NOT signal
), x AS (
  SELECT count(*) AS exchanges, avg(drafts) AS per_exchange, median(drafts) AS median_per_exchange,
    max(drafts) AS most
  FROM exchanges_of($session, at_version := $at_version)
)
SELECT any_value(x.exchanges) AS exchanges, count(d.version) AS drafts,
  any_value(x.per_exchange) AS per_exchange,
  any_value(x.median_per_exchange) AS median_per_exchange, any_value(x.most) AS most,
  count(d.repeats) AS repeated, count(*) FILTER (d.late) AS late,
  avg(length(d.text)) FILTER (NOT d.redacted) AS characters, median(d.edits) AS edits,
  avg(d.likeness) AS likeness
FROM x LEFT JOIN d ON true HAVING any_value(x.exchanges) > 0

-- section: evolution
-- title: From draft to draft
-- nothing: no draft has come
-- column: number | number | number of the draft in its exchange, signals counted
-- column: drafts | count | exchanges that have a draft of this number
-- column: repeated | count | of these, those with the very text of an earlier one
-- column: characters | mean | length, on average; redacted ones left out
-- column: edits | mean | characters inserted, deleted or replaced since the draft before, median
-- column: likeness | similarity | to the draft before, on average: 1 where nothing changed
-- chart: line | Likeness to the draft before | x=number | y=likeness
-- chart: bars | Characters changed since the draft before (median) | x=number | y=edits
SELECT number, count(*) AS drafts, count(repeats) AS repeated,
  avg(length(text)) FILTER (NOT redacted) AS characters, median(edits) AS edits,
  avg(likeness) AS likeness
FROM drafts_of($session, at_version := $at_version) WHERE NOT signal
GROUP BY number ORDER BY number

-- section: distribution
-- title: How many drafts it takes
-- nothing: no message was sent
-- column: drafts | number | drafts of an exchange before it was answered
-- column: exchanges | count | exchanges with so many
-- column: accepted | count | of these, those that have their answer
-- chart: bars | Exchanges by their number of drafts | x=drafts | y=exchanges
SELECT drafts, count(*) AS exchanges, count(accepted) AS accepted
FROM exchanges_of($session, at_version := $at_version) GROUP BY drafts ORDER BY drafts

-- section: exchanges
-- title: Exchange by exchange
-- nothing: no message was sent
-- keep: last
-- column: exchange | text | the exchange
-- column: drafts | count | drafts before it was answered, signals left out
-- column: signals | count | words about the drafts (+1)
-- column: repeated | count | drafts with the very text of an earlier one
-- column: late | count | drafts that came when it was closed
-- column: edits | count | characters changed from its first draft to its last, step by step
-- column: likeness | similarity | of a draft to the one before, on average
-- column: accepted | number | the draft that became the answer; NULL while it is open
-- column: message | text | what was asked
WITH d AS (
  SELECT exchange, count(repeats) AS repeated, count(*) FILTER (late) AS late,
    sum(edits)::BIGINT AS edits, avg(likeness) AS likeness
  FROM drafts_of($session, at_version := $at_version) WHERE NOT signal GROUP BY exchange
)
SELECT x.exchange, x.drafts, x.signals, coalesce(d.repeated, 0) AS repeated,
  coalesce(d.late, 0) AS late, d.edits, d.likeness, x.accepted, x.message
FROM exchanges_of($session, at_version := $at_version) x LEFT JOIN d USING (exchange)
ORDER BY x.version

-- section: steps
-- title: Draft by draft
-- nothing: no draft has come
-- keep: last
-- column: exchange | text | the exchange
-- column: number | number | number of the draft in its exchange
-- column: iteration | iteration | the iteration that it came from
-- column: characters | count | its length; NULL where it is redacted
-- column: edits | count | characters changed since the draft before; NULL for the first
-- column: likeness | similarity | to the draft before: 1 where nothing changed
-- column: repeats | number | the earlier draft with the very same text
-- column: late | flag | it came when the exchange was closed
-- column: text | text | the draft
SELECT exchange, number, iteration, CASE WHEN NOT redacted THEN length(text) END AS characters,
  edits, likeness, repeats, late, text
FROM drafts_of($session, at_version := $at_version) WHERE NOT signal ORDER BY version
