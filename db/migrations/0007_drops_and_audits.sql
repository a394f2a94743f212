-- What the gate decided without a person is sampled for one: a share of the drops, a fixed share of the activations.

-- A drop keeps what it dropped until it expires; it is restored once, by a reviewer, and its text goes by erasure alone.
CREATE FUNCTION drop_kept() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
BEGIN
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  SELECT org_id, 'drop', id::text, session_user, 'candidate_dropped', jsonb_strip_nulls(jsonb_build_object(
           'run', run_id, 'rule', rule, 'threshold', threshold, 'sampled', sampled))
  FROM fresh;
  INSERT INTO reviews (id, org_id, drop_id, kind, reasons)
  SELECT uuidv7(), org_id, id, 'drop', '{sampled}' FROM fresh WHERE sampled;
  RETURN NULL;
END $$;

CREATE FUNCTION drop_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
BEGIN
  IF (SELECT count(*) FROM fresh f JOIN stale s USING (id, org_id, run_id, rule, kind, review_share, at)
       WHERE (f.confidence, f.threshold) IS NOT DISTINCT FROM (s.confidence, s.threshold)
         AND (s.restored_at IS NULL OR (f.restored_at, f.restored_by) = (s.restored_at, s.restored_by))
         AND ((s.erased_at IS NULL AND f.erased_at IS NOT NULL)
           OR (f.content, f.rationale, f.evidence, f.subject_type, f.subject_id, f.scope_value, f.author)
              IS NOT DISTINCT FROM
              (s.content, s.rationale, s.evidence, s.subject_type, s.subject_id, s.scope_value, s.author))
         AND (s.erased_at IS NULL OR f.erased_at = s.erased_at)) <> (SELECT count(*) FROM fresh) THEN
    RAISE EXCEPTION 'a drop stands as it was kept until it is restored or erased'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'drop_stands';
  END IF;
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  SELECT f.org_id, 'drop', f.id::text, coalesce(f.restored_by, session_user),
         CASE WHEN f.erased_at IS DISTINCT FROM s.erased_at THEN 'drop_erased' ELSE 'drop_restored' END, '{}'
  FROM fresh f JOIN stale s USING (id)
  WHERE (f.erased_at, f.restored_at) IS DISTINCT FROM (s.erased_at, s.restored_at);
  -- What is no longer there cannot be judged, and what was said about it goes with it.
  UPDATE reviews r SET closed_at = now(), decision = 'voided', decided_by = session_user
  FROM fresh f WHERE r.drop_id = f.id AND f.erased_at IS NOT NULL AND r.closed_at IS NULL;
  UPDATE reviews r SET comment = NULL
  FROM fresh f WHERE r.drop_id = f.id AND f.erased_at IS NOT NULL AND r.comment IS NOT NULL;
  RETURN NULL;
END $$;

CREATE TRIGGER drops_kept AFTER INSERT ON drops
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION drop_kept();
CREATE TRIGGER drops_changed AFTER UPDATE ON drops
  REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION drop_changed();
CREATE TRIGGER drops_stay BEFORE DELETE OR TRUNCATE ON drops FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- 1000 basis points of what becomes active without a person, in the transaction that lets it in; 100 of turns, of
-- which a session has a hundred, and which nobody proposed. A person's own text was judged by its author.
CREATE FUNCTION sample_activations() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
BEGIN
  INSERT INTO reviews (id, org_id, memory_id, kind, reasons)
  SELECT uuidv7(), org_id, id, 'audit', '{sampled}' FROM fresh
  WHERE status = 'active' AND provenance ->> 'provider' IS DISTINCT FROM 'person' AND in_share(id, CASE kind WHEN 'turn' THEN 100 ELSE 1000 END);
  RETURN NULL;
END $$;
CREATE TRIGGER memories_sampled AFTER INSERT ON memories
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION sample_activations();

-- The memory by which a person kept this text out, if it does not stand: to hold what is known anyway protects nobody.
CREATE FUNCTION refused_before(org integer, hash bytea, scope_kind text, scope_value text) RETURNS uuid
LANGUAGE sql STABLE SET search_path = afterword, pg_temp AS $$
  SELECT m.id FROM memories m
  WHERE m.org_id = refused_before.org AND m.content_hash = refused_before.hash
    AND m.status IN ('rejected', 'tombstoned') AND m.erased_at IS NULL AND m.scope_kind = refused_before.scope_kind
    AND m.scope_value IS NOT DISTINCT FROM refused_before.scope_value
    AND NOT EXISTS (SELECT FROM memories a WHERE a.org_id = m.org_id AND a.content_hash = m.content_hash
      AND a.status = 'active' AND a.scope_kind = m.scope_kind AND a.scope_value IS NOT DISTINCT FROM m.scope_value)
  ORDER BY m.status_at DESC LIMIT 1
