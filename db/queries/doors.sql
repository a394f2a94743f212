-- name: mint
SELECT mint_token(%(hash)s, %(org)s, %(role)s, %(actor)s, make_interval(secs => %(seconds)s), %(agent)s, %(user_id)s,
  %(project)s, %(workflow)s, %(tiers)s, %(agent_role)s, %(minted_by)s) AS id

-- name: tokens
SELECT * FROM tokens_made(%(org)s)

-- name: revoke_token
SELECT revoke_token(%(token)s, %(by)s) AS done

-- name: rotate_token
SELECT rotate_token(%(token)s, %(hash)s, make_interval(secs => %(overlap)s), %(by)s) AS id

-- name: use_grant
SELECT * FROM use_grant()

-- name: recall
SELECT * FROM recall(%(query)s, %(vector)b, %(stamp)s, %(max_hits)s, %(as_of)s,
  ROW(%(kinds)s::text[], %(scope_kind)s::text, %(scope_path)s::text, %(subject_type)s::text, %(subject_id)s::text,
      %(since)s::timestamptz, %(until)s::timestamptz)::narrowing, %(fusion)s)

-- name: rendered
SELECT recall_rendered(%(recall_id)s, %(block_hash)s, %(shown)s)

-- name: inbox
SELECT r.id AS review_id, r.memory_id, r.drop_id, r.kind AS review, r.reasons, r.cites, r.opened_at, m.kind, m.status,
  m.classes, m.high_stakes, m.importance, m.observed_at, m.revision
FROM reviews r LEFT JOIN memories m ON m.id = r.memory_id
WHERE r.closed_at IS NULL ORDER BY coalesce(m.high_stakes, false) DESC, r.opened_at LIMIT %(limit)s

-- name: view
SELECT * FROM view_memory(%(memory)s)

-- name: approve
SELECT approve(%(memory)s, %(comment)s, %(namespace)s, %(scope_kind)s, %(scope_value)s, %(subject_type)s,
  %(subject_id)s) AS done

-- name: reject
SELECT reject(%(memory)s, %(comment)s) AS done

-- name: forget
SELECT forget(%(memory)s, %(comment)s) AS done

-- name: retype
SELECT retype(%(memory)s, %(act)s, %(content)s, %(comment)s) AS run

-- name: view_drop
SELECT * FROM view_drop(%(drop)s)

-- name: confirm_drop
SELECT confirm_drop(%(drop)s, %(comment)s) AS done

-- name: restore_drop
SELECT restore_drop(%(drop)s, %(comment)s) AS run

-- name: restore_repeat
SELECT restore_repeat(%(repeat)s, %(comment)s) AS run

-- name: login
SELECT session_user AS login, r.rolsuper AS "is a superuser", r.rolbypassrls AS "bypasses row-level security",
  r.rolcreaterole OR r.rolcreatedb AS "may create roles or databases",
  EXISTS (SELECT FROM pg_auth_members m WHERE m.member = r.oid) AS "is a member of another role",
  EXISTS (SELECT FROM pg_class c WHERE c.relowner = r.oid) AS "owns a table"
FROM pg_roles r WHERE r.rolname = session_user

-- name: run_told
SELECT * FROM run_told(%(key)s)

-- name: history
SELECT l.at, l.actor, l.action, l.detail FROM ledger l
WHERE l.subject_kind = 'memory' AND l.subject_id = %(memory)s ORDER BY l.id
