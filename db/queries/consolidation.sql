-- name: neighbours_exact
-- What says the same, by hash, within the org and scope; only what was let in before. The fence (OFFSET 0) leaves the planner
-- one index to choose: without statistics it read the whole org by another.
SELECT n.* FROM
  (SELECT id, org_id, content_hash, scope_kind, scope_value, status_at FROM memories
   WHERE id = ANY (%(ids)s) AND status = 'active') new,
LATERAL (
  SELECT new.id AS of, m.id, m.content, m.kind, m.scope_kind, m.scope_value, m.subject_type, m.subject_id, m.observed_at
  FROM (SELECT * FROM memories same WHERE same.org_id = new.org_id AND same.content_hash = new.content_hash
          AND same.status IN ('pending', 'active') OFFSET 0) m
  WHERE m.status = 'active' AND m.erased_at IS NULL AND (m.kind = 'rule' OR m.expires_at > now()) AND m.id <> new.id
    AND m.scope_kind = new.scope_kind AND m.scope_value IS NOT DISTINCT FROM new.scope_value AND m.kind <> 'turn'
    AND (m.status_at, m.id) < (new.status_at, new.id)
  ORDER BY m.status_at, m.id LIMIT 1
) n

-- name: neighbours_lexical
-- Active memories that say every word of a phrase. The rarest word of it leads, at most 256 are looked at and 16 kept,
-- those nearest in length: the cost does not follow the size of the store. The fence (OFFSET 0) keeps the planner from an
-- index that gives rows sooner and has to read them all to find the words.
WITH asked AS MATERIALIZED (
  SELECT m.id, m.org_id, m.scope_kind, m.scope_value, m.status_at, length(m.content) AS length, q.words
  FROM unnest(%(ids)s::uuid[], %(phrases)s::text[]) AS x(id, phrase)
  JOIN memories m ON m.id = x.id AND m.status = 'active', org_words(m.org_id, to_tsvector('english', x.phrase)) AS q(words)
  WHERE q.words <> '{}'
)
SELECT DISTINCT n.* FROM asked, LATERAL (
  SELECT asked.id AS of, m.id, m.content, m.kind, m.scope_kind, m.scope_value, m.subject_type, m.subject_id,
    m.observed_at FROM (
    SELECT k.* FROM (SELECT * FROM memories said WHERE org_words(said.org_id, said.lexemes) @> asked.words
      AND said.status = 'active' OFFSET 0) k
    WHERE k.org_id = asked.org_id AND k.id <> asked.id AND k.erased_at IS NULL AND (k.kind = 'rule' OR k.expires_at > now())
      AND k.scope_kind = asked.scope_kind AND k.scope_value IS NOT DISTINCT FROM asked.scope_value AND k.kind <> 'turn'
      AND (k.status_at, k.id) < (asked.status_at, asked.id)
    LIMIT 256) m
  ORDER BY abs(length(m.content) - asked.length), m.id LIMIT 16
) n

-- name: held_memories
-- What was said is what was said: a turn repeats and retires nothing, here as above.
SELECT id, run_id, org_id, content, kind, scope_kind, scope_value, subject_type, subject_id, observed_at, hold_reasons,
  classes FROM memories WHERE run_id = ANY (%(runs)s) AND status = 'pending' AND kind <> 'turn' ORDER BY id

