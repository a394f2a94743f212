-- name: claim
-- Fair: the orgs with due work are found by a loose scan of the queue's index; each is offered an equal share of the
-- batch and at least one place, in due order within the org. Suspects (two leases lost) are left to claim_suspect.
WITH RECURSIVE due_orgs AS (
  (SELECT org_id FROM runs WHERE state = %(state)s AND due_at <= now()
     AND lease_losses + (lease IS NOT NULL)::integer < 2 ORDER BY org_id LIMIT 1)
  UNION ALL
  SELECT n.org_id FROM due_orgs d, LATERAL (
    SELECT r.org_id FROM runs r WHERE r.state = %(state)s AND r.org_id > d.org_id AND r.due_at <= now()
      AND r.lease_losses + (r.lease IS NOT NULL)::integer < 2
    ORDER BY r.org_id LIMIT 1) n
), share AS (
  SELECT greatest(1, ceil(%(batch)s::numeric / greatest(1, count(*))))::integer AS places FROM due_orgs
), offered AS MATERIALIZED (
  SELECT o.id, o.due_at, o.place FROM due_orgs d, share s, LATERAL (
    SELECT x.id, x.due_at, row_number() OVER (ORDER BY x.due_at) AS place FROM (
      SELECT r.id, r.due_at FROM runs r
      WHERE r.state = %(state)s AND r.org_id = d.org_id AND r.due_at <= now()
        AND r.lease_losses + (r.lease IS NOT NULL)::integer < 2
      ORDER BY r.due_at LIMIT s.places FOR UPDATE SKIP LOCKED) x) o
), chosen AS MATERIALIZED (
  SELECT id FROM offered ORDER BY place, due_at LIMIT %(batch)s
)
UPDATE runs r SET lease = %(lease)s, due_at = now() + make_interval(secs => %(lease_seconds)s),
  lease_losses = r.lease_losses + (r.lease IS NOT NULL)::integer
FROM chosen c WHERE r.id = c.id
RETURNING r.id, r.org_id, r.kind, r.session, r.agent, r.project, r.user_id, r.event, r.ended_at, r.first_own,
  r.memory_id, r.attempts, r.lease_losses, r.actor

-- name: claim_suspect
-- One run whose worker was lost with it at least twice: taken alone, so that it can take nobody else along.
WITH chosen AS MATERIALIZED (
  SELECT id FROM runs WHERE state = %(state)s AND due_at <= now() AND lease_losses + (lease IS NOT NULL)::integer >= 2
  ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE runs r SET lease = %(lease)s, due_at = now() + make_interval(secs => %(lease_seconds)s),
  lease_losses = r.lease_losses + (r.lease IS NOT NULL)::integer
FROM chosen c WHERE r.id = c.id
RETURNING r.id, r.org_id, r.kind, r.session, r.agent, r.project, r.user_id, r.event, r.ended_at, r.first_own,
  r.memory_id, r.attempts, r.lease_losses, r.actor

-- name: renew
UPDATE runs SET due_at = now() + make_interval(secs => %(lease_seconds)s)
WHERE lease = %(lease)s AND id = ANY (%(ids)s)

-- name: complete
UPDATE runs SET state = %(to)s, lease = NULL, attempts = 0, lease_losses = 0, error_code = NULL, error_detail = NULL,
  due_at = CASE WHEN %(to)s <> 'consolidated' THEN now() END, actor = %(actor)s, reason = NULL, state_at = now()
WHERE id = ANY (%(ids)s) AND state = %(from)s AND lease = %(lease)s
RETURNING id

-- name: retry
UPDATE runs SET lease = NULL, attempts = attempts + 1, due_at = now() + make_interval(secs => %(after_seconds)s),
  lease_losses = 0, error_code = %(code)s, error_detail = %(detail)s, reason = NULL
WHERE id = %(id)s AND state = %(from)s AND lease = %(lease)s
RETURNING id

-- name: snooze
UPDATE runs SET lease = NULL, due_at = %(until)s, reason = %(reason)s
WHERE id = %(id)s AND state = %(from)s AND lease = %(lease)s
RETURNING id

-- name: release
UPDATE runs SET lease = NULL, due_at = now() WHERE lease = %(lease)s AND id = ANY (%(ids)s)

-- name: skip
UPDATE runs SET state = 'skipped', skip_reason = %(reason)s, lease = NULL, due_at = NULL, actor = %(actor)s,
  reason = NULL, state_at = now()
WHERE id = %(id)s AND state = %(from)s AND lease = %(lease)s
RETURNING id

-- name: bury
UPDATE runs SET state = 'dead_letter', died_in = state, error_code = %(code)s, error_detail = %(detail)s, lease = NULL,
  due_at = NULL, attempts = attempts + 1, actor = %(actor)s, reason = NULL, state_at = now()
WHERE id = %(id)s AND state = %(from)s AND lease = %(lease)s
RETURNING id

-- name: has_due
-- Ordered as the queue's index is: a plain EXISTS was planned as a scan of the whole table.
SELECT EXISTS (SELECT FROM (
  SELECT org_id FROM runs WHERE state = %(state)s AND due_at <= now() ORDER BY org_id LIMIT 1) first) AS due
