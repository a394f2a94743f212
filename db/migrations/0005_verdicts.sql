-- A person's decisions. Reviewers have no write privilege on any table: these functions are all they can do.
-- Every one finds the memory through the grant, locks it, and can be repeated without harm.

CREATE FUNCTION granted_memory(memory uuid) RETURNS memories
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
  found memories;
BEGIN
  SELECT m.* INTO found FROM memories m JOIN runs r ON r.id = m.run_id
  WHERE m.id = granted_memory.memory AND m.org_id = g.org_id AND g.role = 'reviewer'
    AND (g.project IS NULL OR g.project = r.project)
  FOR UPDATE OF m;
  IF found.id IS NULL THEN
    RAISE EXCEPTION 'no such memory for this grant' USING ERRCODE = 'no_data_found';
  END IF;
  RETURN found;
END $$;

CREATE FUNCTION refuse_decided(m memories) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'already_decided: this memory is %', m.status USING ERRCODE = 'AW001';
END $$;

CREATE FUNCTION close_review(m memories, verdict text, actor text, comment text) RETURNS void
LANGUAGE sql VOLATILE SET search_path = afterword, pg_temp AS $$
  UPDATE reviews SET closed_at = now(), decided_by = close_review.actor, comment = close_review.comment,
         decision = CASE WHEN kind <> 'hold' OR id IS NOT DISTINCT FROM (close_review.m).review_id
                         THEN close_review.verdict ELSE 'voided' END
  WHERE memory_id = (close_review.m).id AND closed_at IS NULL
$$;

-- Opens the run that carries a verdict onward; one a verdict, however often it is repeated.
CREATE FUNCTION open_verdict_run(m memories, enters text, key text, actor text, body jsonb) RETURNS uuid
LANGUAGE plpgsql VOLATILE SET search_path = afterword, pg_temp AS $$
DECLARE
  opened uuid;
BEGIN
  INSERT INTO runs (id, org_id, kind, state, event_key, content_hash, session, agent, project, user_id, event,
                    ended_at, memory_id, actor, reason)
  SELECT uuidv7(), m.org_id, 'verdict', enters, 'verdict:' || m.id || ':' || key, m.content_hash, r.session, r.agent,
         r.project, r.user_id, '{}', r.ended_at, m.id, open_verdict_run.actor, split_part(key, ':', 1)
  FROM runs r WHERE r.id = m.run_id
  ON CONFLICT (org_id, event_key) WHERE kind = 'verdict' DO NOTHING RETURNING id INTO opened;
  IF opened IS NOT NULL AND body IS NOT NULL THEN
    INSERT INTO envelopes (run_id, org_id, body) VALUES (opened, m.org_id, body);
  END IF;
  RETURN opened;
END $$;

-- Takes what `m` replaces out of the way: before `m` is let in, so that no moment has both.
CREATE FUNCTION retire_replaced(m memories, actor text) RETURNS void
LANGUAGE sql VOLATILE SET search_path = afterword, pg_temp AS $$
  UPDATE reviews SET closed_at = now(), decision = 'voided', decided_by = retire_replaced.actor
  WHERE memory_id = ANY ((retire_replaced.m).replaces) AND org_id = (retire_replaced.m).org_id AND closed_at IS NULL;
  UPDATE memories SET status = 'superseded', superseded_by = (retire_replaced.m).id,
         valid_to = greatest((retire_replaced.m).valid_from, valid_from), review_id = NULL,
         actor = retire_replaced.actor, reason = 'replaced', status_at = now()
  WHERE id = ANY ((retire_replaced.m).replaces) AND org_id = (retire_replaced.m).org_id
    AND status IN ('active', 'pending');
$$;

-- An audit found this memory wrong: that alone moves nothing, and leaves the question open how it is put right.
CREATE FUNCTION demand_amends(m memories, verdict text, actor text, comment text) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = afterword, pg_temp AS $$
BEGIN
  UPDATE reviews r SET closed_at = now(), decision = demand_amends.verdict, decided_by = demand_amends.actor,
         comment = demand_amends.comment
  WHERE r.memory_id = (demand_amends.m).id AND r.kind = 'audit' AND r.closed_at IS NULL;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO reviews (id, org_id, memory_id, kind, reasons)
  VALUES (uuidv7(), (demand_amends.m).org_id, (demand_amends.m).id, 'amend', '{audit_negative}');
  RETURN true;
END $$;

