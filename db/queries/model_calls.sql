-- name: reserve
-- The org is the run's own; a trigger keeps the day within its budget.
INSERT INTO model_calls (id, org_id, run_id, purpose, provider, model, endpoint_class, prompt_revision, reserved_input,
  reserved_output, reserved_cost)
VALUES (%(id)s, coalesce(%(org)s, (SELECT r.org_id FROM runs r WHERE r.id = %(run)s)), %(run)s, %(purpose)s, %(provider)s,
  %(model)s, %(endpoint_class)s, %(prompt_revision)s, %(input)s, %(output)s, %(cost)s)

-- name: settle
UPDATE model_calls SET outcome = %(outcome)s, answered_by = %(model)s, input_tokens = %(input)s,
  output_tokens = %(output)s, cost = %(cost)s, latency_seconds = %(latency_seconds)s, settled_at = now()
WHERE id = %(id)s AND outcome IN ('reserved', 'lost')

-- name: give_up
-- No deadline is longer than an hour: whoever reserved these is gone.
UPDATE model_calls SET outcome = 'lost', settled_at = now()
WHERE outcome = 'reserved' AND reserved_at < now() - interval '1 hour'

-- name: waiting
SELECT x.reason, (SELECT count(*) FROM runs r WHERE r.state = 'received' AND r.reason = x.reason
  AND r.reason IN ('over_budget', 'endpoint_not_allowed', 'model_unavailable')) AS runs
FROM unnest('{over_budget,endpoint_not_allowed,model_unavailable}'::text[]) AS x(reason)

-- name: of_day
-- What an org has used of today, and how many of its runs wait for tomorrow's budget, or for an endpoint it admits.
SELECT coalesce(sum(m.tokens_counted), 0)::bigint AS tokens_today, sum(m.cost_counted) AS usd_today,
  (SELECT count(*) FROM runs r WHERE r.org_id = %(org)s AND r.state = 'received'
    AND r.reason IN ('over_budget', 'endpoint_not_allowed')) AS waiting
FROM model_calls m WHERE m.org_id = %(org)s AND m.reserved_at >= budget_day(now())

-- name: report
-- One row a group: of what was reserved in [since, until). `unpriced` calls have tokens and no known price.
WITH calls AS (
  SELECT m.*, o.name AS org FROM model_calls m JOIN orgs o ON o.id = m.org_id
  WHERE (%(org)s::integer IS NULL OR m.org_id = %(org)s) AND m.reserved_at >= %(since)s AND m.reserved_at < %(until)s
), made AS (
  SELECT c.run_id, count(x.id) AS memories, count(x.id) FILTER (WHERE x.status = 'active') AS active
  FROM (SELECT DISTINCT run_id FROM calls WHERE run_id IS NOT NULL) c
  LEFT JOIN memories x ON x.run_id = c.run_id AND x.kind <> 'turn' GROUP BY 1
), grouped AS (
  SELECT CASE %(by)s WHEN 'org' THEN org WHEN 'day' THEN to_char(reserved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')
    WHEN 'purpose' THEN purpose ELSE provider || '/' || coalesce(answered_by, model) END AS label, run_id,
    count(*) AS calls, count(*) FILTER (WHERE outcome <> 'answered') AS failed,
    count(*) FILTER (WHERE cost_counted IS NULL) AS unpriced, sum(coalesce(input_tokens, reserved_input)) AS input_tokens,
    sum(coalesce(output_tokens, reserved_output)) AS output_tokens, sum(cost_counted) AS usd,
    array_agg(latency_seconds) FILTER (WHERE outcome = 'answered') AS latencies
  FROM calls GROUP BY 1, 2
)
SELECT g.label, sum(g.calls)::bigint AS calls, sum(g.failed)::bigint AS failed, sum(g.unpriced)::bigint AS unpriced,
  sum(g.input_tokens)::bigint AS input_tokens, sum(g.output_tokens)::bigint AS output_tokens, sum(g.usd) AS usd,
  count(g.run_id) AS runs, coalesce(sum(d.memories), 0)::bigint AS memories, coalesce(sum(d.active), 0)::bigint AS active,
  (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY l) FROM grouped h, unnest(h.latencies) l
   WHERE h.label IS NOT DISTINCT FROM g.label) AS seconds_p50,
  (SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY l) FROM grouped h, unnest(h.latencies) l
   WHERE h.label IS NOT DISTINCT FROM g.label) AS seconds_p95
FROM grouped g LEFT JOIN made d USING (run_id) GROUP BY 1 ORDER BY 1

-- name: by_memory
-- What a run's calls came to, shared out evenly among the memories it made; newest first.
SELECT x.id AS memory, o.name AS org, x.status, r.id AS run, c.calls, c.unpriced,
  round(c.tokens::numeric / count(*) OVER (PARTITION BY r.id), 1)::float AS tokens,
  c.usd / count(*) OVER (PARTITION BY r.id) AS usd
FROM (SELECT m.run_id, count(*) AS calls, count(*) FILTER (WHERE m.cost_counted IS NULL) AS unpriced,
        sum(m.tokens_counted) AS tokens, sum(m.cost_counted) AS usd
      FROM model_calls m WHERE (%(org)s::integer IS NULL OR m.org_id = %(org)s) AND m.reserved_at >= %(since)s
        AND m.reserved_at < %(until)s AND m.run_id IS NOT NULL GROUP BY 1) c
JOIN runs r ON r.id = c.run_id JOIN orgs o ON o.id = r.org_id
JOIN memories x ON x.run_id = r.id AND x.kind <> 'turn'
ORDER BY x.created_at DESC, x.id LIMIT %(limit)s
