-- name: feedback
SELECT record_feedback(%(content)s, %(namespace)s, %(scope_kind)s, %(scope_value)s) AS run

-- name: record_rules
SELECT record_rules(%(namespace)s, %(contents)s) AS run

-- name: standing
SELECT hash, id, status FROM standing_rules(%(namespace)s, %(hashes)s)

-- name: near
SELECT id, content, own, replaced FROM near_rules(%(memory)s)

-- name: rehome
SELECT rehome(%(memory)s, %(namespace)s, %(scope_kind)s, %(scope_value)s, %(comment)s) AS done

-- name: remember_preference
SELECT remember_preference(%(content)s) AS run

-- name: revoke_preference
SELECT revoke_preference(%(memory)s) AS done

-- name: manifest
SELECT name, scope_kind, scope_value, path, title, description, preamble, agents FROM namespaces
WHERE org_id = %(org)s ORDER BY name

-- name: write_namespace
INSERT INTO namespaces (org_id, name, scope_kind, scope_value, path, title, description, preamble, agents)
VALUES (%(org)s, %(name)s, %(scope_kind)s, %(scope_value)s, %(path)s, %(title)s, %(description)s, %(preamble)s, %(agents)s)
ON CONFLICT (org_id, name) DO UPDATE SET scope_kind = excluded.scope_kind, scope_value = excluded.scope_value,
  path = excluded.path, title = excluded.title, description = excluded.description, preamble = excluded.preamble,
  agents = excluded.agents

-- name: digest
SELECT * FROM digest_items()

-- name: digest_rendered
SELECT digest_rendered(%(recall)s, %(block_hash)s, %(omitted)s)