-- name: neighbours_held
-- What a held memory may repeat: what waits already, or was let in, with at least its reasons and classes. The
-- earliest of the same text, then those that have all its lexemes, the closest in length first.
WITH new AS MATERIALIZED (
  SELECT id, org_id, scope_kind, scope_value, content_hash, hold_reasons, classes, status_at,
    content, org_words(org_id, lexemes) AS words FROM memories WHERE id = ANY (%(ids)s) AND status = 'pending'
)
SELECT n.* FROM new, LATERAL (
  (SELECT new.id AS of, m.id, m.content, m.kind, m.scope_kind, m.scope_value, m.subject_type, m.subject_id,
     m.observed_at FROM memories m
   WHERE m.org_id = new.org_id AND m.content_hash = new.content_hash AND m.status IN ('pending', 'active')
     AND m.hold_reasons @> new.hold_reasons AND m.classes @> new.classes
     AND m.scope_kind = new.scope_kind AND m.scope_value IS NOT DISTINCT FROM new.scope_value AND m.kind <> 'turn'
     AND (m.status_at, m.id) < (new.status_at, new.id) ORDER BY m.status_at, m.id LIMIT 1)
  UNION ALL
  (SELECT new.id, m.id, m.content, m.kind, m.scope_kind, m.scope_value, m.subject_type, m.subject_id, m.observed_at
   FROM (SELECT k.* FROM memories k
     WHERE org_words(k.org_id, k.lexemes) @> new.words AND new.words <> '{}' AND k.status = 'pending'
       AND k.hold_reasons @> new.hold_reasons AND k.classes @> new.classes
       AND k.scope_kind = new.scope_kind AND k.scope_value IS NOT DISTINCT FROM new.scope_value AND k.kind <> 'turn'
       AND (k.status_at, k.id) < (new.status_at, new.id) LIMIT 256) m
   ORDER BY abs(length(m.content) - length(new.content)), m.id LIMIT 5)
  UNION ALL
  (SELECT new.id, m.id, m.content, m.kind, m.scope_kind, m.scope_value, m.subject_type, m.subject_id, m.observed_at
   FROM (SELECT k.* FROM memories k
     WHERE org_words(k.org_id, k.lexemes) @> new.words AND new.words <> '{}' AND k.status = 'active'
       AND k.hold_reasons @> new.hold_reasons AND k.classes @> new.classes
       AND k.scope_kind = new.scope_kind AND k.scope_value IS NOT DISTINCT FROM new.scope_value AND k.kind <> 'turn'
       AND (k.status_at, k.id) < (new.status_at, new.id) LIMIT 256) m
   ORDER BY abs(length(m.content) - length(new.content)), m.id LIMIT 5)
) n

-- name: new_memories
-- A backfill: what did not come right after its session; nobody watches what becomes of so many at once.
SELECT m.id, m.run_id, m.org_id, m.content, m.kind, m.scope_kind, m.scope_value, m.subject_type, m.subject_id, m.observed_at,
  r.kind NOT IN ('session', 'proposal', 'note') OR r.replays > 0 OR r.created_at - r.ended_at > interval '1 day' AS backfill
FROM memories m JOIN runs r ON r.id = m.run_id
WHERE (m.run_id = ANY (%(runs)s) OR m.id = ANY (%(memories)s)) AND m.status = 'active' AND m.erased_at IS NULL
  AND m.kind <> 'turn'

-- name: count_repeats
-- What was said again was so from when it was first said, and was seen when it was last said.
-- A repeat of what is itself a repeat in this batch counts for the one that stays: one row is written once a statement.
WITH RECURSIVE fresh AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset(%(rows)s) AS x(memory_id uuid, repeat_id uuid, org_id integer, similarity text, score real)
), followed AS (
  SELECT repeat_id, memory_id, org_id, similarity, score FROM fresh
  UNION
  SELECT w.repeat_id, f.memory_id, w.org_id, w.similarity, w.score FROM followed w JOIN fresh f ON f.repeat_id = w.memory_id
), rooted AS (
  SELECT * FROM followed w WHERE NOT EXISTS (SELECT FROM fresh f WHERE f.repeat_id = w.memory_id)
), counted AS (
  INSERT INTO occurrences (memory_id, repeat_id, org_id, similarity, score)
  SELECT f.memory_id, f.repeat_id, f.org_id, f.similarity, f.score
  FROM rooted f JOIN memories kept ON kept.id = f.memory_id AND kept.status = 'active'
  ORDER BY f.memory_id FOR NO KEY UPDATE OF kept
  ON CONFLICT DO NOTHING RETURNING memory_id, repeat_id, similarity
), superseded AS (
  UPDATE memories m SET status = 'superseded', superseded_by = c.memory_id,
    reason = CASE c.similarity WHEN 'cosine' THEN 'near_repeat' ELSE 'repeat' END, actor = %(actor)s,
    status_at = now(), valid_to = m.valid_from
  FROM counted c WHERE m.id = c.repeat_id AND m.status = 'active' RETURNING m.id
), voided AS (
  UPDATE reviews SET closed_at = now(), decision = 'voided', decided_by = %(actor)s
  WHERE memory_id IN (SELECT id FROM superseded) AND closed_at IS NULL
)
UPDATE memories m SET occurrences = m.occurrences + c.times, observed_at = greatest(m.observed_at, c.latest),
  valid_from = least(m.valid_from, c.earliest)
