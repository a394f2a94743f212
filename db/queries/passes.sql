-- name: seed
-- A cursor for every pass that an org wants.
INSERT INTO pass_cursors (org_id, pass)
SELECT o.id, p.pass FROM orgs o, jsonb_array_elements_text(o.settings -> 'consolidation') AS p(pass)
WHERE p.pass = ANY (%(passes)s) AND (%(org)s::integer IS NULL OR o.id = %(org)s) ON CONFLICT DO NOTHING

-- name: any_due
SELECT EXISTS (SELECT FROM pass_cursors c JOIN orgs o ON o.id = c.org_id
  WHERE c.due_at <= now() AND o.settings -> 'consolidation' ? c.pass) AS due

-- name: claim
-- The one due longest, for as long as its question may take.
UPDATE pass_cursors SET due_at = now() + make_interval(secs => %(lease_seconds)s) WHERE (org_id, pass) = (
  SELECT c.org_id, c.pass FROM pass_cursors c JOIN orgs o ON o.id = c.org_id
  WHERE o.settings -> 'consolidation' ? c.pass
    AND (c.due_at <= now() OR %(org)s::integer IS NOT NULL)
    AND (%(org)s::integer IS NULL OR (c.org_id = %(org)s AND c.pass = %(pass)s))
  ORDER BY c.due_at LIMIT 1 FOR UPDATE OF c SKIP LOCKED)
RETURNING org_id, pass, after, due_at

-- name: advance
-- Only whoever holds the lease moves the cursor.
UPDATE pass_cursors SET after = %(after)s, ran_at = now(), due_at = now() + make_interval(secs => %(seconds)s)
WHERE org_id = %(org)s AND pass = %(pass)s AND due_at = %(lease)s

-- name: rule_groups
-- Places of an org with at least so many active rules, in the order of their first rule; what waits there is decided
-- first. `workflow`: those of a workflow.
SELECT g.* FROM (
  SELECT m.namespace, m.scope_kind, m.scope_value, min(m.id::text)::uuid AS first, count(*) AS rules FROM memories m
  WHERE m.org_id = %(org)s AND m.kind = 'rule' AND m.status = 'active' AND m.erased_at IS NULL
    AND (NOT %(workflow)s OR m.scope_kind = 'workflow')
  GROUP BY 1, 2, 3 HAVING count(*) >= %(least)s) g
WHERE g.first > %(after)s AND NOT EXISTS (
  SELECT FROM memories w WHERE w.org_id = %(org)s AND w.kind = 'rule' AND w.status = 'pending'
    AND w.scope_kind = g.scope_kind AND w.scope_value IS NOT DISTINCT FROM g.scope_value
    AND (%(workflow)s OR (w.namespace = g.namespace AND w.replaces <> '{}')))
ORDER BY g.first LIMIT 20

-- name: rules
SELECT id, content FROM memories
WHERE org_id = %(org)s AND namespace = %(namespace)s AND kind = 'rule' AND status = 'active' AND erased_at IS NULL
  AND scope_kind = %(scope_kind)s AND scope_value IS NOT DISTINCT FROM %(scope_value)s
ORDER BY id LIMIT %(limit)s

-- name: outcomes
-- The next outcomes, with what was judged and why, as far as it is still there.
SELECT o.id, o.kind, o.verdict, o.confidence, o.score, o.agent, o.workflow, coalesce(o.comment, r.comment) AS comment,
  m.kind AS of, m.content AS text
FROM outcomes o LEFT JOIN memories m ON m.id = o.memory_id AND m.erased_at IS NULL LEFT JOIN reviews r ON r.id = o.review_id
WHERE o.org_id = %(org)s AND o.id > %(after)s AND o.expires_at > now() ORDER BY o.id LIMIT %(limit)s

-- name: record
SELECT record_candidates(%(org)s, %(source)s, %(key)s, %(actor)s, NULL, false, %(provenance)s, %(candidates)s) AS run
