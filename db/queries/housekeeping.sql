-- name: only_one
SELECT pg_try_advisory_lock(%(key)s) AS mine

-- name: run_gauges
-- A state is due or finished, never both: each by its own index.
SELECT state, count(*) AS runs FROM runs WHERE due_at IS NOT NULL GROUP BY state
UNION ALL
SELECT state, count(*) FROM runs WHERE due_at IS NULL GROUP BY state

-- name: oldest_due
SELECT state, extract(epoch FROM now() - min(due_at))::float AS seconds FROM runs
WHERE due_at <= now() GROUP BY state

-- name: dead_gauges
SELECT error_code AS code, count(*) AS runs FROM runs WHERE state = 'dead_letter' GROUP BY error_code

-- name: review_gauges
SELECT kind, CASE WHEN opened_at > now() - interval '1 day' THEN 'day'
  WHEN opened_at > now() - interval '7 days' THEN 'week' ELSE 'older' END AS age, count(*) AS reviews
FROM reviews WHERE closed_at IS NULL GROUP BY 1, 2

-- name: sample_gauges
SELECT kind, CASE WHEN decision = 'approve' THEN 'right' ELSE 'wrong' END AS answer, count(*) AS reviews
FROM reviews WHERE kind IN ('audit', 'drop') AND decision <> 'voided' GROUP BY 1, 2

-- name: memory_gauges
SELECT status, count(*) AS memories FROM memories GROUP BY status

-- name: used
-- A fact about nobody that is used is kept longer, as far as the database lets it.
UPDATE memories m SET last_used_at = u.at, expires_at = CASE
    WHEN m.kind = 'fact' AND m.status = 'active' AND m.subject_type IS NULL AND m.scope_kind <> 'user' AND m.expires_at > now()
    THEN greatest(m.expires_at, least(u.at + make_interval(days => retention_days(m.org_id, 'facts')),
                                      m.created_at + make_interval(days => 2 * retention_days(m.org_id, 'facts'))))
    ELSE m.expires_at END
FROM (
  SELECT (h ->> 'id')::uuid AS id, max(r.at) AS at FROM recalls r, jsonb_array_elements(r.hits) h
  WHERE r.at > now() - make_interval(secs => %(seconds)s) GROUP BY 1) u
WHERE m.id = u.id AND m.last_used_at IS DISTINCT FROM u.at

-- name: empty_digests
SELECT o.name AS org, count(*) AS digests FROM recalls r JOIN orgs o ON o.id = r.org_id
WHERE r.mode = 'digest' AND r.hits = '[]' AND r.at > now() - interval '1 hour' GROUP BY 1

-- name: count_orgs
-- The orgs counted longest ago, as many as have about so many rows together: a round costs the same however large the
-- store is.
WITH due AS (
  SELECT org_id FROM (
    SELECT o.id AS org_id, sum(coalesce(s.embedded + s.missing, 0))
      OVER (ORDER BY s.counted_at NULLS FIRST, o.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM orgs o LEFT JOIN org_search s ON s.org_id = o.id AND s.stamp = %(stamp)s) x
  WHERE coalesce(before, 0) < %(rows_counted)s
)
INSERT INTO org_search (org_id, stamp, embedded, missing)
SELECT due.org_id, %(stamp)s, count(e.memory_id), count(m.id) - count(e.memory_id)
FROM due LEFT JOIN memories m ON m.org_id = due.org_id AND m.status = 'active' AND m.erased_at IS NULL
LEFT JOIN {table} e ON e.memory_id = m.id GROUP BY due.org_id
ON CONFLICT (org_id, stamp) DO UPDATE
SET embedded = excluded.embedded, missing = excluded.missing, counted_at = clock_timestamp()
RETURNING org_id

-- name: newly_excluded
-- A recall that commits late is counted by nobody: a count for a graph, not for a bill.
WITH until AS (SELECT now() AS at), asked AS (
  SELECT coalesce(nullif(current_setting('afterword.excluded_until', true), '')::timestamptz, now()) AS at
), kept AS (SELECT set_config('afterword.excluded_until', now()::text, false) FROM until)
SELECT coalesce(sum((r.excluded ->> 'unembedded')::bigint), 0) AS excluded FROM kept, asked
LEFT JOIN recalls r ON r.at > asked.at AND r.at <= now() AND r.excluded ? 'unembedded'

-- name: drop_forgotten_vectors
DELETE FROM {table} e USING memories m WHERE m.id = e.memory_id AND e.org_id = ANY (%(orgs)s)
  AND (m.status IN ('tombstoned', 'rejected') OR m.erased_at IS NOT NULL)

-- name: index_vectors
-- A batch of rows of orgs that are large, also beside what is in the index already, enters it; the org is searched by it
-- once all are in. A row written while its org was being switched is brought in by the next pass, whatever the org's
-- size by then. Org by org, each by its place in the index on (org_id, ann).
UPDATE {table} SET ann = true WHERE memory_id IN (
  SELECT x.memory_id FROM org_search s JOIN stamps t ON t.id = s.stamp,
  LATERAL (SELECT e.memory_id FROM {table} e WHERE e.org_id = s.org_id AND NOT e.ann LIMIT %(limit)s) x
  WHERE s.stamp = %(stamp)s
    AND (s.ann OR s.embedded > %(exact_rows)s AND s.embedded::float8 ^ 2 > 200.0 * t.indexed) LIMIT %(limit)s)

-- name: switch_orgs
UPDATE org_search s SET ann = true FROM stamps t
WHERE s.stamp = %(stamp)s AND t.id = s.stamp AND s.embedded > %(exact_rows)s AND NOT s.ann
  AND s.embedded::float8 ^ 2 > 200.0 * t.indexed
  AND NOT EXISTS (SELECT FROM {table} e WHERE e.org_id = s.org_id AND NOT e.ann)

-- name: count_indexed
UPDATE stamps t SET indexed = x.rows FROM (
  SELECT coalesce(sum(embedded), 0) AS rows FROM org_search WHERE stamp = %(stamp)s AND ann) x
WHERE t.id = %(stamp)s AND t.indexed <> x.rows
