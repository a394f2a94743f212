-- name: request
INSERT INTO reclassifications (id, kind, org_id, since, dry_run, actor, reason, rate_per_second, plan_id, planned_by,
  confirmed_digest)
VALUES (uuidv7(), %(kind)s, %(org_id)s, %(since)s, %(dry_run)s, %(actor)s, %(reason)s, %(rate)s, %(plan_id)s,
  %(planned_by)s, %(confirmed_digest)s) RETURNING id

-- name: requests
SELECT c.id, c.kind, o.name AS org, c.since, c.dry_run, c.actor, c.reason, c.status, c.store, c.counts, c.detectors,
  c.requested_at, c.finished_at, encode(c.plan_digest, 'hex') AS digest, c.plan_id
FROM reclassifications c LEFT JOIN orgs o ON o.id = c.org_id
WHERE %(id)s::uuid IS NULL OR c.id = %(id)s ORDER BY c.requested_at DESC LIMIT %(limit)s

-- name: changes
SELECT r.memory_id, o.name AS org, r.status, r.move, r.classes_before, r.classes, r.reasons_before, r.reasons
FROM reclassified r JOIN orgs o ON o.id = r.org_id
WHERE r.reclassification_id = %(id)s ORDER BY r.memory_id LIMIT %(limit)s

-- name: open
-- In turns, one worker each.
SELECT id, kind, org_id, since, dry_run, actor, reason, rate_per_second, store, after, passes, counts, plan_id,
  confirmed_digest, status, extract(epoch FROM clock_timestamp() - looked_at)::float AS rested_seconds
FROM reclassifications WHERE finished_at IS NULL
ORDER BY looked_at NULLS FIRST, requested_at LIMIT 1 FOR UPDATE SKIP LOCKED

-- name: any_open
SELECT EXISTS (SELECT FROM reclassifications WHERE finished_at IS NULL) AS waits

-- name: advance
UPDATE reclassifications SET status = %(status)s, store = %(store)s, after = %(after)s, passes = %(passes)s,
  counts = %(counts)s, detectors = %(detectors)s, looked_at = clock_timestamp(),
  finished_at = CASE WHEN %(status)s IN ('finished', 'stopped') THEN now() END,
  plan_digest = CASE WHEN kind = 'reevaluate' AND %(status)s = 'finished' THEN plan_digest(id) END
WHERE id = %(id)s

-- name: plan_stands
SELECT plan_digest(%(plan_id)s) = %(confirmed_digest)s AS stands

-- name: memories
SELECT m.id, m.org_id, m.run_id, m.status, m.kind, m.content, m.content_hash, m.rationale, m.evidence, m.classes,
  m.hold_reasons, m.subject_type, m.subject_id, m.scope_kind, m.scope_value, m.revision, m.review_id, m.replaces <> '{}' AS replaces,
  m.provenance ->> 'provider' = 'person' OR EXISTS (SELECT FROM reviews r WHERE r.memory_id = m.id
    AND r.kind = 'hold' AND r.decision IN ('approve', 'redirect')) AS let_in,
  EXISTS (SELECT FROM held_rows h JOIN legal_holds l ON l.id = h.hold_id
    WHERE l.released_at IS NULL AND h.row_id = m.run_id) AS on_hold
FROM memories m
WHERE (%(after)s::uuid IS NULL OR m.id > %(after)s) AND m.erased_at IS NULL
  AND (%(org_id)s::integer IS NULL OR m.org_id = %(org_id)s)
  AND (%(since)s::timestamptz IS NULL OR m.created_at >= %(since)s)
  AND (%(detectors)s::text IS NULL OR m.detectors IS DISTINCT FROM %(detectors)s)
  AND (NOT %(live)s OR m.status IN ('pending', 'active'))
  AND (%(plan_id)s::uuid IS NULL OR EXISTS (
    SELECT FROM reclassified p WHERE p.reclassification_id = %(plan_id)s AND p.memory_id = m.id))
