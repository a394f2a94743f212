-- What an org wants of consolidation beyond counting what is said again; nothing of it is on by itself.
ALTER TABLE orgs ADD CONSTRAINT consolidation_is_known CHECK (
  coalesce(settings -> 'consolidation', '[]') <@ '["near_duplicates", "model", "compaction", "mining", "amendment"]');

-- Near duplicates rest on the spread of unrelated pairs: without it, nobody knows what near is.
CREATE FUNCTION near_needs_calibration() RETURNS trigger LANGUAGE plpgsql SET search_path = afterword, pg_temp AS $$
BEGIN
  IF coalesce(NEW.settings -> 'consolidation', '[]') ? 'near_duplicates'
     AND (TG_OP = 'INSERT' OR NOT coalesce(OLD.settings -> 'consolidation', '[]') ? 'near_duplicates')
     AND NOT EXISTS (SELECT FROM calibrated c JOIN stamps s ON s.id = c.stamp AND s.is_current WHERE c.side = 'passage') THEN
    RAISE EXCEPTION 'near duplicates need a calibrated stamp' USING ERRCODE = 'check_violation',
      CONSTRAINT = 'near_needs_calibration';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER orgs_near BEFORE INSERT OR UPDATE ON orgs FOR EACH ROW EXECUTE FUNCTION near_needs_calibration();

-- A near duplicate that was counted and says something else: its text comes in again by the way of any other, and counts
-- no more for the one it was taken for. Repeating it answers with the same run.
CREATE FUNCTION restore_repeat(repeat uuid, comment text) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
  m memories := granted_memory(restore_repeat.repeat);
  counted occurrences;
  opened uuid;
BEGIN
  SELECT o.* INTO counted FROM occurrences o WHERE o.repeat_id = m.id AND o.similarity = 'cosine' FOR UPDATE;
  IF coalesce(restore_repeat.comment, '') !~ '\S' THEN
    RAISE EXCEPTION 'a restoration needs a reason' USING ERRCODE = 'invalid_parameter_value';
  ELSIF counted.repeat_id IS NULL THEN
    RAISE EXCEPTION 'this memory was not counted as a near duplicate' USING ERRCODE = 'AW001';
  ELSIF counted.undone_at IS NOT NULL THEN
    SELECT r.id INTO STRICT opened FROM runs r WHERE r.kind = 'verdict' AND r.memory_id = m.id AND r.reason = 'restore';
    RETURN opened;
  ELSIF m.erased_at IS NOT NULL THEN
    RAISE EXCEPTION 'this memory is emptied: its text is gone' USING ERRCODE = 'AW001';
  END IF;
  UPDATE occurrences SET undone_at = now(), undone_by = g.actor
  WHERE repeat_id = counted.repeat_id AND memory_id = counted.memory_id;
  UPDATE memories k SET occurrences = greatest(1, k.occurrences - 1), actor = g.actor WHERE k.id = counted.memory_id;
  RETURN open_verdict_run(m, 'extracted', 'restore:' || m.revision, g.actor, jsonb_build_object(
    'act', 'restore', 'memory', m.id, 'content', m.content, 'comment', restore_repeat.comment));
END $$;

-- Candidates that a person or a pass records enter with their envelope, and then go the way of any other: detection, the
-- gate, consolidation. `decided`: whoever recorded them had the right to, so that only what detection finds holds them.
-- One namespace outside the manifest refuses them all, on record: NULL.
CREATE FUNCTION record_candidates(
  org integer, source text, key text, actor text, for_user text, decided boolean, provenance jsonb, candidates jsonb
) RETURNS uuid LANGUAGE plpgsql VOLATILE SET search_path = afterword, pg_temp AS $$
DECLARE
  opened uuid;
  unknown text := (SELECT c ->> 'namespace' FROM jsonb_array_elements(candidates) c WHERE NOT EXISTS (
    SELECT FROM namespaces n WHERE n.org_id = record_candidates.org AND n.name = c ->> 'namespace') LIMIT 1);
