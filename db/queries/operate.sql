-- name: create_org
INSERT INTO orgs (name, settings, actor) VALUES (%(name)s, %(settings)s, %(actor)s) ON CONFLICT (name) DO NOTHING RETURNING id

-- name: default_namespace
INSERT INTO namespaces (org_id, name) VALUES (%(org_id)s, %(name)s) ON CONFLICT DO NOTHING

-- name: create_space
INSERT INTO spaces (org_id, name, tier) VALUES (%(org_id)s, %(name)s, %(tier)s) ON CONFLICT DO NOTHING

-- name: lock_org
SELECT settings FROM orgs WHERE id = %(id)s FOR UPDATE

-- name: set_org
UPDATE orgs SET settings = %(settings)s, actor = %(actor)s, reason = %(reason)s WHERE id = %(id)s

-- name: all_orgs
SELECT name FROM orgs ORDER BY name

-- name: runs
SELECT r.id, o.name AS org, r.kind, r.state, r.session, r.agent, r.project, r.ended_at, r.created_at, r.state_at,
  r.attempts, r.replays, r.died_in, r.error_code, r.skip_reason, r.due_at,
  CASE WHEN r.state = 'received' THEN r.reason END AS waits_for
FROM runs r JOIN orgs o ON o.id = r.org_id
WHERE (%(org)s::text IS NULL OR o.name = %(org)s) AND (%(state)s::text IS NULL OR r.state = %(state)s)
ORDER BY r.created_at DESC, r.id LIMIT %(limit)s

-- name: run
SELECT r.id, o.name AS org, r.kind, r.state, r.session, r.agent, r.project, r.user_id, r.ended_at, r.created_at,
  r.state_at, r.turns, r.first_own, r.attempts, r.lease_losses, r.replays, r.died_in, r.error_code, r.error_detail,
  r.skip_reason, r.due_at, CASE WHEN r.state = 'received' THEN r.reason END AS waits_for,
  r.lease IS NOT NULL AS leased, r.memory_id
FROM runs r JOIN orgs o ON o.id = r.org_id WHERE r.id = %(id)s

-- name: run_memories
SELECT id, kind, status, classes, hold_reasons, occurrences, superseded_by FROM memories
WHERE run_id = %(id)s ORDER BY id

-- name: run_drops
SELECT id, rule, confidence, threshold, sampled, restored_at FROM drops WHERE run_id = %(id)s ORDER BY id

-- name: dead_letters
SELECT r.id, o.name AS org, r.session, r.died_in, r.error_code, r.error_detail, r.replays, r.state_at
FROM runs r JOIN orgs o ON o.id = r.org_id
WHERE r.state = 'dead_letter' AND (%(org)s::text IS NULL OR o.name = %(org)s)
  AND (%(code)s::text IS NULL OR r.error_code = %(code)s)
ORDER BY r.state_at DESC LIMIT %(limit)s

-- name: run_states
SELECT o.name AS org, r.state, count(*) AS runs FROM runs r JOIN orgs o ON o.id = r.org_id
WHERE %(org)s::text IS NULL OR o.name = %(org)s GROUP BY 1, 2 ORDER BY 1, 2

-- name: memory_statuses
SELECT m.status, m.kind, count(*) AS memories FROM memories m JOIN orgs o ON o.id = m.org_id
WHERE %(org)s::text IS NULL OR o.name = %(org)s GROUP BY 1, 2 ORDER BY 1, 2

-- name: held_reasons
SELECT h.reason, count(*) AS memories
FROM memories m JOIN orgs o ON o.id = m.org_id, unnest(m.hold_reasons) AS h(reason)
WHERE m.status = 'pending' AND (%(org)s::text IS NULL OR o.name = %(org)s) GROUP BY 1 ORDER BY 2 DESC, 1

-- name: request_replay
INSERT INTO replays (id, selector, actor, reason, rate_per_second, cap, force)
VALUES (uuidv7(), %(selector)s, %(actor)s, %(reason)s, %(rate)s, %(cap)s, %(force)s) RETURNING id

-- name: replays
SELECT id, selector, actor, reason, rate_per_second, cap, force, status, rearmed, refused, died_again, requested_at,
  finished_at FROM replays ORDER BY requested_at DESC LIMIT %(limit)s

-- name: replayable
SELECT r.id, o.name AS org, r.died_in, r.error_code, r.replays FROM runs r JOIN orgs o ON o.id = r.org_id
WHERE r.state = 'dead_letter'
  AND (%(run)s::uuid IS NULL OR r.id = %(run)s) AND (%(code)s::text IS NULL OR r.error_code = %(code)s)
  AND (%(org)s::text IS NULL OR o.name = %(org)s) AND (%(since)s::timestamptz IS NULL OR r.state_at >= %(since)s)
ORDER BY r.state_at LIMIT %(cap)s