$$;

-- A worker that had not seen the verdict yet tries again, and then holds the text. Before the row stands, since it would
-- else be what lets itself in.
CREATE FUNCTION refuse_refused() RETURNS trigger
LANGUAGE plpgsql SET search_path = afterword, pg_temp AS $$
BEGIN
  IF refused_before(NEW.org_id, NEW.content_hash, NEW.scope_kind, NEW.scope_value) IS NOT NULL THEN
    RAISE EXCEPTION 'a person kept this text out before' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER memories_refused BEFORE INSERT ON memories
  FOR EACH ROW WHEN (NEW.status = 'active') EXECUTE FUNCTION refuse_refused();

-- Only LOW classes, by name, may be active with a subject; nothing makes a missing detector acceptable but a waiver, and
-- a waiver names the person who gave it.
ALTER TABLE orgs
  ADD CONSTRAINT activatable_is_low CHECK (
    coalesce(settings -> 'activatable_classes', '[]') <@ '["phone", "ip", "person", "dob", "address"]'),
  ADD CONSTRAINT waivers_are_named CHECK (
    jsonb_typeof(coalesce(settings -> 'waived_classes', '{}')) = 'object'
    AND NOT jsonb_path_exists(settings, 'strict $.waived_classes.* ? (@.type() != "string" || !(@ like_regex "\\S"))',
                              silent => true));

CREATE FUNCTION waiver_has_a_reason() RETURNS trigger LANGUAGE plpgsql SET search_path = afterword, pg_temp AS $$
DECLARE
  before jsonb := CASE WHEN TG_OP = 'UPDATE' THEN coalesce(OLD.settings -> 'waived_classes', '{}') ELSE '{}' END;
BEGIN
  IF NOT coalesce(NEW.settings -> 'waived_classes', '{}') <@ before AND coalesce(NEW.reason, '') !~ '\S' THEN
    RAISE EXCEPTION 'a waiver needs a reason' USING ERRCODE = 'check_violation', CONSTRAINT = 'waiver_has_a_reason';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER orgs_waive BEFORE INSERT OR UPDATE ON orgs FOR EACH ROW EXECUTE FUNCTION waiver_has_a_reason();

-- What a reviewer may do with a drop.
CREATE FUNCTION granted_drop(dropped uuid) RETURNS drops
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
  found drops;
BEGIN
  SELECT d.* INTO found FROM drops d JOIN runs r ON r.id = d.run_id
  WHERE d.id = granted_drop.dropped AND d.org_id = g.org_id AND g.role = 'reviewer'
    AND (g.project IS NULL OR g.project = r.project)
  FOR UPDATE OF d;
  IF found.id IS NULL THEN
    RAISE EXCEPTION 'no such drop for this grant' USING ERRCODE = 'no_data_found';
  END IF;
  RETURN found;
END $$;

