-- name: between
SELECT id FROM recalls WHERE id BETWEEN %(low)s AND %(high)s ORDER BY id LIMIT 2

-- name: log
SELECT r.id, r.at, r.agent, r.actor, r.project, r.mode, r.as_of, r.hits, r.excluded, r.shown, r.block_hash, r.rendered_at
FROM recalls r
WHERE r.org_id = (SELECT org_id FROM current_grant()) AND (%(since)s::timestamptz IS NULL OR r.at >= %(since)s)
  AND (%(until)s::timestamptz IS NULL OR r.at < %(until)s)
  AND (%(agent)s::text IS NULL OR r.agent = %(agent)s)
  AND (%(memory)s::uuid IS NULL OR r.hits @> jsonb_build_array(jsonb_build_object('id', %(memory)s::uuid)))
ORDER BY r.at DESC, r.id LIMIT %(limit)s

-- name: one
SELECT id, at, agent, actor, project, mode, as_of, request, hits, candidates, passed_over, excluded, shown, block_hash,
  rendered_at FROM recalls WHERE id = %(id)s

-- name: standing
SELECT id, kind, tier, status, status_at, superseded_by, erased_at, expires_at FROM memories WHERE id = ANY (%(ids)s)
