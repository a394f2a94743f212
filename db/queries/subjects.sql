-- name: record
-- A memory that was a repeat within its run was not inserted, and names nobody.
INSERT INTO run_subjects (org_id, hash, run_id, memory_id)
SELECT x.org_id, decode(x.hash, 'hex'), x.run_id, x.memory_id
FROM jsonb_to_recordset(%(rows)s) AS x(org_id integer, hash text, run_id uuid, memory_id uuid)
WHERE x.memory_id IS NULL OR EXISTS (SELECT FROM memories m WHERE m.id = x.memory_id)
ON CONFLICT DO NOTHING

-- name: await_erasures
-- Whoever marks an erasure holds this alone for a moment: what commits after it sees the mark.
SELECT pg_advisory_xact_lock_shared(x'666f7267'::integer, o) FROM unnest(%(orgs)s::integer[]) o ORDER BY o

-- name: covering
-- What may concern these runs: an erasure that is younger than what they hold, or that erased a run of their session;
-- and every open hold.
SELECT r.id AS run_id, e.id, e.hash, e.needles, false AS holds FROM runs r JOIN erasures e ON e.org_id = r.org_id
WHERE r.id = ANY (%(runs)s) AND (
  e.at > CASE r.kind WHEN 'verdict' THEN r.created_at ELSE least(r.ended_at, r.created_at) END
  OR EXISTS (SELECT FROM runs s WHERE s.org_id = r.org_id AND s.session = r.session AND s.erased_at IS NOT NULL
             AND s.id <> r.id AND r.kind <> 'verdict'))
UNION ALL
SELECT r.id, l.id, l.hash, l.needles, true FROM runs r JOIN legal_holds l ON l.org_id = r.org_id
WHERE r.id = ANY (%(runs)s) AND l.released_at IS NULL

-- name: covering_events
SELECT e.id, e.hash, e.org_id, e.at FROM erasures e
WHERE (e.org_id, e.hash) IN (SELECT o, decode(h, 'hex') FROM unnest(%(orgs)s::integer[], %(hashes)s::text[]) AS x(o, h))
  AND NOT EXISTS (SELECT FROM legal_holds l
                  WHERE l.org_id = e.org_id AND l.hash = e.hash AND l.released_at IS NULL)

-- name: hold
INSERT INTO held_rows (hold_id, org_id, store, row_id)
SELECT x.hold_id, x.org_id, 'runs', x.run_id
FROM jsonb_to_recordset(%(rows)s) AS x(hold_id uuid, org_id integer, run_id uuid)
ON CONFLICT DO NOTHING

-- name: erase_run
-- A run that arrived after an erasure which covers it: it passes on with nothing. The eraser does the same to those
-- that were here.
UPDATE runs SET event = jsonb_strip_nulls(jsonb_build_object('v', event -> 'v', 'kind', event -> 'kind', 'kept',
    event -> 'kept', 'outcome', event -> 'outcome')),
  event_key = %(event_key)s, content_hash = decode(repeat('00', 32), 'hex'), user_id = NULL, project = NULL,
  session = 'erased:' || id, agent = 'erased', erased_at = now(), reason = 'erased'
WHERE id = %(run)s AND erased_at IS NULL

-- name: drop_transcript
DELETE FROM transcripts WHERE run_id = %(run)s

-- name: event_key
SELECT event_key FROM runs WHERE id = %(run)s

-- name: knows_key
SELECT knows_key(%(check)s) AS known

-- name: indexed
SELECT run_id, memory_id FROM run_subjects WHERE org_id = %(org)s AND hash = %(hash)s

-- name: runs
SELECT id, kind, state, event_key, session, agent, project, user_id, event, error_detail, memory_id, drop_id FROM runs
WHERE org_id = %(org)s

-- name: memories
SELECT id, run_id, subject_type, subject_id, author_kind, author, scope_kind, scope_value, content, rationale, evidence
FROM memories WHERE org_id = %(org)s

-- name: reviews
SELECT id, memory_id, drop_id, comment FROM reviews WHERE org_id = %(org)s AND comment IS NOT NULL

-- name: drops
SELECT id, run_id, subject_type, subject_id, author_kind, author, scope_kind, scope_value, content, rationale, evidence
FROM drops WHERE org_id = %(org)s AND erased_at IS NULL

-- name: outcomes
SELECT id, memory_id, comment, eval_run, agent, workflow FROM outcomes WHERE org_id = %(org)s

-- name: payloads
SELECT p.entry_id, p.content, l.subject_kind, l.subject_id FROM payloads p JOIN ledger l ON l.id = p.entry_id
WHERE p.org_id = %(org)s

