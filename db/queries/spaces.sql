-- name: fill_alone
SELECT pg_try_advisory_lock(x'66696c6c'::integer, %(stamp)s) AS got

-- name: fill_done
SELECT pg_advisory_unlock(x'66696c6c'::integer, %(stamp)s)

-- name: unfilled
-- A superseded memory answers questions about its own time, so that its vector moves too. By primary key, so that a batch
-- begins where the one before ended.
SELECT m.id, m.content FROM memories m
WHERE m.id > %(after)s AND m.erased_at IS NULL AND m.status IN ('active', 'superseded')
  AND (m.status = 'active' OR EXISTS (SELECT FROM {current} c WHERE c.memory_id = m.id))
  AND NOT EXISTS (SELECT FROM {table} e WHERE e.memory_id = m.id)
ORDER BY m.id LIMIT %(limit)s

-- name: count_unfilled
SELECT count(*) AS unfilled FROM memories m
WHERE m.erased_at IS NULL AND m.status IN ('active', 'superseded')
  AND (m.status = 'active' OR EXISTS (SELECT FROM {current} c WHERE c.memory_id = m.id))
  AND NOT EXISTS (SELECT FROM {table} e WHERE e.memory_id = m.id)

-- name: fill
INSERT INTO {table} (memory_id, org_id, vector, ann)
SELECT x.memory_id, m.org_id, x.vector, coalesce(s.ann, false)
FROM unnest(%(ids)s::uuid[], %(vectors)b::vector[]) AS x(memory_id, vector)
JOIN memories m ON m.id = x.memory_id AND m.status IN ('active', 'superseded') AND m.erased_at IS NULL
LEFT JOIN org_search s ON s.org_id = m.org_id AND s.stamp = %(stamp)s
ON CONFLICT (memory_id) DO NOTHING

-- name: gap
SELECT stamp_gap(%(stamp)s) AS gap

-- name: switch
SELECT switch_stamp(%(stamp)s, %(uncalibrated)s) AS switched

-- name: drop
SELECT drop_stamp(%(stamp)s) AS vectors
