-- name: stuck_leases
SELECT count(*) AS runs FROM runs WHERE lease IS NOT NULL AND due_at <= now()

-- name: open_missing_runs
SELECT open_missing_runs(%(stamp)s, %(limit)s) AS opened

-- name: unheld_pending
SELECT m.id FROM memories m WHERE m.status = 'pending' AND NOT EXISTS (
  SELECT FROM reviews r WHERE r.id = m.review_id AND r.memory_id = m.id AND r.closed_at IS NULL)
ORDER BY m.id LIMIT %(limit)s

-- name: lost_approvals
-- Approved and active, and nothing carries the approval onward.
SELECT m.id FROM memories m WHERE m.status = 'active'
  AND EXISTS (SELECT FROM reviews r WHERE r.memory_id = m.id AND r.kind = 'hold' AND r.decision = 'approve')
  AND NOT EXISTS (SELECT FROM runs v WHERE v.memory_id = m.id AND v.org_id = m.org_id)
ORDER BY m.id LIMIT %(limit)s

-- name: unknown_names
-- Rejected for a name that did not exist, not tried again since; the event itself says which name.
SELECT id, reason, body FROM rejected_events
WHERE reason IN ('unknown_org', 'unknown_space') AND replayed_at IS NULL AND length(body) > 0 ORDER BY at

-- name: open_rejected_replays
SELECT selector ->> 'rejected' AS reason FROM replays WHERE finished_at IS NULL AND selector ? 'rejected'