CREATE FUNCTION approve(
  memory uuid, comment text DEFAULT NULL, namespace text DEFAULT NULL, scope_kind text DEFAULT NULL,
  scope_value text DEFAULT NULL, subject_type text DEFAULT NULL, subject_id text DEFAULT NULL
) RETURNS text LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
  m memories := granted_memory(approve.memory);
  audited boolean := EXISTS (SELECT FROM reviews r WHERE r.memory_id = m.id AND r.kind IN ('audit', 'amend')
                               AND r.closed_at IS NULL);
BEGIN
  IF m.status = 'active' THEN
    PERFORM retire_replaced(m, g.actor)
    WHERE EXISTS (SELECT FROM reviews r WHERE r.memory_id = m.id AND r.kind = 'retire' AND r.closed_at IS NULL);
    PERFORM close_review(m, 'approve', g.actor, approve.comment);
    PERFORM open_verdict_run(m, 'redacted', 'approve:' || m.revision, g.actor, NULL)
    WHERE EXISTS (SELECT FROM reviews r WHERE r.memory_id = m.id AND r.kind = 'hold');
    RETURN CASE WHEN audited THEN 'audit_approved' ELSE 'already_active' END;
  ELSIF m.status <> 'pending' THEN
    PERFORM refuse_decided(m);
  END IF;
  IF EXISTS (SELECT FROM runs r WHERE r.memory_id = m.id AND r.kind = 'verdict' AND r.state = 'extracted') THEN
    RAISE EXCEPTION 'an edit of this memory is being checked; decide again when it is done' USING ERRCODE = 'AW002';
  END IF;
  UPDATE memories x SET
    namespace = coalesce(approve.namespace, x.namespace),
    scope_kind = coalesce(approve.scope_kind, x.scope_kind),
    scope_value = CASE WHEN approve.scope_kind IS NULL THEN x.scope_value ELSE approve.scope_value END,
    subject_type = coalesce(approve.subject_type, x.subject_type),
    subject_id = coalesce(approve.subject_id, x.subject_id)
  WHERE x.id = m.id;
  PERFORM close_review(m, 'approve', g.actor, approve.comment);
  PERFORM retire_replaced(m, g.actor);
  UPDATE memories SET status = 'active', review_id = NULL, actor = g.actor, reason = 'approved', status_at = now()
  WHERE id = m.id;
  PERFORM open_verdict_run(m, 'redacted', 'approve:' || m.revision, g.actor, NULL);
  RETURN 'approved';
END $$;

CREATE FUNCTION reject(memory uuid, comment text) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
  m memories := granted_memory(reject.memory);
BEGIN
  IF coalesce(reject.comment, '') !~ '\S' THEN
    RAISE EXCEPTION 'a rejection needs a reason' USING ERRCODE = 'invalid_parameter_value';
  ELSIF m.status = 'rejected' THEN
    RETURN 'already_rejected';
  ELSIF m.status = 'active' AND EXISTS (
      SELECT FROM reviews r WHERE r.memory_id = m.id AND r.kind = 'retire' AND r.closed_at IS NULL) THEN
    UPDATE reviews SET closed_at = now(), decision = 'reject', decided_by = g.actor, comment = reject.comment
    WHERE memory_id = m.id AND kind = 'retire' AND closed_at IS NULL;
    UPDATE memories SET replaces = '{}' WHERE id = m.id;
    RETURN 'kept_both';
  ELSIF m.status = 'active' AND demand_amends(m, 'reject', g.actor, reject.comment) THEN
    RETURN 'audit_rejected';
  ELSIF m.status = 'active' AND EXISTS (
      SELECT FROM reviews r WHERE r.memory_id = m.id AND r.kind = 'amend' AND r.closed_at IS NULL) THEN
    RETURN 'audit_already_rejected';
  ELSIF m.status <> 'pending' THEN
    PERFORM refuse_decided(m);
  END IF;
  PERFORM close_review(m, 'reject', g.actor, reject.comment);
  UPDATE memories SET status = 'rejected', review_id = NULL, actor = g.actor, reason = 'rejected', status_at = now()
  WHERE id = m.id;
  RETURN 'rejected';
END $$;

CREATE FUNCTION forget(memory uuid, comment text DEFAULT NULL, purge_days integer DEFAULT 30) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
  m memories := granted_memory(forget.memory);
BEGIN
  IF m.status = 'tombstoned' THEN
    RETURN 'already_forgotten';
  ELSIF m.status NOT IN ('pending', 'active') THEN
    PERFORM refuse_decided(m);
  END IF;
  PERFORM close_review(m, 'forget', g.actor, forget.comment);
  UPDATE memories SET status = 'tombstoned', review_id = NULL, valid_to = now(), actor = g.actor, reason = 'forgotten',
         status_at = now(), purge_after = now() + make_interval(days => greatest(forget.purge_days, 0))
  WHERE id = m.id;
  RETURN 'forgotten';
