-- name: orgs
SELECT o.id, o.name, o.settings, coalesce(array_agg(s.name) FILTER (WHERE s.name IS NOT NULL), '{}') AS spaces
FROM orgs o LEFT JOIN spaces s ON s.org_id = o.id
WHERE o.name = ANY (%(names)s) OR o.id = ANY (%(ids)s)
GROUP BY o.id

-- name: earlier
-- What earlier runs of these sessions covered; one of which the org kept nothing covered nothing.
SELECT r.org_id, r.session, r.content_hash, r.turns FROM runs r
WHERE (r.org_id, r.session) IN (SELECT * FROM unnest(%(orgs)s::integer[], %(sessions)s::text[]))
  AND r.kind IN ('session', 'reextract') AND r.event ->> 'kept' IS DISTINCT FROM 'false'

-- name: insert
INSERT INTO runs (id, org_id, kind, state, event_key, content_hash, session, agent, project, user_id, event, ended_at,
                  turns, first_own, actor)
SELECT x.id, x.org_id, x.kind, 'received', x.event_key, decode(x.content_hash, 'hex'), x.session, x.agent, x.project,
       x.user_id, x.event, x.ended_at, x.turns, x.first_own, x.actor
FROM jsonb_to_recordset(%(rows)s) AS x(id uuid, org_id integer, kind text, event_key text, content_hash text,
  session text, agent text, project text, user_id text, event jsonb, ended_at timestamptz, turns integer,
  first_own integer, actor text)
ORDER BY x.org_id, x.event_key  -- one order for all, so that two batches with the same keys do not deadlock
ON CONFLICT (org_id, event_key) WHERE kind <> 'verdict' DO NOTHING
RETURNING id

-- name: existing
SELECT r.org_id, r.event_key, r.id, r.content_hash FROM runs r
WHERE (r.org_id, r.event_key) IN (SELECT * FROM unnest(%(orgs)s::integer[], %(keys)s::text[]))
  AND r.kind <> 'verdict'

-- name: keep_transcripts
-- For as long as the org keeps transcripts by its own setting, else as the installation does.
INSERT INTO transcripts (run_id, org_id, body, turns, purge_after)
SELECT x.*, now() + make_interval(days => coalesce((o.settings #>> '{retention,transcripts}')::integer, %(days)s))
FROM unnest(%(ids)s::uuid[], %(orgs)s::integer[], %(bodies)s::bytea[], %(turns)s::integer[]) x(run_id, org_id)
JOIN orgs o ON o.id = x.org_id

-- name: record_masks
INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
SELECT x.org_id, 'run', x.run_id::text, 'ingest', 'scrubbed', x.detail
FROM jsonb_to_recordset(%(rows)s) AS x(org_id integer, run_id uuid, detail jsonb)

-- name: reject
INSERT INTO rejected_events (id, entry_id, reason, detail, body, deliveries, purge_after)
VALUES (%(id)s, %(entry_id)s, %(reason)s, %(detail)s, %(body)s, %(deliveries)s,
        now() + make_interval(days => %(days)s))
ON CONFLICT (entry_id) WHERE entry_id IS NOT NULL DO NOTHING
