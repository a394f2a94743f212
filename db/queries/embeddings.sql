-- name: stamps
SELECT id FROM stamps ORDER BY id

-- name: missing
-- The active memories of these runs, and those a verdict queued, that have no vector in this space yet.
-- Two ways to a memory, each by its index: joined by OR, or without the fence (OFFSET 0) where statistics lag behind,
-- every memory was compared with every run.
SELECT m.id, m.org_id, m.content, m.run_id FROM memories m
WHERE m.run_id = ANY (%(ids)s) AND m.status = 'active' AND m.erased_at IS NULL
  AND NOT EXISTS (SELECT FROM {table} e WHERE e.memory_id = m.id)
UNION
SELECT m.id, m.org_id, m.content, r.id FROM runs r,
LATERAL (SELECT * FROM memories queued WHERE queued.id = r.memory_id OFFSET 0) m
WHERE r.id = ANY (%(ids)s) AND m.status = 'active' AND m.erased_at IS NULL
  AND NOT EXISTS (SELECT FROM {table} e WHERE e.memory_id = m.id)

-- name: insert
-- Rows of an org that is searched by index go straight into it.
INSERT INTO {table} (memory_id, org_id, vector, ann)
SELECT x.memory_id, m.org_id, x.vector, coalesce(s.ann, false)
FROM unnest(%(ids)s::uuid[], %(vectors)b::vector[]) AS x(memory_id, vector)
JOIN memories m ON m.id = x.memory_id AND m.status = 'active' AND m.erased_at IS NULL
LEFT JOIN org_search s ON s.org_id = m.org_id AND s.stamp = %(stamp)s
ON CONFLICT (memory_id) DO NOTHING

-- name: neighbours
-- Exact in a small org, though it be in the index, and by index in a large one: two branches, of which one runs.
-- Materialised, since a planner that may join in another order searches once for every pair of a new memory and an old
-- one of its scope.
WITH new AS MATERIALIZED (
  SELECT m.id, m.org_id, m.scope_kind, m.scope_value, m.status_at, e.vector,
    coalesce(s.ann AND s.embedded > %(exact_rows)s, false) AS ann
  FROM memories m JOIN {table} e ON e.memory_id = m.id
  LEFT JOIN org_search s ON s.org_id = m.org_id AND s.stamp = %(stamp)s
  WHERE m.id = ANY (%(ids)s) AND m.status = 'active'
), near AS MATERIALIZED (
  -- More than are wanted where they cost nothing more: some will be of another scope, or no earlier.
  SELECT new.id AS of, new.scope_kind, new.scope_value, new.status_at, x.memory_id, x.distance FROM new, LATERAL (
    (SELECT e.memory_id, e.vector <=> new.vector AS distance FROM {table} e
     WHERE NOT new.ann AND e.org_id = new.org_id ORDER BY e.vector <=> new.vector LIMIT 32)
    UNION ALL
    (SELECT e.memory_id, e.vector <=> new.vector FROM {table} e
     WHERE new.ann AND e.ann AND e.org_id = new.org_id ORDER BY e.vector <=> new.vector LIMIT 8)) x
), earlier AS (
  SELECT n.of, m.id, m.content, m.kind, m.scope_kind, m.scope_value, m.subject_type, m.subject_id, m.observed_at,
    1 - n.distance AS cosine, row_number() OVER (PARTITION BY n.of ORDER BY n.distance) AS place
  FROM near n, LATERAL (SELECT * FROM memories known WHERE known.id = n.memory_id OFFSET 0) m
  WHERE m.status = 'active' AND m.erased_at IS NULL AND (m.kind = 'rule' OR m.expires_at > now())
    AND m.id <> n.of AND m.kind <> 'turn' AND m.scope_kind = n.scope_kind
    AND m.scope_value IS NOT DISTINCT FROM n.scope_value AND (m.status_at, m.id) < (n.status_at, n.of)
)
SELECT of, id, content, kind, scope_kind, scope_value, subject_type, subject_id, observed_at, cosine FROM earlier
WHERE place <= 8

-- name: drawn
-- Memories of the largest orgs, in an order that the seed alone decides.
SELECT e.org_id, r.session, m.content, e.vector FROM {table} e
JOIN memories m ON m.id = e.memory_id AND m.status = 'active' AND m.erased_at IS NULL JOIN runs r ON r.id = m.run_id
WHERE e.org_id IN (SELECT x.org_id FROM {table} x GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 8)
ORDER BY hashtextextended(e.memory_id::text, %(seed)s), e.memory_id LIMIT %(limit)s

-- name: calibrate
INSERT INTO calibrations (stamp, side, source, pairs, seed, p50, p90, p99, p999, mean, sd)
VALUES (%(stamp)s, %(side)s, %(source)s, %(pairs)s, %(seed)s, %(p50)s, %(p90)s, %(p99)s, %(p999)s, %(mean)s, %(sd)s)

-- name: calibrated
SELECT side, source, pairs, seed, p50, p90, p99, p999, mean, sd FROM calibrated WHERE stamp = %(stamp)s ORDER BY side
