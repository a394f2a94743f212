-- name: run_between
SELECT id FROM runs WHERE id BETWEEN %(low)s AND %(high)s ORDER BY id LIMIT 2

-- name: memory_between
SELECT id FROM memories WHERE id BETWEEN %(low)s AND %(high)s ORDER BY id LIMIT 2

-- name: drop_between
SELECT id FROM drops WHERE id BETWEEN %(low)s AND %(high)s ORDER BY id LIMIT 2

-- name: rejected_event_between
SELECT id FROM rejected_events WHERE id BETWEEN %(low)s AND %(high)s ORDER BY id LIMIT 2

-- name: reclassification_between
SELECT id FROM reclassifications WHERE id BETWEEN %(low)s AND %(high)s ORDER BY id LIMIT 2

-- name: run_verdicts
-- The runs that carried people's decisions about this run's memories onward.
SELECT v.id, v.memory_id, v.state, v.error_code, v.created_at FROM memories m
JOIN runs v ON v.memory_id = m.id AND v.org_id = m.org_id WHERE m.run_id = %(id)s ORDER BY v.created_at, v.id

-- name: run_replays
SELECT p.replay_id, p.code, p.at, r.actor, r.reason FROM replayed_runs p JOIN replays r ON r.id = p.replay_id
WHERE p.run_id = %(id)s ORDER BY p.at

-- name: memory
SELECT m.id, o.name AS org, m.run_id, m.kind, m.status, m.hold_reasons, m.classes, m.superseded_by, m.revision
FROM memories m JOIN orgs o ON o.id = m.org_id WHERE m.id = %(id)s

-- name: rejected
SELECT id, reason, detail, deliveries, at, tried_at, replayed_at, purge_after, length(body) AS bytes
FROM rejected_events WHERE %(reason)s::text IS NULL OR reason = %(reason)s ORDER BY at DESC, id LIMIT %(limit)s

-- name: rejected_event
SELECT id, entry_id, reason, detail, deliveries, at, tried_at, replayed_at, purge_after, body
FROM rejected_events WHERE id = %(id)s

-- name: spaces
SELECT name, tier FROM spaces WHERE org_id = %(org_id)s ORDER BY name

-- name: stamps
-- As housekeeping last counted them. `calibrated`: both sides are.
SELECT s.id, s.provider, s.model, s.revision, s.dimension, s.is_current, s.indexed, s.registered_at,
  coalesce(sum(o.embedded), 0)::bigint AS embedded, coalesce(sum(o.missing), 0)::bigint AS missing,
  (SELECT count(*) FROM calibrated c WHERE c.stamp = s.id) = 2 AS calibrated,
  pg_size_pretty(pg_total_relation_size(format('afterword.%I', 'embeddings_' || s.id)::regclass)) AS size
FROM stamps s LEFT JOIN org_search o ON o.stamp = s.id GROUP BY s.id ORDER BY s.id

-- name: coverage
SELECT s.stamp AS space, o.name AS org, s.embedded, s.missing, s.ann, s.counted_at FROM org_search s
JOIN orgs o ON o.id = s.org_id ORDER BY s.stamp, o.name

-- name: replay
SELECT id, status, rearmed, refused, died_again, finished_at FROM replays WHERE id = %(id)s

-- name: rejected_left
SELECT id, reason, detail, at FROM rejected_events
WHERE replayed_at IS NULL AND length(body) > 0 AND %(which)s IN (reason, id::text) ORDER BY at, id LIMIT 100000

-- name: finished
SELECT count(*) FILTER (WHERE due_at IS NULL) AS finished, count(*) FILTER (WHERE due_at IS NOT NULL) AS unfinished
FROM runs WHERE org_id = %(org_id)s
