-- name: transcripts
SELECT run_id, body FROM transcripts WHERE run_id = ANY (%(ids)s)

-- name: stage_envelopes
INSERT INTO envelopes (run_id, org_id, body)
SELECT x.run_id, x.org_id, x.body FROM jsonb_to_recordset(%(rows)s) AS x(run_id uuid, org_id integer, body jsonb)
ON CONFLICT (run_id) DO UPDATE SET body = excluded.body

-- name: envelopes
SELECT run_id, body FROM envelopes WHERE run_id = ANY (%(ids)s)

-- name: discard_envelopes
DELETE FROM envelopes WHERE run_id = ANY (%(ids)s)

-- name: insert_memories
-- A memory and the review that holds it are one statement: no commit can have one without the other. What a run says
-- twice is one memory, the held one before the active; the ledger says that it was repeated.
WITH fresh AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset(%(rows)s) AS x(
    id uuid, org_id integer, run_id uuid, tier text, kind text, scope_kind text, scope_value text, content text,
    content_hash text, rationale text, evidence jsonb, classes text[], hold_reasons text[], subject_type text,
    subject_id text, author_kind text, author text, provenance jsonb, confidence real, high_stakes boolean,
    importance smallint, observed_at timestamptz, expires_at timestamptz, replaces uuid[], previous_hash text,
    review_id uuid, cites uuid, namespace text, actor text)
), inserted AS (
  INSERT INTO memories (id, org_id, run_id, tier, kind, status, scope_kind, scope_value, content, content_hash,
    rationale, evidence, classes, hold_reasons, subject_type, subject_id, author_kind, author, provenance, confidence,
    high_stakes, importance, observed_at, valid_from, expires_at, replaces, previous_hash, review_id, namespace,
    actor)
  SELECT id, org_id, run_id, tier, kind, CASE WHEN review_id IS NULL THEN 'active' ELSE 'pending' END, scope_kind,
    scope_value, content, decode(content_hash, 'hex'), rationale, evidence, classes, hold_reasons, subject_type,
    subject_id, author_kind, author, provenance, confidence, high_stakes, importance, observed_at, observed_at,
    expires_at, coalesce(replaces, '{}'), decode(previous_hash, 'hex'), review_id, namespace, actor
  FROM fresh ORDER BY review_id IS NULL
  ON CONFLICT (run_id, content_hash) WHERE status IN ('pending', 'active') DO NOTHING RETURNING id
), repeated AS (
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  SELECT org_id, 'run', run_id::text, actor, 'candidate_repeated', jsonb_build_object('memory', id)
  FROM fresh WHERE id NOT IN (SELECT id FROM inserted)
)
INSERT INTO reviews (id, org_id, memory_id, kind, reasons, cites)
SELECT f.review_id, f.org_id, f.id, 'hold', f.hold_reasons, f.cites FROM fresh f JOIN inserted i USING (id)
WHERE f.review_id IS NOT NULL

-- name: insert_drops
INSERT INTO drops (id, org_id, run_id, rule, confidence, threshold, kind, content, rationale, evidence, classes,
  subject_type, subject_id, scope_kind, scope_value, author_kind, author, importance, observed_at, lifetime_days,
  provenance, review_share, expires_at)
SELECT x.id, x.org_id, x.run_id, x.rule, x.confidence, x.threshold, x.kind, x.content, x.rationale, x.evidence,
  x.classes, x.subject_type, x.subject_id, x.scope_kind, x.scope_value, x.author_kind, x.author, x.importance,
  x.observed_at, x.lifetime_days, x.provenance, x.review_share,
  now() + make_interval(days => retention_days(x.org_id, 'drops'))
FROM jsonb_to_recordset(%(rows)s) AS x(id uuid, org_id integer, run_id uuid, rule text, confidence double precision,
  threshold double precision, kind text, content text, rationale text, evidence jsonb, classes text[],
  subject_type text, subject_id text, scope_kind text, scope_value text, author_kind text, author text,
  importance smallint, observed_at timestamptz, lifetime_days integer, provenance jsonb, review_share integer)