FROM (SELECT o.memory_id, count(*)::integer AS times, max(r.observed_at) AS latest, min(r.valid_from) AS earliest
      FROM counted o JOIN memories r ON r.id = o.repeat_id GROUP BY 1) c WHERE m.id = c.memory_id

-- name: count_held_repeats
-- A held repeat gives way to what waits or was let in, and its review closes. One that was decided meanwhile stays.
WITH fresh AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset(%(rows)s) AS x(memory_id uuid, repeat_id uuid, org_id integer, similarity text, score real)
), counted AS (
  INSERT INTO occurrences (memory_id, repeat_id, org_id, similarity, score)
  SELECT f.memory_id, f.repeat_id, f.org_id, f.similarity, f.score FROM fresh f
  JOIN memories kept ON kept.id = f.memory_id AND kept.status IN ('pending', 'active')
  JOIN memories held ON held.id = f.repeat_id AND held.status = 'pending'
  ORDER BY f.memory_id, f.repeat_id FOR NO KEY UPDATE OF kept, held
  ON CONFLICT DO NOTHING RETURNING memory_id, repeat_id
), superseded AS (
  UPDATE memories m SET status = 'superseded', superseded_by = c.memory_id, review_id = NULL, reason = 'repeat',
    actor = %(actor)s, status_at = now(), valid_to = m.valid_from
  FROM counted c WHERE m.id = c.repeat_id RETURNING m.id
), voided AS (
  UPDATE reviews SET closed_at = now(), decision = 'voided', decided_by = %(actor)s
  WHERE memory_id IN (SELECT id FROM superseded) AND closed_at IS NULL
)
UPDATE memories m SET occurrences = m.occurrences + c.times, observed_at = greatest(m.observed_at, c.latest),
  valid_from = least(m.valid_from, c.earliest)
FROM (SELECT o.memory_id, count(*)::integer AS times, max(r.observed_at) AS latest, min(r.valid_from) AS earliest
      FROM counted o JOIN memories r ON r.id = o.repeat_id GROUP BY 1) c WHERE m.id = c.memory_id

-- name: propose_retirements
-- Beside what the memory would take the place of already; asked once, while the question is open.
WITH fresh AS MATERIALIZED (
  SELECT x.id, x.org_id, x.review_id, array_agg(old.id) AS replaces
  FROM jsonb_to_recordset(%(rows)s) AS x(id uuid, org_id integer, replaces uuid[], review_id uuid)
  JOIN memories old ON old.id = ANY (x.replaces) AND old.status = 'active' AND old.org_id = x.org_id GROUP BY 1, 2, 3
), marked AS (
  UPDATE memories m SET replaces = m.replaces || ARRAY(SELECT unnest(f.replaces) EXCEPT SELECT unnest(m.replaces)),
    actor = %(actor)s FROM fresh f
  WHERE m.id = f.id AND m.status = 'active' AND NOT f.replaces <@ m.replaces RETURNING m.id
)
INSERT INTO reviews (id, org_id, memory_id, kind, reasons)
SELECT f.review_id, f.org_id, f.id, 'retire', '{retires_active}' FROM fresh f JOIN marked USING (id)
WHERE NOT EXISTS (SELECT FROM reviews r WHERE r.memory_id = f.id AND r.kind = 'retire' AND r.closed_at IS NULL)

-- name: wanting
SELECT id FROM orgs WHERE id = ANY (%(ids)s) AND settings -> 'consolidation' ? %(what)s

-- name: near_duplicates
-- Counted as near duplicates: the pair, how near, and whether that was undone. No content.
SELECT o.repeat_id, o.memory_id, o.score, o.at, o.undone_at, o.undone_by, m.kind, m.scope_kind, m.status
FROM occurrences o JOIN memories m ON m.id = o.repeat_id
WHERE o.org_id = %(org)s AND o.similarity = 'cosine' ORDER BY o.at DESC LIMIT %(limit)s

-- name: counted_for
SELECT memory_id FROM occurrences WHERE org_id = %(org)s AND repeat_id = %(repeat)s AND similarity = 'cosine'