CREATE FUNCTION view_drop(dropped uuid) RETURNS TABLE (
  id uuid, run_id uuid, rule text, confidence double precision, threshold double precision, kind text, content text,
  rationale text, evidence jsonb, subject_type text, subject_id text, provenance jsonb, sampled boolean,
  answer text, at timestamptz, expires_at timestamptz, restored_at timestamptz, restored_by text, erased_at timestamptz
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
#variable_conflict use_column
DECLARE
  g tokens := current_grant();
  d drops := granted_drop(view_drop.dropped);
BEGIN
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  VALUES (d.org_id, 'drop', d.id::text, g.actor, 'drop_viewed', '{}');
  RETURN QUERY SELECT d.id, d.run_id, d.rule, d.confidence, d.threshold, d.kind, d.content, d.rationale, d.evidence,
    d.subject_type, d.subject_id, d.provenance, d.sampled, (SELECT r.decision FROM reviews r WHERE r.drop_id = d.id),
    d.at, d.expires_at, d.restored_at, d.restored_by, d.erased_at;
END $$;

-- It was right to drop it: the answer to a sample.
CREATE FUNCTION confirm_drop(dropped uuid, comment text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
  d drops := granted_drop(confirm_drop.dropped);
  answer reviews;
BEGIN
  SELECT r.* INTO answer FROM reviews r WHERE r.drop_id = d.id;
  IF d.restored_at IS NOT NULL THEN
    RAISE EXCEPTION 'already_decided: this drop was restored' USING ERRCODE = 'AW001';
  ELSIF answer.id IS NULL THEN
    RAISE EXCEPTION 'this drop was not sampled: nobody asks whether it was right' USING ERRCODE = 'AW001';
  ELSIF answer.decision = 'approve' THEN
    RETURN 'already_confirmed';
  ELSIF answer.decision IS NOT NULL THEN
    RAISE EXCEPTION 'already_decided: the review of this drop is %', answer.decision USING ERRCODE = 'AW001';
  END IF;
  UPDATE reviews SET closed_at = now(), decision = 'approve', decided_by = g.actor, comment = confirm_drop.comment
  WHERE id = answer.id;
  RETURN 'confirmed';
END $$;

-- It was wrong: the candidate goes the way of any other from detection on. Repeating it answers with the same run.
CREATE FUNCTION restore_drop(dropped uuid, comment text) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
  d drops := granted_drop(restore_drop.dropped);
  opened uuid;
BEGIN
  IF coalesce(restore_drop.comment, '') !~ '\S' THEN
    RAISE EXCEPTION 'a restoration needs a reason' USING ERRCODE = 'invalid_parameter_value';
  ELSIF d.restored_at IS NOT NULL THEN
    SELECT r.id INTO STRICT opened FROM runs r WHERE r.kind = 'verdict' AND r.org_id = d.org_id
      AND r.event_key = 'verdict:' || d.id || ':restore';
    RETURN opened;
  ELSIF d.erased_at IS NOT NULL THEN
    RAISE EXCEPTION 'this drop has expired: its text is gone' USING ERRCODE = 'AW001';
  ELSIF EXISTS (SELECT FROM reviews r WHERE r.drop_id = d.id AND r.decision = 'approve') THEN
    RAISE EXCEPTION 'already_decided: this drop was found right' USING ERRCODE = 'AW001';
  END IF;
  UPDATE drops SET restored_at = now(), restored_by = g.actor WHERE id = d.id;
  UPDATE reviews SET closed_at = now(), decision = 'restore', decided_by = g.actor, comment = restore_drop.comment
  WHERE drop_id = d.id AND closed_at IS NULL;
  INSERT INTO runs (id, org_id, kind, state, event_key, content_hash, session, agent, project, user_id, event,
                    ended_at, drop_id, actor, reason)
  SELECT uuidv7(), d.org_id, 'verdict', 'extracted', 'verdict:' || d.id || ':restore',
         sha256(convert_to(d.content, 'UTF8')), r.session, r.agent, r.project, r.user_id, '{}', r.ended_at, d.id,
         g.actor, 'restore'
  FROM runs r WHERE r.id = d.run_id RETURNING id INTO opened;
  INSERT INTO envelopes (run_id, org_id, body) VALUES (opened, d.org_id, jsonb_build_object(
    'provenance', d.provenance || jsonb_build_object('restored', d.id),
    'candidates', jsonb_build_array(jsonb_build_object(
      'content', d.content, 'kind', d.kind, 'rationale', d.rationale, 'evidence', d.evidence,
      'confidence', d.confidence, 'hold_reasons', '[]'::jsonb,
      'subject', CASE WHEN d.subject_id IS NOT NULL
                      THEN jsonb_build_object('type', d.subject_type, 'id', d.subject_id) END,
      'scope', jsonb_build_object('kind', d.scope_kind, 'value', d.scope_value), 'author_kind', d.author_kind,
      'author', d.author, 'high_stakes', false, 'importance', d.importance, 'observed_at', d.observed_at,
      'lifetime_days', d.lifetime_days))));
  RETURN opened;
END $$;

-- What became of something: verdicts, evaluations, ratings. Food for mining; no login that renders a prompt may read it.
CREATE TABLE outcomes (
  id uuid PRIMARY KEY DEFAULT uuidv7(),
  org_id integer NOT NULL REFERENCES orgs,
  kind text NOT NULL CHECK (kind IN ('verdict', 'eval', 'rating')),
  memory_id uuid REFERENCES memories,
  review_id uuid REFERENCES reviews,
  verdict text CHECK (verdict IN ('approve', 'redirect', 'reject', 'correct', 'forget', 'restore')),
  -- What the model had said of what was judged.
  confidence real,
  -- The evaluation's own id, in a system of its own: no key.
  eval_run text CHECK (length(eval_run) <= 200),
  score real CHECK (score BETWEEN 0 AND 1),
  agent text CHECK (length(agent) <= 200),
  workflow text CHECK (length(workflow) <= 200),
  namespace text,
  comment text CHECK (length(comment) <= 2000),
  actor text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  CONSTRAINT outcome_says_what CHECK (CASE kind WHEN 'verdict' THEN verdict IS NOT NULL AND review_id IS NOT NULL
    WHEN 'eval' THEN eval_run IS NOT NULL AND score IS NOT NULL ELSE score IS NOT NULL END)
);
ALTER TABLE outcomes ALTER COLUMN comment SET STATISTICS 0, ALTER COLUMN eval_run SET STATISTICS 0,
  ALTER COLUMN agent SET STATISTICS 0, ALTER COLUMN workflow SET STATISTICS 0;
CREATE UNIQUE INDEX outcomes_review ON outcomes (review_id) WHERE review_id IS NOT NULL;
CREATE INDEX outcomes_memory ON outcomes (memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX outcomes_org ON outcomes (org_id, id);
CREATE INDEX outcomes_expire ON outcomes (expires_at);
ALTER TABLE outcomes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY workers_reach_all_orgs ON outcomes TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY verdicts_write ON outcomes FOR INSERT TO afterword_verdict WITH CHECK (true);
GRANT SELECT ON outcomes TO afterword_worker;
GRANT INSERT ON outcomes TO afterword_verdict;
-- How many could not be written: counted beside the transaction, since what is lost is lost with it.
CREATE SEQUENCE outcomes_lost;
GRANT SELECT ON SEQUENCE outcomes_lost TO afterword_worker;
GRANT USAGE ON SEQUENCE outcomes_lost TO afterword_verdict;

-- A verdict never fails for want of its outcome.
CREATE FUNCTION keep_outcome() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
BEGIN
  INSERT INTO outcomes (org_id, kind, memory_id, review_id, verdict, confidence, namespace, actor, expires_at)
  SELECT f.org_id, 'verdict', f.memory_id, f.id, f.decision, coalesce(m.confidence, d.confidence), m.namespace,
         f.decided_by, now() + make_interval(days => retention_days(f.org_id, 'outcomes'))
  FROM fresh f JOIN stale s USING (id) LEFT JOIN memories m ON m.id = f.memory_id LEFT JOIN drops d ON d.id = f.drop_id
  WHERE s.closed_at IS NULL AND f.closed_at IS NOT NULL AND f.decision <> 'voided';
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  PERFORM nextval('outcomes_lost');
  RETURN NULL;
END $$;
CREATE TRIGGER reviews_outcome AFTER UPDATE ON reviews
  REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION keep_outcome();

-- Who may do what.
REVOKE ALL ON FUNCTION drop_kept(), drop_changed(), sample_activations(), refuse_refused(), waiver_has_a_reason(),
  refused_before(integer, bytea, text, text), granted_drop(uuid), view_drop(uuid), confirm_drop(uuid, text),
  restore_drop(uuid, text), keep_outcome() FROM PUBLIC;

CREATE POLICY sampling_opens ON reviews FOR INSERT TO afterword_owner WITH CHECK (kind IN ('audit', 'drop'));
CREATE POLICY erasure_closes ON reviews TO afterword_owner USING (kind = 'drop') WITH CHECK (kind = 'drop');
CREATE POLICY verdicts_decide ON drops TO afterword_verdict USING (true) WITH CHECK (true);
GRANT SELECT, UPDATE (restored_at, restored_by) ON drops TO afterword_verdict;
GRANT INSERT (id, org_id, memory_id, kind, reasons) ON reviews TO afterword_verdict;
GRANT UPDATE (content, rationale, evidence, subject_type, subject_id, scope_value, author, erased_at) ON drops
  TO afterword_worker;
GRANT EXECUTE ON FUNCTION refused_before(integer, bytea, text, text) TO afterword_worker;

GRANT CREATE ON SCHEMA afterword TO afterword_verdict;
DO $$
DECLARE
  f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['granted_drop(uuid)', 'view_drop(uuid)', 'confirm_drop(uuid, text)',
                           'restore_drop(uuid, text)', 'keep_outcome()'] LOOP
    EXECUTE 'ALTER FUNCTION ' || f || ' OWNER TO afterword_verdict';
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA afterword FROM afterword_verdict;
GRANT EXECUTE ON FUNCTION view_drop(uuid), confirm_drop(uuid, text), restore_drop(uuid, text) TO afterword_reviewer;