-- name: refused
-- What a person rejected or forgot and is not known anyway: the same text, then those that have all its lexemes, the
-- closest in length first; near-exact texts differ in filler alone.
WITH said AS MATERIALIZED (
  SELECT x.*, decode(x.hash, 'hex') AS content_hash, org_words(x.org_id, to_tsvector('english', x.content)) AS words
  FROM jsonb_to_recordset(%(rows)s)
    AS x(number integer, org_id integer, scope_kind text, scope_value text, content text, hash text)
)
SELECT * FROM (
  SELECT s.number, m.id, m.content, 0 AS leg, m.status_at FROM said s
  JOIN memories m ON m.id = refused_before(s.org_id, s.content_hash, s.scope_kind, s.scope_value)
  UNION ALL
  SELECT s.number, n.id, n.content, 1, n.status_at FROM said s, LATERAL (
    SELECT m.id, m.org_id, m.content, m.content_hash, m.scope_kind, m.scope_value, m.status_at FROM memories m
    WHERE org_words(m.org_id, m.lexemes) @> s.words AND s.words <> '{}' AND m.status IN ('rejected', 'tombstoned')
      AND m.erased_at IS NULL AND m.scope_kind = s.scope_kind AND m.scope_value IS NOT DISTINCT FROM s.scope_value
    ORDER BY abs(length(m.content) - length(s.content)), m.id LIMIT 5) n
  WHERE refused_before(n.org_id, n.content_hash, n.scope_kind, n.scope_value) IS NOT NULL
) found ORDER BY number, leg, status_at DESC

-- name: verdict_memories
SELECT id, org_id, run_id, tier, kind, status, namespace, scope_kind, scope_value, content, content_hash, rationale,
  evidence, classes, hold_reasons, subject_type, subject_id, provenance, high_stakes, importance, observed_at,
  expires_at, review_id, revision
FROM memories WHERE id = ANY (%(ids)s)

-- name: apply_edit
UPDATE memories SET content = %(content)s, content_hash = %(content_hash)s, classes = %(classes)s,
  hold_reasons = %(hold_reasons)s, subject_type = %(subject_type)s, subject_id = %(subject_id)s,
  high_stakes = %(high_stakes)s, revision = revision + 1, actor = %(actor)s, reason = 'edited', previous_hash = content_hash,
  detectors = current_setting('afterword.detectors', true)
WHERE id = %(id)s AND status = 'pending'

-- name: reopen_reasons
UPDATE reviews SET reasons = %(hold_reasons)s, cites = coalesce(%(cites)s, cites) WHERE id = %(review_id)s AND closed_at IS NULL

-- name: activate
UPDATE memories SET status = 'active', review_id = NULL, actor = %(actor)s, reason = %(reason)s, status_at = now()
WHERE id = %(id)s AND status = 'pending'

-- name: supersede
UPDATE memories SET status = 'superseded', superseded_by = %(by)s, review_id = NULL, actor = %(actor)s,
  reason = %(reason)s, status_at = now(), valid_to = greatest(valid_from, %(valid_to)s)
WHERE id = %(id)s AND status IN ('pending', 'active')

-- name: demand_amends
-- A correction that waits answers the audit; what was corrected stays in question until it has given way.
WITH answered AS (
  UPDATE reviews SET closed_at = now(), decision = %(decision)s, decided_by = %(actor)s, comment = %(comment)s
  WHERE memory_id = %(id)s AND kind = 'audit' AND closed_at IS NULL RETURNING org_id, memory_id
)
INSERT INTO reviews (id, org_id, memory_id, kind, reasons)
SELECT uuidv7(), org_id, memory_id, 'amend', '{audit_negative}' FROM answered

-- name: close_reviews
UPDATE reviews SET closed_at = now(), decision = %(decision)s, decided_by = %(actor)s, comment = %(comment)s
WHERE memory_id = %(id)s AND closed_at IS NULL

-- name: current_stamp
SELECT id, provider, model, revision, dimension FROM stamps WHERE is_current

-- name: stamp
SELECT id FROM stamps WHERE (provider, model, revision, dimension)
  = (%(provider)s, %(model)s, %(revision)s, %(dimension)s)