ORDER BY m.id LIMIT %(limit)s

-- name: planned
SELECT memory_id, revision, status, move, classes, reasons FROM reclassified
WHERE reclassification_id = %(plan_id)s AND memory_id = ANY (%(ids)s)

-- name: note_changes
INSERT INTO reclassified (reclassification_id, memory_id, org_id, revision, status, move, classes_before, classes,
  reasons_before, reasons)
SELECT %(id)s, x.memory_id, x.org_id, x.revision, x.status, x.move, x.classes_before, x.classes, x.reasons_before,
  x.reasons
FROM jsonb_to_recordset(%(rows)s) AS x(memory_id uuid, org_id integer, revision integer, status text, move text,
  classes_before text[], classes text[], reasons_before text[], reasons text[])
ON CONFLICT DO NOTHING

-- name: mark
UPDATE memories m SET detectors = %(detectors)s FROM unnest(%(ids)s::uuid[], %(revisions)s::integer[]) AS x(id, revision)
WHERE m.id = x.id AND m.revision = x.revision AND m.erased_at IS NULL AND m.detectors IS DISTINCT FROM %(detectors)s

-- name: same_text
-- Another live memory of the run that says the same.
SELECT id FROM memories WHERE run_id = %(run_id)s AND content_hash = %(content_hash)s AND id <> %(id)s
  AND status IN ('pending', 'active')

-- name: give_way
-- A memory about which a person's text is being checked waits for that. No moment is left at which it was valid: where
-- a legal hold keeps its text, no recall of the past hands it out.
UPDATE memories m SET status = 'superseded', superseded_by = %(by)s, review_id = NULL, actor = %(actor)s,
  reason = 'reclassified', status_at = now(), valid_to = m.valid_from
WHERE m.id = %(id)s AND m.status = %(status)s AND m.revision = %(revision)s AND m.erased_at IS NULL
  AND NOT EXISTS (SELECT FROM runs v WHERE v.memory_id = m.id AND v.kind = 'verdict' AND v.state = 'extracted')

-- name: void_reviews
UPDATE reviews SET closed_at = now(), decision = 'voided', decided_by = %(actor)s
WHERE memory_id = %(id)s AND closed_at IS NULL

-- name: succeed
INSERT INTO memories (id, org_id, run_id, tier, kind, status, namespace, scope_kind, scope_value, content, content_hash,
  rationale, evidence, classes, hold_reasons, subject_type, subject_id, author_kind, author, provenance, confidence,
  high_stakes, importance, observed_at, valid_from, expires_at, occurrences, replaces, review_id, actor, reason, detectors)
SELECT %(by)s, org_id, run_id, tier, kind, 'pending', namespace, scope_kind, scope_value, %(content)s, %(content_hash)s,
  %(rationale)s, %(evidence)s, %(classes)s, %(reasons)s, %(subject_type)s, %(subject_id)s, author_kind, author,
  provenance, confidence, high_stakes, importance, observed_at, valid_from, expires_at, occurrences, replaces,
  %(review_id)s, %(actor)s, 'reclassified', %(detectors)s
FROM memories WHERE id = %(id)s

-- name: name_successor
-- Whom the memory names, its successor names.
INSERT INTO run_subjects (org_id, hash, run_id, memory_id)
SELECT org_id, hash, run_id, %(by)s FROM run_subjects WHERE memory_id = %(id)s ON CONFLICT DO NOTHING

-- name: open_hold
INSERT INTO reviews (id, org_id, memory_id, kind, reasons) VALUES (%(review_id)s, %(org_id)s, %(by)s, 'hold', %(reasons)s)