END $$;

-- Text a person typed goes the way of any other: detection, subject and repeat checks, then what was asked.
CREATE FUNCTION retype(memory uuid, act text, content text, comment text DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  g tokens := current_grant();
  m memories := granted_memory(retype.memory);
BEGIN
  IF retype.act NOT IN ('edit', 'redirect', 'correct') THEN
    RAISE EXCEPTION 'no such act: %', retype.act USING ERRCODE = 'invalid_parameter_value';
  ELSIF coalesce(retype.content, '') !~ '\S' OR length(retype.content) > 2000 THEN
    RAISE EXCEPTION 'the text must have 1 to 2,000 characters' USING ERRCODE = 'invalid_parameter_value';
  ELSIF m.status NOT IN ('pending', 'active') OR (m.status = 'active' AND retype.act <> 'correct') THEN
    PERFORM refuse_decided(m);
  END IF;
  RETURN open_verdict_run(m, 'extracted',
    retype.act || ':' || m.revision || ':' || encode(sha256(convert_to(retype.content, 'UTF8')), 'hex'), g.actor,
    jsonb_build_object('act', retype.act, 'memory', m.id, 'content', retype.content, 'comment', retype.comment));
END $$;

-- A held memory as it is at rest, un-redacted: for a reviewer of its org and project, each view in the ledger.
CREATE FUNCTION view_memory(memory uuid) RETURNS TABLE (
  id uuid, status text, kind text, content text, rationale text, evidence jsonb, classes text[], hold_reasons text[],
  subject_type text, subject_id text, replaces uuid[], provenance jsonb, observed_at timestamptz
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
#variable_conflict use_column
DECLARE
  g tokens := current_grant();
  m memories := granted_memory(view_memory.memory);
BEGIN
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  VALUES (m.org_id, 'memory', m.id::text, g.actor, 'memory_viewed', jsonb_build_object('status', m.status));
  RETURN QUERY SELECT m.id, m.status, m.kind, m.content, m.rationale, m.evidence, m.classes, m.hold_reasons,
    m.subject_type, m.subject_id, m.replaces, m.provenance, m.observed_at;
END $$;

-- Repair: opens the run that gives an active memory its missing vector, or carries an approval that has none.
CREATE FUNCTION open_missing_runs(stamp integer, max_runs integer) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  opened integer := 0;
  m memories;
BEGIN
  FOR m IN EXECUTE format($q$
      SELECT m.* FROM memories m JOIN runs r ON r.id = m.run_id
      WHERE m.status = 'active' AND m.erased_at IS NULL AND r.state IN ('embedded', 'consolidated')
        AND NOT EXISTS (SELECT FROM %I e WHERE e.memory_id = m.id)
        AND NOT EXISTS (SELECT FROM runs v WHERE v.memory_id = m.id AND v.due_at IS NOT NULL)
      ORDER BY m.id LIMIT $1 $q$, 'embeddings_' || open_missing_runs.stamp) USING open_missing_runs.max_runs
  LOOP
    IF open_verdict_run(m, 'redacted', 'repair:' || m.revision || ':' || pg_current_xact_id(), session_user, NULL)
       IS NOT NULL THEN
      opened := opened + 1;
    END IF;
  END LOOP;
  RETURN opened;
END $$;

-- A token, asked for by `minted_by` at the command line. The text of the token never comes here.
CREATE FUNCTION mint_token(
  hash bytea, org integer, role text, actor text, lives interval, agent text DEFAULT NULL, user_id text DEFAULT NULL,
  project text DEFAULT NULL, workflow text DEFAULT NULL, tiers text[] DEFAULT '{}', agent_role text DEFAULT NULL,
  minted_by text DEFAULT NULL
) RETURNS uuid LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
DECLARE
  minted uuid := uuidv7();
BEGIN
  INSERT INTO tokens (id, hash, org_id, role, actor, agent, user_id, project, workflow, agent_role, tiers, expires_at)
  VALUES (minted, mint_token.hash, mint_token.org, mint_token.role, mint_token.actor, mint_token.agent,
          mint_token.user_id, mint_token.project, mint_token.workflow, mint_token.agent_role, mint_token.tiers,
          now() + mint_token.lives);
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  VALUES (mint_token.org, 'token', minted::text, coalesce(mint_token.minted_by, mint_token.actor), 'token_minted',
          jsonb_build_object('role', mint_token.role, 'seconds', extract(epoch FROM mint_token.lives)::integer));
  RETURN minted;
END $$;
