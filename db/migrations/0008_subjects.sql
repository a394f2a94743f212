-- Whom runs and memories name, under keyed hashes; erasures and legal holds; and the one role that may erase.

-- Nobody is named here: hashes under a key outside the database. `memory_id` is null for what the run as a whole names.
CREATE TABLE run_subjects (
  org_id integer NOT NULL REFERENCES orgs,
  hash bytea NOT NULL CHECK (length(hash) = 16),
  run_id uuid NOT NULL REFERENCES runs,
  memory_id uuid REFERENCES memories,
  UNIQUE NULLS NOT DISTINCT (org_id, hash, run_id, memory_id)
);
CREATE INDEX run_subjects_run ON run_subjects (run_id);
CREATE INDEX run_subjects_memory ON run_subjects (memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX runs_erased ON runs (org_id, session) WHERE erased_at IS NOT NULL;

-- The register: what ended before `at` and names the subject is erased whenever it arrives.
CREATE TABLE erasures (
  id uuid PRIMARY KEY,
  org_id integer NOT NULL REFERENCES orgs,
  hash bytea NOT NULL CHECK (length(hash) = 16),
  needles jsonb NOT NULL,
  actor text NOT NULL,
  reason text NOT NULL CHECK (reason ~ '\S'),
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  erased jsonb NOT NULL DEFAULT '{}',
  kept jsonb NOT NULL DEFAULT '[]',
  finished_at timestamptz
);
CREATE INDEX erasures_org ON erasures (org_id, at);
-- One at a time for a subject: a second one takes up the first where it stands.
CREATE UNIQUE INDEX erasures_open ON erasures (org_id, hash) WHERE finished_at IS NULL;

CREATE TABLE legal_holds (
  id uuid PRIMARY KEY,
  org_id integer NOT NULL REFERENCES orgs,
  hash bytea NOT NULL CHECK (length(hash) = 16),
  needles jsonb NOT NULL,
  actor text NOT NULL,
  reason text NOT NULL CHECK (reason ~ '\S'),
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  released_by text,
  release_reason text,
  released_at timestamptz,
  CHECK ((released_at IS NULL) = (released_by IS NULL) AND (released_at IS NULL) = (release_reason IS NULL))
);
CREATE UNIQUE INDEX legal_holds_open ON legal_holds (org_id, hash) WHERE released_at IS NULL;

-- What a hold keeps: whole runs with all that came of them, and rejected events.
CREATE TABLE held_rows (
  hold_id uuid NOT NULL REFERENCES legal_holds,
  org_id integer NOT NULL REFERENCES orgs,
  store text NOT NULL CHECK (store IN ('runs', 'rejected_events')),
  row_id uuid NOT NULL,
  PRIMARY KEY (row_id, hold_id)
);

-- Tells a process with another key that it would find nobody.
CREATE TABLE installation (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  key_check bytea NOT NULL CHECK (length(key_check) = 32)
);

DO $$
DECLARE
  t text;
BEGIN
  ALTER TABLE installation ENABLE ROW LEVEL SECURITY;
  ALTER TABLE installation FORCE ROW LEVEL SECURITY;
  CREATE POLICY erasure ON installation TO afterword_eraser USING (true) WITH CHECK (true);
  FOREACH t IN ARRAY ARRAY['run_subjects', 'erasures', 'legal_holds', 'held_rows'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY workers_reach_all_orgs ON %I TO afterword_worker USING (true) WITH CHECK (true)', t);
    EXECUTE format('CREATE POLICY operators_read ON %I FOR SELECT TO afterword_operator USING (true)', t);
  END LOOP;
  FOREACH t IN ARRAY ARRAY['run_subjects', 'erasures', 'legal_holds', 'held_rows', 'runs', 'transcripts', 'envelopes',
                           'rejected_events', 'memories', 'reviews', 'drops', 'payloads', 'tokens', 'outcomes'] LOOP
    EXECUTE format('CREATE POLICY erasure ON %I TO afterword_eraser USING (true) WITH CHECK (true)', t);
  END LOOP;
END $$;
CREATE POLICY erasure ON ledger FOR SELECT TO afterword_eraser USING (true);
CREATE POLICY erasure_record ON ledger FOR INSERT TO afterword_eraser WITH CHECK (true);
ALTER TABLE erasures ALTER COLUMN needles SET STATISTICS 0, ALTER COLUMN hash SET STATISTICS 0;
ALTER TABLE legal_holds ALTER COLUMN needles SET STATISTICS 0, ALTER COLUMN hash SET STATISTICS 0;
ALTER TABLE run_subjects ALTER COLUMN hash SET STATISTICS 0;

CREATE FUNCTION is_held(run uuid) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = afterword, pg_temp AS $$
  SELECT EXISTS (SELECT FROM held_rows h JOIN legal_holds l ON l.id = h.hold_id
                 WHERE h.row_id = is_held.run AND l.released_at IS NULL)
$$;

-- A hold outranks retention and erasure whoever purges: a held row is passed over, and stays.
CREATE FUNCTION keep_held() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = afterword, pg_temp AS $$
DECLARE
  row_id uuid := to_jsonb(OLD) ->> TG_ARGV[0];
BEGIN
  IF is_held(row_id) THEN
    RETURN NULL;
  ELSIF TG_OP = 'DELETE' THEN
    RETURN OLD;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER transcripts_held BEFORE DELETE ON transcripts FOR EACH ROW EXECUTE FUNCTION keep_held('run_id');
CREATE TRIGGER rejected_held BEFORE DELETE ON rejected_events FOR EACH ROW EXECUTE FUNCTION keep_held('id');
CREATE TRIGGER drops_held BEFORE DELETE ON drops FOR EACH ROW EXECUTE FUNCTION keep_held('run_id');
CREATE TRIGGER drops_emptied_held BEFORE UPDATE OF content ON drops FOR EACH ROW
  WHEN (NEW.content <> OLD.content) EXECUTE FUNCTION keep_held('run_id');
CREATE TRIGGER memories_held_back BEFORE UPDATE ON memories FOR EACH ROW
  WHEN (OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL) EXECUTE FUNCTION keep_held('run_id');
CREATE TRIGGER runs_held BEFORE UPDATE ON runs FOR EACH ROW
  WHEN (OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL) EXECUTE FUNCTION keep_held('id');

-- A hash goes with what it leads to, whoever takes that away.
CREATE FUNCTION forget_names() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = afterword, pg_temp AS $$
BEGIN
  IF TG_TABLE_NAME = 'transcripts' THEN
    DELETE FROM run_subjects s USING stale t WHERE s.run_id = t.run_id AND s.memory_id IS NULL;
  ELSE
    DELETE FROM run_subjects s USING fresh m WHERE s.memory_id = m.id AND m.erased_at IS NOT NULL;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER transcripts_unnamed AFTER DELETE ON transcripts
  REFERENCING OLD TABLE AS stale FOR EACH STATEMENT EXECUTE FUNCTION forget_names();
CREATE TRIGGER memories_unnamed AFTER UPDATE ON memories
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION forget_names();

-- An operator's grant, or nothing: whoever decides about a person's data is named.
CREATE FUNCTION operating() RETURNS tokens LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
BEGIN
  IF g.id IS NULL OR g.role <> 'operator' THEN
    RAISE EXCEPTION 'an operator''s grant is needed' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN g;
END $$;

CREATE FUNCTION recorded(g tokens, subject bytea, action text, detail jsonb) RETURNS bigint LANGUAGE sql VOLATILE
SET search_path = afterword, pg_temp AS $$
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  VALUES ((recorded.g).org_id, 'subject', encode(recorded.subject, 'hex'), (recorded.g).actor, recorded.action,
          recorded.detail)
  RETURNING id
$$;

-- Whoever comes first says which key this installation has; every other one is refused.
CREATE FUNCTION knows_key(key_check bytea) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = afterword, pg_temp AS $$
BEGIN
  INSERT INTO installation (key_check) VALUES (knows_key.key_check) ON CONFLICT DO NOTHING;
  RETURN EXISTS (SELECT FROM installation i WHERE i.key_check = knows_key.key_check);
END $$;

-- The first step: from its commit on, redaction of this org lets nothing in that the erasure covers. Repeated while one
-- is open, it takes that one up with what is sought now. `id` and `at` are given when a register is read back.
CREATE FUNCTION mark_erasure(hash bytea, needles jsonb, reason text, id uuid DEFAULT NULL, at timestamptz DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
#variable_conflict use_column
DECLARE
  g tokens := operating();
  marked uuid;
BEGIN
  PERFORM pg_advisory_xact_lock(x'666f7267'::integer, g.org_id);
  UPDATE erasures e SET needles = (SELECT jsonb_agg(DISTINCT n) FROM jsonb_array_elements(e.needles || mark_erasure.needles) n)
  WHERE e.org_id = g.org_id AND e.hash = mark_erasure.hash AND (e.finished_at IS NULL OR e.id = mark_erasure.id)
  RETURNING e.id INTO marked;
  IF marked IS NULL THEN
    INSERT INTO erasures (id, org_id, hash, needles, actor, reason, at)
    VALUES (coalesce(mark_erasure.id, uuidv7()), g.org_id, mark_erasure.hash, mark_erasure.needles, g.actor,
            mark_erasure.reason, coalesce(mark_erasure.at, clock_timestamp()))
    RETURNING erasures.id INTO marked;
    PERFORM recorded(g, mark_erasure.hash, 'erasure_requested',
                     jsonb_build_object('erasure', marked, 'reason', mark_erasure.reason));
  END IF;
  RETURN marked;
END $$;

-- The second step, all or nothing: content goes in every store, and what a worker has in hand is taken from it. A run
-- that has not been redacted ends here; a pending memory is closed, since nothing is left to decide about.
CREATE FUNCTION erase(
  erasure uuid, runs uuid[], event_keys text[], renamed uuid[], memories uuid[], drops uuid[], entries bigint[],
  reviews uuid[], rejected uuid[], users text[]
) RETURNS jsonb LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  g tokens := operating();
  e erasures;
  n integer;
  stamp integer;
  done jsonb := '{}';
  kept_runs uuid[];
  kept_memories uuid[];
  spared jsonb := '[]';
BEGIN
  SELECT x.* INTO e FROM erasures x WHERE x.id = erase.erasure AND x.org_id = g.org_id FOR UPDATE;
  IF e.id IS NULL THEN
    RAISE EXCEPTION 'no such erasure for this grant' USING ERRCODE = 'no_data_found';
  END IF;
  -- Stages win their runs by this row's lock: what commits before is seen below, what comes after finds no lease.
  PERFORM FROM afterword.runs r WHERE r.org_id = g.org_id AND (r.id = ANY (erase.runs)
    OR r.id IN (SELECT m.run_id FROM afterword.memories m WHERE m.id = ANY (erase.memories))
    OR r.memory_id = ANY (erase.memories)) ORDER BY r.id FOR UPDATE;
  SELECT coalesce(array_agg(x), '{}') INTO kept_runs FROM unnest(erase.runs) x WHERE is_held(x);
  SELECT coalesce(array_agg(m.id), '{}') INTO kept_memories FROM afterword.memories m
  WHERE m.id = ANY (erase.memories) AND is_held(m.run_id);

  DELETE FROM run_subjects s WHERE s.org_id = g.org_id AND s.run_id <> ALL (kept_runs)
    AND (s.memory_id IS NULL OR s.memory_id <> ALL (kept_memories))
    AND (s.memory_id = ANY (erase.memories) OR (s.run_id = ANY (erase.runs) AND (s.memory_id IS NULL OR s.hash = e.hash)));
  GET DIAGNOSTICS n = ROW_COUNT;
  done := done || jsonb_build_object('run_subjects', n);
  UPDATE afterword.reviews v SET closed_at = now(), decision = 'voided', decided_by = g.actor
  FROM afterword.memories m WHERE m.id = v.memory_id AND m.id = ANY (erase.memories) AND m.org_id = g.org_id
    AND m.id <> ALL (kept_memories) AND v.closed_at IS NULL;
  UPDATE afterword.memories m SET content = '', content_hash = sha256(convert_to(m.id::text, 'UTF8')),
    previous_hash = NULL, rationale = '', evidence = '[]', subject_type = NULL, subject_id = NULL, author = 'erased',
    scope_value = CASE WHEN m.scope_kind <> 'org' THEN 'erased' END, erased_at = coalesce(m.erased_at, now()),
    status = CASE WHEN m.status = 'pending' THEN 'tombstoned' ELSE m.status END, review_id = NULL,
    status_at = CASE WHEN m.status = 'pending' THEN now() ELSE m.status_at END, actor = g.actor, reason = 'erased'
  WHERE m.id = ANY (erase.memories) AND m.org_id = g.org_id AND m.id <> ALL (kept_memories)
    AND NOT (m.erased_at IS NOT NULL AND m.author = 'erased');
  GET DIAGNOSTICS n = ROW_COUNT;
  done := done || jsonb_build_object('memories', n);
  -- What took its place is chained to it by a hash, and who knows most of a short text guesses the rest from that.
  UPDATE afterword.memories m SET previous_hash = NULL
  WHERE m.org_id = g.org_id AND m.previous_hash IS NOT NULL AND m.id IN (
    SELECT x.superseded_by FROM afterword.memories x WHERE x.id = ANY (erase.memories) AND x.id <> ALL (kept_memories)
    UNION SELECT w.id FROM afterword.memories w WHERE w.replaces <> '{}' AND w.replaces && erase.memories);
  n := 0;
  FOR stamp IN SELECT id FROM stamps LOOP
    DECLARE gone integer; BEGIN
      EXECUTE format('DELETE FROM %I WHERE memory_id = ANY ($1) AND org_id = $2 AND memory_id <> ALL ($3)',
                     'embeddings_' || stamp) USING erase.memories, g.org_id, kept_memories;
      GET DIAGNOSTICS gone = ROW_COUNT;
      n := n + gone;
    END;
  END LOOP;
  done := done || jsonb_build_object('embeddings', n);
  UPDATE afterword.reviews v SET comment = NULL
  WHERE v.id = ANY (erase.reviews) AND v.org_id = g.org_id
    AND (v.memory_id IS NULL OR v.memory_id <> ALL (kept_memories));
  GET DIAGNOSTICS n = ROW_COUNT;
  done := done || jsonb_build_object('reviews', n);
  UPDATE afterword.drops d SET content = '', rationale = '', evidence = '[]', subject_type = NULL, subject_id = NULL,
         scope_value = NULL, author = '', erased_at = coalesce(d.erased_at, now())
  WHERE d.id = ANY (erase.drops) AND d.org_id = g.org_id AND d.erased_at IS NULL AND NOT is_held(d.run_id);
  GET DIAGNOSTICS n = ROW_COUNT;
  done := done || jsonb_build_object('drops', n);
  DELETE FROM afterword.payloads p USING ledger l
  WHERE p.entry_id = ANY (erase.entries) AND p.org_id = g.org_id AND l.id = p.entry_id
    AND NOT (l.subject_kind = 'memory' AND l.subject_id = ANY (kept_memories::text[]))
    AND NOT (l.subject_kind = 'run' AND l.subject_id = ANY (kept_runs::text[]));
  GET DIAGNOSTICS n = ROW_COUNT;
  done := done || jsonb_build_object('payloads', n);
  DELETE FROM rejected_events x WHERE x.id = ANY (erase.rejected);
  GET DIAGNOSTICS n = ROW_COUNT;
  done := done || jsonb_build_object('rejected_events', n);
  DELETE FROM afterword.transcripts t WHERE t.run_id = ANY (erase.runs) AND t.org_id = g.org_id;
  GET DIAGNOSTICS n = ROW_COUNT;
  done := done || jsonb_build_object('transcripts', n);
  DELETE FROM afterword.envelopes v
  WHERE v.run_id = ANY (erase.runs) AND v.org_id = g.org_id AND v.run_id <> ALL (kept_runs);
  GET DIAGNOSTICS n = ROW_COUNT;
  done := done || jsonb_build_object('envelopes', n);
  DELETE FROM tokens t WHERE t.org_id = g.org_id AND t.user_id = ANY (erase.users);
  GET DIAGNOSTICS n = ROW_COUNT;
  done := done || jsonb_build_object('tokens', n);

  UPDATE afterword.runs r SET
    event_key = coalesce(k.event_key, r.event_key), content_hash = decode(repeat('00', 32), 'hex'),
    event = jsonb_strip_nulls(jsonb_build_object('v', r.event -> 'v', 'kind', r.event -> 'kind', 'kept', r.event -> 'kept',
                                                 'outcome', r.event -> 'outcome')),
    user_id = CASE WHEN r.id = ANY (erase.renamed) OR r.user_id = ANY (erase.users) THEN NULL ELSE r.user_id END,
    session = CASE WHEN r.id = ANY (erase.renamed) THEN 'erased:' || r.id ELSE r.session END,
    agent = CASE WHEN r.id = ANY (erase.renamed) THEN 'erased' ELSE r.agent END,
    project = CASE WHEN r.id = ANY (erase.renamed) THEN NULL ELSE r.project END,
    error_detail = NULL, erased_at = coalesce(r.erased_at, now()), lease = NULL,
    state = CASE r.state WHEN 'received' THEN 'skipped' WHEN 'extracted' THEN 'redacted' ELSE r.state END,
    skip_reason = CASE WHEN r.state = 'received' THEN 'erased' ELSE r.skip_reason END,
    due_at = CASE WHEN r.state IN ('extracted', 'redacted', 'embedded') THEN now() END,
    state_at = CASE WHEN r.state IN ('received', 'extracted') THEN now() ELSE r.state_at END,
    actor = g.actor, reason = 'erased'
  FROM unnest(erase.runs, erase.event_keys) AS k(id, event_key)
  WHERE r.id = k.id AND r.org_id = g.org_id AND r.id <> ALL (kept_runs) AND (r.erased_at IS NULL
    OR r.id = ANY (erase.renamed) OR r.user_id = ANY (erase.users));
  GET DIAGNOSTICS n = ROW_COUNT;
  done := done || jsonb_build_object('runs', n);
  -- What was read with a memory's text before it went is read again without it.
  UPDATE afterword.runs r SET lease = NULL, due_at = now()
  WHERE r.org_id = g.org_id AND r.state IN ('redacted', 'embedded') AND r.lease IS NOT NULL
    AND r.id IN (SELECT m.run_id FROM afterword.memories m WHERE m.id = ANY (erase.memories)
                 UNION SELECT x.id FROM afterword.runs x WHERE x.memory_id = ANY (erase.memories));

  IF cardinality(kept_runs) + cardinality(kept_memories) > 0 THEN
    SELECT jsonb_agg(DISTINCT jsonb_build_object('hold', l.id, 'why', l.reason, 'by', l.actor, 'since', l.at,
                     'runs', cardinality(kept_runs), 'memories', cardinality(kept_memories))) INTO spared
    FROM held_rows h JOIN legal_holds l ON l.id = h.hold_id AND l.released_at IS NULL
    WHERE h.row_id = ANY (kept_runs)
       OR h.row_id IN (SELECT m.run_id FROM afterword.memories m WHERE m.id = ANY (kept_memories));
  END IF;
  UPDATE erasures x SET kept = spared, erased = x.erased || (
    SELECT jsonb_object_agg(s.key, coalesce((x.erased ->> s.key)::integer, 0) + s.value::integer)
    FROM jsonb_each_text(done) s) WHERE x.id = e.id RETURNING x.erased INTO e.erased;
  PERFORM recorded(g, e.hash, 'subject_erased', jsonb_build_object('erasure', e.id, 'stores', done,
    'kept', (SELECT coalesce(jsonb_agg(k - 'why'), '[]') FROM jsonb_array_elements(spared) k)));
  RETURN jsonb_build_object('erased', e.erased, 'kept', spared);
END $$;

-- What went outside the tables, as soon as it has gone: a receipt counts it though the command is killed.
CREATE FUNCTION note_erased(erasure uuid, besides jsonb) RETURNS void LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = afterword, pg_temp AS $$
  UPDATE erasures x SET erased = x.erased || (
    SELECT coalesce(jsonb_object_agg(s.key, coalesce((x.erased ->> s.key)::integer, 0) + s.value::integer), '{}')
    FROM jsonb_each_text(note_erased.besides) s)
  WHERE x.id = note_erased.erasure AND x.org_id = (SELECT org_id FROM operating())
$$;

-- The last step, once Redis is clean, the tables are vacuumed and the register's file is written.
CREATE FUNCTION finish_erasure(erasure uuid) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := operating();
  e erasures;
BEGIN
  UPDATE erasures x SET finished_at = clock_timestamp()
  WHERE x.id = finish_erasure.erasure AND x.org_id = g.org_id AND x.finished_at IS NULL RETURNING x.* INTO e;
  IF e.id IS NULL THEN
    RETURN NULL;
  END IF;
  RETURN recorded(g, e.hash, 'erasure_finished', jsonb_build_object('erasure', e.id, 'stores', e.erased));
END $$;

CREATE FUNCTION place_hold(hash bytea, needles jsonb, reason text, runs uuid[], rejected uuid[]) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
#variable_conflict use_column
DECLARE
  g tokens := operating();
  hold uuid;
BEGIN
  PERFORM pg_advisory_xact_lock(x'666f7267'::integer, g.org_id);
  SELECT l.id INTO hold FROM legal_holds l
  WHERE l.org_id = g.org_id AND l.hash = place_hold.hash AND l.released_at IS NULL;
  IF hold IS NULL THEN
    INSERT INTO legal_holds (id, org_id, hash, needles, actor, reason)
    VALUES (uuidv7(), g.org_id, place_hold.hash, place_hold.needles, g.actor, place_hold.reason) RETURNING id INTO hold;
    PERFORM recorded(g, place_hold.hash, 'hold_placed', jsonb_build_object('hold', hold, 'reason', place_hold.reason));
  END IF;
  INSERT INTO held_rows (hold_id, org_id, store, row_id)
  SELECT hold, g.org_id, 'runs', r.id FROM afterword.runs r WHERE r.id = ANY (place_hold.runs) AND r.org_id = g.org_id
  UNION ALL
  SELECT hold, g.org_id, 'rejected_events', x.id FROM rejected_events x WHERE x.id = ANY (place_hold.rejected)
  ON CONFLICT DO NOTHING;
  RETURN hold;
END $$;

CREATE FUNCTION release_hold(hash bytea, reason text) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := operating();
  hold uuid;
BEGIN
  UPDATE legal_holds l SET released_at = clock_timestamp(), released_by = g.actor, release_reason = release_hold.reason
  WHERE l.org_id = g.org_id AND l.hash = release_hold.hash AND l.released_at IS NULL RETURNING l.id INTO hold;
  IF hold IS NOT NULL THEN
    PERFORM recorded(g, release_hold.hash, 'hold_released',
                     jsonb_build_object('hold', hold, 'reason', release_hold.reason));
  END IF;
  RETURN hold;
END $$;

-- What an access request was answered with, before it is answered: for a reviewer or an operator with a grant.
CREATE FUNCTION record_answer(hash bytea, action text, detail jsonb) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
BEGIN
  IF g.id IS NULL OR g.role NOT IN ('operator', 'reviewer') OR record_answer.action NOT IN ('subject_looked_up', 'subject_exported') THEN
    RAISE EXCEPTION 'a reviewer''s or operator''s grant is needed' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN recorded(g, record_answer.hash, record_answer.action, record_answer.detail);
END $$;

-- Users that have tokens in the org, so that one who is known by a hash alone is found among them.
CREATE FUNCTION token_users() RETURNS TABLE (user_id text, tokens bigint) LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = afterword, pg_temp AS $$
  SELECT t.user_id, count(*) FROM tokens t
  WHERE t.org_id = (SELECT org_id FROM operating()) AND t.user_id IS NOT NULL GROUP BY 1
$$;

-- Privileges.
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA afterword FROM PUBLIC;
GRANT EXECUTE ON FUNCTION is_personal(text[]), ledger_hash(bigint, xid8, integer, text, text, timestamptz, text, text,
  jsonb, bytea), any_lexeme(text), org_words(integer, tsvector), turn_number(jsonb), in_share(uuid, integer) TO PUBLIC;
GRANT USAGE ON SCHEMA afterword TO afterword_eraser;
GRANT EXECUTE ON FUNCTION current_grant() TO afterword_eraser;
-- It may erase every text and read none.
GRANT DELETE ON tokens, transcripts, envelopes, payloads, rejected_events TO afterword_eraser;
GRANT SELECT (org_id, user_id) ON tokens TO afterword_eraser;
GRANT SELECT (run_id, org_id) ON transcripts, envelopes TO afterword_eraser;
GRANT SELECT (org_id, entry_id) ON payloads TO afterword_eraser;
GRANT SELECT (id) ON rejected_events TO afterword_eraser;
GRANT SELECT (id, org_id, run_id, erased_at), UPDATE ON drops TO afterword_eraser;
GRANT SELECT (id, org_id, memory_id, closed_at), UPDATE ON reviews TO afterword_eraser;
GRANT SELECT (id, org_id, run_id, status, status_at, author, scope_kind, erased_at, previous_hash, replaces,
  superseded_by), UPDATE ON memories
  TO afterword_eraser;
GRANT SELECT, UPDATE ON runs TO afterword_eraser;
GRANT SELECT, DELETE ON run_subjects TO afterword_eraser;
GRANT SELECT, INSERT, UPDATE ON erasures, legal_holds, held_rows, installation TO afterword_eraser;
GRANT SELECT ON stamps, orgs TO afterword_eraser;
GRANT SELECT, INSERT (org_id, subject_kind, subject_id, actor, action, detail, payload_hash) ON ledger
  TO afterword_eraser;
GRANT SELECT, INSERT, DELETE ON run_subjects TO afterword_worker;
GRANT SELECT ON erasures, legal_holds TO afterword_worker;
GRANT SELECT, INSERT ON held_rows TO afterword_worker;
GRANT SELECT ON erasures, legal_holds, held_rows TO afterword_operator;

GRANT CREATE ON SCHEMA afterword TO afterword_eraser;
DO $$
DECLARE
  f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['is_held(uuid)', 'keep_held()', 'forget_names()', 'operating()', 'recorded(tokens, bytea, text, jsonb)',
      'knows_key(bytea)', 'mark_erasure(bytea, jsonb, text, uuid, timestamptz)',
      'erase(uuid, uuid[], text[], uuid[], uuid[], uuid[], bigint[], uuid[], uuid[], text[])', 'finish_erasure(uuid)', 'note_erased(uuid, jsonb)',
      'place_hold(bytea, jsonb, text, uuid[], uuid[])', 'release_hold(bytea, text)', 'record_answer(bytea, text, jsonb)',
      'token_users()'] LOOP
    EXECUTE 'ALTER FUNCTION ' || f || ' OWNER TO afterword_eraser';
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA afterword FROM afterword_eraser;
GRANT EXECUTE ON FUNCTION knows_key(bytea) TO afterword_worker, afterword_operator;
GRANT EXECUTE ON FUNCTION mark_erasure(bytea, jsonb, text, uuid, timestamptz),
  erase(uuid, uuid[], text[], uuid[], uuid[], uuid[], bigint[], uuid[], uuid[], text[]), finish_erasure(uuid),
  note_erased(uuid, jsonb), place_hold(bytea, jsonb, text, uuid[], uuid[]), release_hold(bytea, text), token_users() TO afterword_operator;
GRANT EXECUTE ON FUNCTION record_answer(bytea, text, jsonb) TO afterword_operator, afterword_reviewer;
-- VACUUM, which makes room of what is gone, and changes nothing.
GRANT MAINTAIN ON runs, memories, reviews, transcripts, envelopes, drops, payloads, rejected_events, tokens, run_subjects,
  outcomes
  TO afterword_operator;