BEGIN
  IF unknown IS NOT NULL THEN
    INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
    VALUES (record_candidates.org, 'namespace', left(unknown, 100), record_candidates.actor, 'namespace_refused',
            jsonb_build_object('source', source));
    RETURN NULL;
  END IF;
  INSERT INTO runs (id, org_id, kind, state, event_key, content_hash, session, agent, user_id, event, ended_at, actor, reason)
  VALUES (uuidv7(), record_candidates.org, 'proposal', 'extracted', 'recorded:' || source || ':' || key,
          sha256(convert_to(candidates::text, 'UTF8')), 'recorded:' || key, source, for_user,
          jsonb_build_object('recorded', source, 'decided', record_candidates.decided), now(), record_candidates.actor, source)
  ON CONFLICT (org_id, event_key) WHERE kind <> 'verdict' DO NOTHING RETURNING id INTO opened;
  IF opened IS NULL THEN
    RETURN (SELECT r.id FROM runs r WHERE r.org_id = record_candidates.org AND r.kind = 'proposal'
              AND r.event_key = 'recorded:' || source || ':' || key);
  END IF;
  INSERT INTO envelopes (run_id, org_id, body) VALUES (opened, record_candidates.org,
    jsonb_build_object('provenance', provenance, 'candidates', candidates));
  RETURN opened;
END $$;

-- One candidate as a person words it: of their own authority, with nothing to bear it out.
CREATE FUNCTION own_words(
  org integer, kind text, content text, rationale text, author text, namespace text, scope_kind text, scope_value text,
  subject_type text DEFAULT NULL, subject_id text DEFAULT NULL
) RETURNS jsonb LANGUAGE sql STABLE SET search_path = afterword, pg_temp AS $$
  SELECT jsonb_build_object('content', content, 'kind', kind, 'rationale', rationale, 'evidence', '[]'::jsonb,
    'confidence', NULL, 'hold_reasons', '[]'::jsonb,
    'subject', CASE WHEN subject_id IS NOT NULL THEN jsonb_build_object('type', subject_type, 'id', subject_id) END,
    'scope', jsonb_build_object('kind', scope_kind, 'value', scope_value), 'author_kind', 'person', 'author', author,
    'high_stakes', false, 'importance', 4, 'observed_at', now(), 'lifetime_days', retention_days(org, kind || 's'),
    'namespace', namespace, 'replaces', '[]'::jsonb)
$$;

-- A person's correction: a candidate, with its occurrences, until it is approved.
CREATE FUNCTION record_feedback(content text, namespace text, scope_kind text, scope_value text) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
BEGIN
  IF g.id IS NULL OR g.role <> 'reviewer' THEN
    RAISE EXCEPTION 'a reviewer''s grant is needed' USING ERRCODE = 'insufficient_privilege';
  ELSIF coalesce(record_feedback.content, '') !~ '\S' OR length(record_feedback.content) > 2000 THEN
    RAISE EXCEPTION 'the text must have 1 to 2,000 characters' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN record_candidates(g.org_id, 'feedback', uuidv7()::text, g.actor, NULL, false,
    jsonb_build_object('provider', 'person', 'feedback', true), jsonb_build_array(own_words(g.org_id, 'rule',
      record_feedback.content, 'A person said so, correcting what an agent did.', g.actor, record_feedback.namespace,
      record_feedback.scope_kind, record_feedback.scope_value)));
END $$;

-- Rules that a person keeps in a file: decided by handing them in.
CREATE FUNCTION record_rules(namespace text, contents text[]) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
  n namespaces;
BEGIN
  IF g.id IS NULL OR g.role <> 'reviewer' OR g.project IS NOT NULL THEN
    RAISE EXCEPTION 'a grant of a reviewer of the whole org is needed' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT x.* INTO n FROM namespaces x WHERE x.org_id = g.org_id AND x.name = record_rules.namespace;
  RETURN record_candidates(g.org_id, 'workspace', uuidv7()::text, g.actor, NULL, true,
    jsonb_build_object('provider', 'person', 'workspace', true), (
      SELECT jsonb_agg(own_words(g.org_id, 'rule', c, 'A person keeps it in the workspace''s file.', g.actor,
               record_rules.namespace, coalesce(n.scope_kind, 'org'), n.scope_value) ORDER BY at)
      FROM unnest(record_rules.contents) WITH ORDINALITY AS x(c, at)));