-- name: envelopes
SELECT run_id, body FROM envelopes WHERE org_id = %(org)s

-- name: transcripts
SELECT run_id, body FROM transcripts WHERE org_id = %(org)s

-- name: rejected_events
SELECT id, detail, body FROM rejected_events

-- name: org_names
SELECT name FROM orgs

-- name: count_embeddings
SELECT count(*) AS n FROM {table} WHERE memory_id = ANY (%(memories)s)

-- name: holds_on
SELECT id, reason, actor, at FROM legal_holds WHERE org_id = %(org)s AND hash = %(hash)s AND released_at IS NULL

-- name: holds
SELECT l.id, o.name AS org, encode(l.hash, 'hex') AS subject, l.reason, l.actor, l.at, count(h.row_id) AS rows
FROM legal_holds l JOIN orgs o ON o.id = l.org_id LEFT JOIN held_rows h ON h.hold_id = l.id
WHERE l.released_at IS NULL GROUP BY l.id, o.name ORDER BY l.at

-- name: held_among
SELECT DISTINCT h.row_id FROM held_rows h JOIN legal_holds l ON l.id = h.hold_id
WHERE l.released_at IS NULL AND h.row_id = ANY (%(rows)s)

-- name: token_users
SELECT user_id, tokens FROM token_users()

-- name: mark
SELECT mark_erasure(%(hash)s, %(needles)s, %(reason)s, %(id)s, %(at)s) AS id

-- name: erasure
SELECT id, org_id, hash, needles, at, erased, kept, finished_at FROM erasures WHERE id = %(id)s

-- name: erase
SELECT erase(%(erasure)s, %(runs)s, %(event_keys)s, %(renamed)s, %(memories)s, %(drops)s, %(entries)s, %(reviews)s,
  %(rejected)s, %(users)s) AS receipt

-- name: erase_outcomes
SELECT erase_outcomes(%(erasure)s, %(outcomes)s, %(memories)s) AS rows

-- name: finish
SELECT finish_erasure(%(erasure)s) AS entry

-- name: note
SELECT note_erased(%(erasure)s, %(besides)s)

-- name: place_hold
SELECT place_hold(%(hash)s, %(needles)s, %(reason)s, %(runs)s, %(rejected)s) AS id

-- name: release_hold
SELECT release_hold(%(hash)s, %(reason)s) AS id

-- name: answered
SELECT record_answer(%(hash)s, %(action)s, %(detail)s) AS entry

-- name: export_memories
SELECT id, run_id, tier, kind, status, content, rationale, evidence, classes, subject_type, subject_id, author_kind,
  author, scope_kind, scope_value, provenance, observed_at, valid_from, valid_to, expires_at, last_used_at, created_at
FROM memories WHERE id = ANY (%(ids)s) AND erased_at IS NULL ORDER BY created_at, id

-- name: export_runs
SELECT r.id, r.kind, r.state, r.session, r.agent, r.project, r.user_id, r.event, r.ended_at, r.created_at, t.body
FROM runs r LEFT JOIN transcripts t ON t.run_id = r.id
WHERE r.id = ANY (%(ids)s) AND r.erased_at IS NULL AND r.kind <> 'verdict' ORDER BY r.created_at, r.id

-- name: export_drops
SELECT id, run_id, rule, content, rationale, evidence, author, at, expires_at FROM drops
WHERE id = ANY (%(ids)s) AND erased_at IS NULL ORDER BY at, id

-- name: export_reviews
SELECT id, memory_id, kind, reasons, decision, decided_by, comment, opened_at, closed_at FROM reviews
WHERE id = ANY (%(ids)s) AND comment IS NOT NULL ORDER BY opened_at, id

-- name: export_outcomes
SELECT id, kind, memory_id, verdict, eval_run, score, agent, workflow, comment, actor, at, expires_at FROM outcomes
WHERE id = ANY (%(ids)s) ORDER BY at, id

-- name: export_recalls
-- To whom what is kept of somebody was handed out.
SELECT r.id, r.at, r.actor, (SELECT jsonb_agg(h -> 'id') FROM jsonb_array_elements(r.hits) h
                             WHERE h ->> 'id' = ANY (%(ids)s::text[])) AS memories
FROM recalls r WHERE r.org_id = %(org)s AND EXISTS (
  SELECT FROM jsonb_array_elements(r.hits) h WHERE h ->> 'id' = ANY (%(ids)s::text[])) ORDER BY r.at
