-- name: record
INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail, payload_hash)
VALUES (%(org_id)s, %(subject_kind)s, %(subject_id)s, %(actor)s, %(action)s, %(detail)s, %(payload_hash)s)
RETURNING id

-- name: keep_payload
INSERT INTO payloads (org_id, entry_id, key, content) VALUES (%(org_id)s, %(entry_id)s, %(key)s, %(content)s)

-- name: seal
-- Entries of transactions older than the oldest one running can gain no neighbour any more.
WITH last AS (
  SELECT id, below, hash, total FROM seals ORDER BY below DESC LIMIT 1
), ripe AS (
  SELECT count(*) AS entries, string_agg(l.hash, ''::bytea ORDER BY l.transaction, l.id) AS hashes,
         pg_snapshot_xmin(pg_current_snapshot()) AS below
  FROM ledger l
  WHERE l.transaction < pg_snapshot_xmin(pg_current_snapshot())
    AND l.transaction >= coalesce((SELECT below FROM last), '0'::xid8)
)
INSERT INTO seals (previous, below, entries, total, hash)
SELECT (SELECT id FROM last), r.below, r.entries, r.entries + coalesce((SELECT total FROM last), 0),
       sha256(coalesce((SELECT hash FROM last), decode(repeat('00', 32), 'hex')) || r.hashes)
FROM ripe r WHERE r.entries > 0
ON CONFLICT DO NOTHING
RETURNING id, below::text AS below, entries, total, hash, at

-- name: behind
SELECT max(below)::text AS below, pg_snapshot_xmax(pg_current_snapshot())::text AS now FROM seals
HAVING max(below) > pg_snapshot_xmax(pg_current_snapshot())

-- name: unsealed
SELECT count(*) AS entries FROM ledger WHERE transaction >= coalesce((SELECT max(below) FROM seals), '0'::xid8)

-- name: entries
SELECT id, transaction::text::bigint AS transaction, org_id, subject_kind, subject_id, at, actor, action, detail,
       payload_hash, hash
FROM ledger ORDER BY transaction, id

-- name: seals
SELECT id, below::text::bigint AS below, entries, total, hash, at FROM seals WHERE below > %(above)s::text::xid8 ORDER BY below

-- name: timeline
SELECT id, at, subject_kind, subject_id, actor, action, detail FROM ledger
WHERE subject_id = ANY (%(subjects)s) ORDER BY id