-- name: erase
-- The text goes, and every hash of it: who knows most of a short text can guess the rest from its hash.
WITH erased AS (
  UPDATE memories SET content = '', content_hash = decode(repeat('00', 32), 'hex'), previous_hash = NULL, rationale = '',
    evidence = '[]', subject_type = NULL, subject_id = NULL, erased_at = now(), actor = %(actor)s,
    reason = 'reclassified', detectors = %(detectors)s
  WHERE id = %(id)s AND status = %(status)s AND revision = %(revision)s AND erased_at IS NULL RETURNING superseded_by
), chained AS (
  UPDATE memories SET previous_hash = NULL WHERE id IN (SELECT superseded_by FROM erased) AND previous_hash IS NOT NULL
)
SELECT count(*) AS erased FROM erased

-- name: forget_vector
DELETE FROM {table} WHERE memory_id = %(id)s

-- name: revise
UPDATE memories m SET content = %(content)s, content_hash = %(content_hash)s, rationale = %(rationale)s,
  evidence = %(evidence)s, classes = %(classes)s, hold_reasons = %(reasons)s, subject_type = %(subject_type)s,
  subject_id = %(subject_id)s, revision = m.revision + 1, previous_hash = NULL, actor = %(actor)s,
  reason = 'reclassified', detectors = %(detectors)s
WHERE m.id = %(id)s AND m.status = 'pending' AND m.revision = %(revision)s AND m.erased_at IS NULL

-- name: reason_anew
UPDATE reviews SET reasons = %(reasons)s WHERE id = %(review_id)s AND closed_at IS NULL

-- name: release
UPDATE memories m SET status = 'active', review_id = NULL, classes = %(classes)s, hold_reasons = '{}', actor = %(actor)s,
  reason = 'released', status_at = now(), detectors = %(detectors)s
WHERE m.id = %(id)s AND m.status = 'pending' AND m.revision = %(revision)s AND m.erased_at IS NULL
  AND NOT EXISTS (SELECT FROM runs v WHERE v.memory_id = m.id AND v.kind = 'verdict' AND v.state = 'extracted')

-- name: carry_on
-- The run that gives a released memory its vector.
INSERT INTO runs (id, org_id, kind, state, event_key, content_hash, session, agent, project, user_id, event, ended_at,
  memory_id, actor, reason)
SELECT uuidv7(), r.org_id, 'verdict', 'redacted', 'verdict:' || %(id)s::text || ':release:' || %(revision)s::text,
  %(content_hash)s, r.session, r.agent, r.project, r.user_id, '{}', r.ended_at, %(id)s, %(actor)s, 'release'
FROM runs r WHERE r.id = %(run_id)s
ON CONFLICT (org_id, event_key) WHERE kind = 'verdict' DO NOTHING

-- name: sample
-- What becomes active without a person is sampled for one, however it does.
INSERT INTO reviews (id, org_id, memory_id, kind, reasons)
SELECT uuidv7(), %(org_id)s, %(id)s, 'audit', '{sampled}' WHERE in_share(%(id)s, 1000)

-- name: note_classes
UPDATE memories SET classes = %(classes)s, actor = %(actor)s, reason = 'reclassified', detectors = %(detectors)s
WHERE id = %(id)s AND status = 'active' AND revision = %(revision)s AND erased_at IS NULL

-- name: transcripts
SELECT t.run_id AS id, t.org_id, t.body,
  EXISTS (SELECT FROM held_rows h JOIN legal_holds l ON l.id = h.hold_id
    WHERE l.released_at IS NULL AND h.row_id = t.run_id) AS on_hold
FROM transcripts t JOIN runs r ON r.id = t.run_id
WHERE (%(after)s::uuid IS NULL OR t.run_id > %(after)s)
  AND (%(org_id)s::integer IS NULL OR t.org_id = %(org_id)s)
  AND (%(since)s::timestamptz IS NULL OR r.created_at >= %(since)s)
  AND t.detectors IS DISTINCT FROM %(detectors)s
ORDER BY t.run_id LIMIT %(limit)s

-- name: mark_transcripts
UPDATE transcripts SET detectors = %(detectors)s WHERE run_id = ANY (%(ids)s)

-- name: repack_transcript
UPDATE transcripts SET body = %(body)s WHERE run_id = %(id)s AND sha256(body) = %(before)s