END $$;

-- Which of these texts stand as rules of a namespace, or wait to.
CREATE FUNCTION standing_rules(namespace text, hashes bytea[]) RETURNS TABLE (hash bytea, id uuid, status text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
  SELECT m.content_hash, m.id, m.status FROM memories m, current_grant() g
  WHERE g.role = 'reviewer' AND g.project IS NULL AND m.org_id = g.org_id AND m.content_hash = ANY (hashes)
    AND m.status IN ('pending', 'active') AND m.kind = 'rule' AND m.namespace = standing_rules.namespace
$$;

-- Active rules near one in words, within its own scope: what an approval is compared with. A look like any other.
CREATE FUNCTION near_rules(memory uuid) RETURNS TABLE (id uuid, content text, own text, replaced boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
#variable_conflict use_column
DECLARE
  g tokens := current_grant();
  m memories := granted_memory(near_rules.memory);
BEGIN
  RETURN QUERY SELECT r.id, r.content, m.content, r.id = ANY (m.replaces) FROM memories r
    WHERE r.org_id = m.org_id AND m.kind = 'rule' AND r.kind = 'rule' AND r.status = 'active' AND r.erased_at IS NULL
      AND r.id <> m.id AND r.scope_kind = m.scope_kind AND r.scope_value IS NOT DISTINCT FROM m.scope_value
      AND org_words(r.org_id, r.lexemes) && org_words(m.org_id, m.lexemes)
    ORDER BY ts_rank_cd(r.lexemes, any_lexeme(m.content)) DESC LIMIT 50;
  IF FOUND THEN
    INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
    VALUES (m.org_id, 'memory', m.id::text, g.actor, 'memory_viewed',
            jsonb_build_object('status', m.status, 'for', 'near_rules'));
  END IF;
END $$;

-- A rule that was filed in the wrong place: it stays what it is, and stands elsewhere.
CREATE FUNCTION rehome(memory uuid, namespace text, scope_kind text, scope_value text, comment text) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
  m memories := granted_memory(rehome.memory);
  n namespaces;
BEGIN
  SELECT x.* INTO n FROM namespaces x WHERE x.org_id = m.org_id AND x.name = rehome.namespace;
  IF coalesce(rehome.comment, '') !~ '\S' THEN
    RAISE EXCEPTION 'a move needs a reason' USING ERRCODE = 'invalid_parameter_value';
  ELSIF n.name IS NULL THEN
    RAISE EXCEPTION 'no such namespace in this org''s manifest' USING ERRCODE = 'foreign_key_violation';
  ELSIF m.kind <> 'rule' OR m.status NOT IN ('pending', 'active') THEN
    RAISE EXCEPTION 'only a rule that stands or waits can be moved; this is a % %', m.status, m.kind USING ERRCODE = 'AW001';
  ELSIF (m.namespace, m.scope_kind, m.scope_value) IS NOT DISTINCT FROM (rehome.namespace,
      coalesce(rehome.scope_kind, n.scope_kind), CASE WHEN rehome.scope_kind IS NULL THEN n.scope_value ELSE rehome.scope_value END) THEN
    RETURN 'already_there';
  END IF;
  UPDATE memories x SET namespace = rehome.namespace, scope_kind = coalesce(rehome.scope_kind, n.scope_kind),
    scope_value = CASE WHEN rehome.scope_kind IS NULL THEN n.scope_value ELSE rehome.scope_value END, actor = g.actor
  WHERE x.id = m.id;
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  VALUES (m.org_id, 'memory', m.id::text, g.actor, 'memory_rehomed',
          jsonb_build_object('from', m.namespace, 'to', rehome.namespace, 'scope', coalesce(rehome.scope_kind, n.scope_kind)));
  RETURN 'moved';
END $$;

-- A preference of the signed-in user: their own layer alone, decided by them, past detection like any text.
CREATE FUNCTION remember_preference(content text) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
BEGIN
  IF g.id IS NULL OR g.role <> 'agent' OR g.user_id IS NULL THEN
    RAISE EXCEPTION 'a grant with a signed-in user is needed' USING ERRCODE = 'insufficient_privilege';
  ELSIF coalesce(remember_preference.content, '') !~ '\S' OR length(remember_preference.content) > 2000 THEN
    RAISE EXCEPTION 'the text must have 1 to 2,000 characters' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN record_candidates(g.org_id, 'preference', uuidv7()::text, g.actor, g.user_id, true,
    jsonb_build_object('provider', 'person', 'preference', true), jsonb_build_array(own_words(g.org_id, 'preference',
      remember_preference.content, 'The user said so.', g.user_id, 'default', 'user', g.user_id, 'user', g.user_id)));
END $$;

-- And taken back by the same user, whoever recorded it.
CREATE FUNCTION revoke_preference(memory uuid) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
  m memories;
BEGIN
  SELECT x.* INTO m FROM memories x WHERE x.id = revoke_preference.memory AND x.org_id = g.org_id AND g.role = 'agent'
    AND x.kind = 'preference' AND x.scope_kind = 'user' AND x.scope_value = g.user_id FOR UPDATE;
  IF m.id IS NULL THEN
    RAISE EXCEPTION 'no such preference of this user' USING ERRCODE = 'no_data_found';
  ELSIF m.status = 'tombstoned' THEN
    RETURN 'already_revoked';
  ELSIF m.status NOT IN ('pending', 'active') THEN
    PERFORM refuse_decided(m);
  END IF;
  PERFORM close_review(m, 'forget', g.actor, NULL);
  UPDATE memories SET status = 'tombstoned', review_id = NULL, valid_to = now(), actor = g.actor, reason = 'revoked',
    status_at = now(), purge_after = now() + interval '30 days' WHERE id = m.id;
  RETURN 'revoked';
END $$;

-- What became of something, as an evaluation or a person says; the text of a comment without what is HIGH.
CREATE FUNCTION record_outcome(
  kind text, score real, eval_run text, memory uuid, agent text, workflow text, namespace text, comment text
) RETURNS uuid LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
  made uuid := uuidv7();
BEGIN
  IF g.id IS NULL OR g.role NOT IN ('reviewer', 'agent') OR record_outcome.kind NOT IN ('eval', 'rating') THEN
    RAISE EXCEPTION 'a grant is needed, and a kind of eval or rating' USING ERRCODE = 'insufficient_privilege';
  ELSIF record_outcome.memory IS NOT NULL AND NOT EXISTS (
      SELECT FROM memories m WHERE m.id = record_outcome.memory AND m.org_id = g.org_id) THEN
    RAISE EXCEPTION 'no such memory for this grant' USING ERRCODE = 'no_data_found';
  END IF;
  INSERT INTO outcomes (id, org_id, kind, memory_id, eval_run, score, agent, workflow, namespace, comment, actor, expires_at)
  VALUES (made, g.org_id, record_outcome.kind, record_outcome.memory, record_outcome.eval_run, record_outcome.score,
    coalesce(g.agent, record_outcome.agent), coalesce(g.workflow, record_outcome.workflow), record_outcome.namespace,
    record_outcome.comment, g.actor, now() + make_interval(days => retention_days(g.org_id, 'outcomes')));
  RETURN made;
END $$;

-- One that could not be written, counted whatever became of the transaction it was lost in.
CREATE FUNCTION lose_outcome() RETURNS bigint LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = afterword, pg_temp AS $$ SELECT nextval('outcomes_lost') $$;

-- Under an erasure: outcomes that name the subject go, but for those of what a legal hold keeps.
CREATE FUNCTION erase_outcomes(erasure uuid, outcomes uuid[], memories uuid[]) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
#variable_conflict use_column
DECLARE
  g tokens := operating();
  n integer;
BEGIN
  PERFORM FROM erasures e WHERE e.id = erase_outcomes.erasure AND e.org_id = g.org_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such erasure for this grant' USING ERRCODE = 'no_data_found';
  END IF;
  DELETE FROM afterword.outcomes o WHERE o.org_id = g.org_id
    AND (o.id = ANY (erase_outcomes.outcomes) OR o.memory_id = ANY (erase_outcomes.memories))
    AND NOT EXISTS (SELECT FROM afterword.memories m WHERE m.id = o.memory_id AND is_held(m.run_id));
  GET DIAGNOSTICS n = ROW_COUNT;
  UPDATE erasures x SET erased = x.erased
    || jsonb_build_object('outcomes', coalesce((x.erased ->> 'outcomes')::integer, 0) + n)
  WHERE x.id = erase_outcomes.erasure;
  RETURN n;
END $$;

-- What a session of this bearer starts from: rules that a person approved, and preferences the user gave or a person
-- approved. Recorded as a recall, in one call; which of them were left out is written when it is rendered.
CREATE FUNCTION digest_items() RETURNS TABLE (
  recall_id uuid, namespace text, path text, title text, preamble text, memory_id uuid, kind text, scope_kind text,
  content text, occurrences integer, observed_at timestamptz
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
#variable_conflict use_column
DECLARE
  g tokens := current_grant();
  recorded uuid := uuidv7();
BEGIN
  IF g.id IS NULL THEN
    RAISE EXCEPTION 'no grant: the token is unknown, expired, revoked or made for another door'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN QUERY
    WITH mine AS (
      SELECT * FROM namespaces n WHERE n.org_id = g.org_id AND (n.agents = '{}' OR g.agent = ANY (n.agents))
        AND (n.scope_kind IN ('org', 'object') OR (n.scope_kind = 'user' AND n.scope_value = g.user_id)
          OR (n.scope_kind = 'agent' AND n.scope_value = g.agent) OR (n.scope_kind = 'project' AND n.scope_value = g.project)
          OR (n.scope_kind = 'workflow' AND n.scope_value = g.workflow))
    ), chosen AS (
      SELECT m.* FROM memories m
      WHERE m.org_id = g.org_id AND m.status = 'active' AND recallable(m, g, NULL, NULL) AND (m.kind = 'rule'
        OR (m.kind = 'preference' AND m.scope_kind = 'user'
            AND (m.provenance ->> 'provider' = 'person' OR m.reason IN ('approved', 'redirect'))))
      ORDER BY array_position('{org,agent,workflow,project,user}'::text[], m.scope_kind), m.occurrences DESC,
        m.observed_at DESC, m.id LIMIT 2000
    ), recorded_now AS (
      INSERT INTO recalls (id, org_id, token_id, actor, agent, project, mode, hits, candidates, excluded)
      SELECT recorded, g.org_id, g.id, g.actor, g.agent, g.project, 'digest', coalesce(jsonb_agg(jsonb_build_object(
        'id', c.id, 'allowed', c.scope_kind || ' in ' || c.namespace)), '[]'), count(c.id), '{}'
      FROM chosen c JOIN mine n ON n.name = c.namespace RETURNING id)
    SELECT r.id, n.name, n.path, n.title, n.preamble, c.id, c.kind, c.scope_kind, c.content, c.occurrences, c.observed_at
    FROM recorded_now r LEFT JOIN (mine n LEFT JOIN chosen c ON c.namespace = n.name) ON true;
END $$;

CREATE FUNCTION digest_rendered(recall_id uuid, block_hash bytea, omitted uuid[]) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
  UPDATE recalls r SET block_hash = digest_rendered.block_hash, rendered_at = now(),
    shown = ARRAY(SELECT (h.hit ->> 'id')::uuid FROM jsonb_array_elements(r.hits) WITH ORDINALITY h(hit, n)
                  WHERE (h.hit ->> 'id')::uuid <> ALL (digest_rendered.omitted) ORDER BY n),
    excluded = jsonb_build_object('omitted', to_jsonb(digest_rendered.omitted))
  WHERE r.id = digest_rendered.recall_id AND r.token_id = (current_grant()).id AND r.block_hash IS NULL AND r.mode = 'digest'
$$;

-- How far each pass is with each org that wants it, and when it is due again. A lease is a due date in the future.
CREATE TABLE pass_cursors (
  org_id integer NOT NULL REFERENCES orgs,
  pass text NOT NULL CHECK (pass IN ('compaction', 'mining', 'amendment')),
  after uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  due_at timestamptz NOT NULL DEFAULT now(),
  ran_at timestamptz,
  PRIMARY KEY (org_id, pass)
);
CREATE INDEX pass_cursors_due ON pass_cursors (due_at);
ALTER TABLE pass_cursors ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY workers_reach_all_orgs ON pass_cursors TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY operators_read ON pass_cursors FOR SELECT TO afterword_operator USING (true);
GRANT SELECT, INSERT, UPDATE ON pass_cursors TO afterword_worker;
GRANT SELECT ON pass_cursors TO afterword_operator;

-- Who may do what.
REVOKE ALL ON FUNCTION near_needs_calibration(), restore_repeat(uuid, text),
  record_candidates(integer, text, text, text, text, boolean, jsonb, jsonb),
  own_words(integer, text, text, text, text, text, text, text, text, text), record_feedback(text, text, text, text),
  record_rules(text, text[]), standing_rules(text, bytea[]), near_rules(uuid), rehome(uuid, text, text, text, text),
  remember_preference(text), revoke_preference(uuid),
  record_outcome(text, real, text, uuid, text, text, text, text), lose_outcome(),
  erase_outcomes(uuid, uuid[], uuid[]), digest_items(), digest_rendered(uuid, bytea, uuid[]) FROM PUBLIC;
CREATE POLICY verdicts_undo ON occurrences TO afterword_verdict USING (true) WITH CHECK (true);
CREATE POLICY recall_reads ON namespaces FOR SELECT TO afterword_recall USING (true);
GRANT SELECT, UPDATE (undone_at, undone_by) ON occurrences TO afterword_verdict;
GRANT SELECT ON namespaces TO afterword_recall;
GRANT EXECUTE ON FUNCTION any_lexeme(text) TO afterword_verdict;
GRANT CREATE ON SCHEMA afterword TO afterword_verdict, afterword_recall, afterword_eraser;
DO $$
DECLARE
  f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['restore_repeat(uuid, text)',
      'record_candidates(integer, text, text, text, text, boolean, jsonb, jsonb)',
      'own_words(integer, text, text, text, text, text, text, text, text, text)', 'record_feedback(text, text, text, text)',
      'record_rules(text, text[])', 'standing_rules(text, bytea[])', 'near_rules(uuid)',
      'rehome(uuid, text, text, text, text)', 'remember_preference(text)', 'revoke_preference(uuid)',
      'record_outcome(text, real, text, uuid, text, text, text, text)', 'lose_outcome()'] LOOP
    EXECUTE 'ALTER FUNCTION ' || f || ' OWNER TO afterword_verdict';
  END LOOP;
  ALTER FUNCTION erase_outcomes(uuid, uuid[], uuid[]) OWNER TO afterword_eraser;
  ALTER FUNCTION digest_items() OWNER TO afterword_recall;
  ALTER FUNCTION digest_rendered(uuid, bytea, uuid[]) OWNER TO afterword_recall;
END $$;
REVOKE CREATE ON SCHEMA afterword FROM afterword_verdict, afterword_recall, afterword_eraser;
GRANT EXECUTE ON FUNCTION restore_repeat(uuid, text), record_feedback(text, text, text, text), record_rules(text, text[]),
  standing_rules(text, bytea[]), near_rules(uuid), rehome(uuid, text, text, text, text) TO afterword_reviewer;
GRANT EXECUTE ON FUNCTION remember_preference(text), revoke_preference(uuid), digest_items(),
  digest_rendered(uuid, bytea, uuid[]) TO afterword_agent;
GRANT EXECUTE ON FUNCTION record_outcome(text, real, text, uuid, text, text, text, text), lose_outcome()
  TO afterword_reviewer, afterword_agent;
GRANT EXECUTE ON FUNCTION record_candidates(integer, text, text, text, text, boolean, jsonb, jsonb) TO afterword_worker;
GRANT EXECUTE ON FUNCTION erase_outcomes(uuid, uuid[], uuid[]) TO afterword_operator;
