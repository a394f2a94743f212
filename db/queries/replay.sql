-- name: open
-- In turns: one that only waits to see what became of its runs holds up no other.
SELECT id, selector, actor, reason, rate_per_second, cap, force, rearmed, refused, requested_at, last_at,
  now() AS now
FROM replays WHERE finished_at IS NULL AND (selector ? 'rejected') = %(rejected)s
ORDER BY looked_at NULLS FIRST, requested_at LIMIT 1 FOR UPDATE SKIP LOCKED

-- name: rearm
-- Org-fair: each org with matching dead letters gives its oldest in turn. What a half-done attempt staged goes with
-- the move, in this transaction.
WITH matching AS (
  SELECT r.id, r.died_in, r.error_code, r.replays, r.org_id,
         row_number() OVER (PARTITION BY r.org_id ORDER BY r.state_at, r.id) AS place
  FROM runs r JOIN orgs o ON o.id = r.org_id
  WHERE r.state = 'dead_letter' AND r.erased_at IS NULL
    AND (%(run)s::uuid IS NULL OR r.id = %(run)s) AND (%(code)s::text IS NULL OR r.error_code = %(code)s)
    AND (%(org)s::text IS NULL OR o.name = %(org)s) AND (%(since)s::timestamptz IS NULL OR r.state_at >= %(since)s)
    AND r.state_at < %(requested_at)s
    AND (%(force)s OR r.replays < 3)
), chosen AS (
  SELECT id FROM matching ORDER BY place, org_id LIMIT %(batch)s
), rearmed AS (
  UPDATE runs r SET state = r.died_in, died_in = NULL, due_at = now(), attempts = 0, lease_losses = 0,
    replays = r.replays + 1, replay_id = %(replay)s, actor = %(actor)s, reason = %(reason)s, state_at = now()
  FROM chosen c WHERE r.id = c.id AND r.state = 'dead_letter'
  RETURNING r.id, r.state, r.error_code
), noted AS (
  INSERT INTO replayed_runs (replay_id, run_id, code) SELECT %(replay)s, id, error_code FROM rearmed
  ON CONFLICT DO NOTHING
), repaired AS (
  DELETE FROM envelopes e USING rearmed r WHERE e.run_id = r.id AND r.state = 'received'
)
SELECT id, state FROM rearmed

-- name: left
SELECT count(*) AS matching, count(*) FILTER (WHERE r.replays >= 3 AND NOT %(force)s) AS refused
FROM runs r JOIN orgs o ON o.id = r.org_id
WHERE r.state = 'dead_letter' AND r.erased_at IS NULL
  AND (%(run)s::uuid IS NULL OR r.id = %(run)s) AND (%(code)s::text IS NULL OR r.error_code = %(code)s)
  AND (%(org)s::text IS NULL OR o.name = %(org)s) AND (%(since)s::timestamptz IS NULL OR r.state_at >= %(since)s)
  AND r.state_at < %(requested_at)s

-- name: died_again
-- Undecided: a run that has not moved since this replay re-armed it, in the same transaction and so at the same time.
SELECT count(*) FILTER (WHERE r.state = 'dead_letter' AND r.error_code = p.code) AS died,
  count(*) FILTER (WHERE r.due_at IS NOT NULL AND r.state_at = p.at AND p.at > now() - interval '10 minutes') AS undecided
FROM replayed_runs p JOIN runs r ON r.id = p.run_id WHERE p.replay_id = %(replay)s

-- name: advance
UPDATE replays SET status = %(status)s, looked_at = now(), rearmed = rearmed + %(rearmed)s, refused = %(refused)s,
  died_again = %(died_again)s, last_at = CASE WHEN %(rearmed)s > 0 THEN now() ELSE last_at END,
  finished_at = CASE WHEN %(status)s IN ('finished', 'stopped') THEN now() END
WHERE id = %(replay)s

-- name: rejected_bodies
SELECT id, body FROM rejected_events
WHERE replayed_at IS NULL AND length(body) > 0 AND (tried_at IS NULL OR tried_at < %(before)s)
  AND (%(ids)s::uuid[] IS NULL OR id = ANY (%(ids)s)) AND (%(reason)s::text IS NULL OR reason = %(reason)s)
ORDER BY at LIMIT %(limit)s FOR UPDATE SKIP LOCKED

-- name: tried_again
UPDATE rejected_events SET tried_at = now(), replayed_at = CASE WHEN %(reason)s::text IS NULL THEN now() END,
  reason = coalesce(%(reason)s, reason), detail = coalesce(%(detail)s, detail)
WHERE id = %(id)s