-- name: envelopes
SELECT e.run_id AS id, e.org_id, e.body,
  EXISTS (SELECT FROM held_rows h JOIN legal_holds l ON l.id = h.hold_id
    WHERE l.released_at IS NULL AND h.row_id = e.run_id) AS on_hold
FROM envelopes e JOIN runs r ON r.id = e.run_id
WHERE (%(after)s::uuid IS NULL OR e.run_id > %(after)s)
  AND (%(org_id)s::integer IS NULL OR e.org_id = %(org_id)s)
  AND (%(since)s::timestamptz IS NULL OR r.created_at >= %(since)s)
ORDER BY e.run_id LIMIT %(limit)s

-- name: rewrite_envelope
UPDATE envelopes SET body = %(body)s WHERE run_id = %(id)s AND body = %(before)s

-- name: payloads
SELECT p.entry_id AS id, p.org_id, p.content AS body,
  EXISTS (SELECT FROM held_rows h JOIN legal_holds g ON g.id = h.hold_id
    WHERE g.released_at IS NULL AND h.row_id = m.run_id) AS on_hold
FROM payloads p JOIN ledger l ON l.id = p.entry_id
LEFT JOIN memories m ON m.id = CASE WHEN l.subject_kind = 'memory' THEN l.subject_id::uuid END
WHERE (%(after)s::bigint IS NULL OR p.entry_id > %(after)s)
  AND (%(org_id)s::integer IS NULL OR p.org_id = %(org_id)s)
  AND (%(since)s::timestamptz IS NULL OR l.at >= %(since)s)
  AND p.detectors IS DISTINCT FROM %(detectors)s
ORDER BY p.entry_id LIMIT %(limit)s

-- name: drops
SELECT d.id, d.org_id, jsonb_build_array(d.content, d.rationale, d.evidence, d.subject_id) AS body,
  EXISTS (SELECT FROM held_rows h JOIN legal_holds l ON l.id = h.hold_id
    WHERE l.released_at IS NULL AND h.row_id = d.run_id) AS on_hold
FROM drops d
WHERE (%(after)s::uuid IS NULL OR d.id > %(after)s) AND d.erased_at IS NULL
  AND (%(org_id)s::integer IS NULL OR d.org_id = %(org_id)s)
  AND (%(since)s::timestamptz IS NULL OR d.at >= %(since)s)
  AND d.detectors IS DISTINCT FROM %(detectors)s
ORDER BY d.id LIMIT %(limit)s

-- name: mark_drops
UPDATE drops SET detectors = %(detectors)s WHERE id = ANY (%(ids)s) AND erased_at IS NULL

-- name: erase_drop
UPDATE drops SET content = '', rationale = '', evidence = '[]', subject_type = NULL, subject_id = NULL,
  scope_value = NULL, author = '', erased_at = now()
WHERE id = %(id)s AND erased_at IS NULL

-- name: mark_payloads
UPDATE payloads SET detectors = %(detectors)s WHERE entry_id = ANY (%(ids)s)

-- name: destroy_payload
DELETE FROM payloads WHERE entry_id = %(id)s

-- name: left
SELECT count(*) AS memories FROM memories m
WHERE m.erased_at IS NULL AND (%(org_id)s::integer IS NULL OR m.org_id = %(org_id)s)
  AND (%(since)s::timestamptz IS NULL OR m.created_at >= %(since)s)
  AND (%(detectors)s::text IS NULL OR m.detectors IS DISTINCT FROM %(detectors)s)
  AND (NOT %(live)s OR m.status IN ('pending', 'active'))

-- name: stamps
SELECT id FROM stamps ORDER BY id

-- name: give_way_soon
-- A verdict that waits for us waits for less than it takes to see that two wait for each other.
SET LOCAL lock_timeout = '500ms'

-- name: looking
SELECT set_config('afterword.detectors', %(detectors)s, true)
