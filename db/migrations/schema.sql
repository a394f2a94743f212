SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA afterword;
ALTER SCHEMA afterword OWNER TO afterword_owner;
CREATE TYPE afterword.narrowing AS (
	kinds text[],
	scope_kind text,
	scope_path text,
	subject_type text,
	subject_id text,
	since timestamp with time zone,
	until timestamp with time zone
);
ALTER TYPE afterword.narrowing OWNER TO afterword_owner;
CREATE FUNCTION afterword.admission_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  UPDATE runs SET due_at = now(), reason = NULL
  WHERE org_id = NEW.id AND state = 'received' AND reason IN ('over_budget', 'endpoint_not_allowed') AND lease IS NULL;
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.admission_changed() OWNER TO afterword_owner;
CREATE FUNCTION afterword.admit_call() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
DECLARE
  has record;
BEGIN
  NEW.reserved_at := clock_timestamp();
  IF NOT EXISTS (SELECT FROM orgs o WHERE o.id = NEW.org_id
                   AND coalesce(o.settings -> 'endpoint_classes', '["local"]') ? NEW.endpoint_class) THEN
    RAISE EXCEPTION 'the org does not let its sessions go to a % endpoint', NEW.endpoint_class USING ERRCODE = 'AW003';
  ELSIF NOT EXISTS (SELECT FROM orgs o WHERE o.id = NEW.org_id AND coalesce(o.settings ->> 'budget_tokens_a_day',
                                                                         o.settings ->> 'budget_usd_a_day') IS NOT NULL) THEN
    RETURN NEW;
  END IF;
  PERFORM pg_advisory_xact_lock(x'62756467'::integer, NEW.org_id);
  SELECT * INTO has FROM budget_left(NEW.org_id);
  IF NEW.reserved_input + NEW.reserved_output > has.tokens_a_day OR NEW.reserved_cost > has.cost_a_day THEN
    RAISE EXCEPTION 'this call alone is more than the budget of a day' USING ERRCODE = 'AW002';
  ELSIF NEW.reserved_input + NEW.reserved_output > has.tokens OR NEW.reserved_cost > has.cost THEN
    RAISE EXCEPTION 'the budget of the day is used up' USING ERRCODE = 'AW001';
  END IF;
  RETURN NEW;
END $$;
ALTER FUNCTION afterword.admit_call() OWNER TO afterword_owner;
CREATE FUNCTION afterword.any_lexeme(query text) RETURNS tsquery
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog'
    AS $$
  SELECT replace(plainto_tsquery('english', query)::text, ' & ', ' | ')::tsquery
$$;
ALTER FUNCTION afterword.any_lexeme(query text) OWNER TO afterword_owner;
CREATE FUNCTION afterword.approve(memory uuid, comment text DEFAULT NULL::text, namespace text DEFAULT NULL::text, scope_kind text DEFAULT NULL::text, scope_value text DEFAULT NULL::text, subject_type text DEFAULT NULL::text, subject_id text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.approve(memory uuid, comment text, namespace text, scope_kind text, scope_value text, subject_type text, subject_id text) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.asked_for(max_hits integer, fusion text, stamp integer, n afterword.narrowing) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN jsonb_strip_nulls(jsonb_build_object('max_hits', max_hits, 'fusion', fusion, 'stamp', stamp, 'kinds', (n).kinds, 'scope_kind', (n).scope_kind, 'path', CASE WHEN ((n).scope_path IS NOT NULL) THEN true ELSE NULL::boolean END, 'subject', CASE WHEN ((n).subject_id IS NOT NULL) THEN true ELSE NULL::boolean END, 'since', (n).since, 'until', (n).until));
ALTER FUNCTION afterword.asked_for(max_hits integer, fusion text, stamp integer, n afterword.narrowing) OWNER TO afterword_owner;
CREATE FUNCTION afterword.budget_day(at timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog'
    AS $$
  SELECT date_trunc('day', at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
$$;
ALTER FUNCTION afterword.budget_day(at timestamp with time zone) OWNER TO afterword_owner;
CREATE FUNCTION afterword.budget_left(org integer, OUT tokens bigint, OUT cost numeric, OUT tokens_a_day bigint, OUT cost_a_day numeric) RETURNS record
    LANGUAGE sql STABLE
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  SELECT b.tokens - c.tokens, b.cost - c.cost, b.tokens, b.cost
  FROM (SELECT (o.settings ->> 'budget_tokens_a_day')::bigint AS tokens, (o.settings ->> 'budget_usd_a_day')::numeric AS cost
        FROM orgs o WHERE o.id = org) b,
       (SELECT coalesce(sum(m.tokens_counted), 0)::bigint AS tokens, coalesce(sum(m.cost_counted), 0) AS cost
        FROM model_calls m WHERE m.org_id = org AND m.reserved_at >= budget_day(now())) c
$$;
ALTER FUNCTION afterword.budget_left(org integer, OUT tokens bigint, OUT cost numeric, OUT tokens_a_day bigint, OUT cost_a_day numeric) OWNER TO afterword_owner;
CREATE FUNCTION afterword.is_personal(classes text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  SELECT NOT classes <@ '{secret,cc,iban,detector_unavailable}'::text[]  -- a class nobody thought of is personal
$$;
ALTER FUNCTION afterword.is_personal(classes text[]) OWNER TO afterword_owner;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE afterword.memories (
    id uuid NOT NULL,
    org_id integer NOT NULL,
    run_id uuid NOT NULL,
    tier text NOT NULL,
    kind text NOT NULL,
    status text NOT NULL,
    namespace text DEFAULT 'default'::text NOT NULL,
    scope_kind text NOT NULL,
    scope_value text,
    content text NOT NULL,
    content_hash bytea NOT NULL,
    rationale text NOT NULL,
    evidence jsonb NOT NULL,
    classes text[] DEFAULT '{}'::text[] NOT NULL,
    hold_reasons text[] DEFAULT '{}'::text[] NOT NULL,
    subject_type text,
    subject_id text,
    author_kind text NOT NULL,
    author text NOT NULL,
    provenance jsonb NOT NULL,
    confidence real,
    high_stakes boolean NOT NULL,
    importance smallint NOT NULL,
    observed_at timestamp with time zone NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_to timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    occurrences integer DEFAULT 1 NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    replaces uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    superseded_by uuid,
    previous_hash bytea,
    purge_after timestamp with time zone,
    erased_at timestamp with time zone,
    review_id uuid,
    held boolean GENERATED ALWAYS AS (
CASE
    WHEN (status = 'pending'::text) THEN true
    ELSE NULL::boolean
END) STORED,
    live boolean GENERATED ALWAYS AS (
CASE
    WHEN (status = ANY (ARRAY['pending'::text, 'active'::text])) THEN true
    ELSE NULL::boolean
END) STORED,
    actor text DEFAULT SESSION_USER NOT NULL,
    reason text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    status_at timestamp with time zone DEFAULT now() NOT NULL,
    lexemes tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig, content)) STORED,
    detectors text DEFAULT current_setting('afterword.detectors'::text, true),
    CONSTRAINT erased_is_empty CHECK (((erased_at IS NULL) OR ((content = ''::text) AND (rationale = ''::text) AND (evidence = '[]'::jsonb) AND (subject_id IS NULL) AND (previous_hash IS NULL)))),
    CONSTRAINT memories_author_kind_check CHECK ((author_kind = ANY (ARRAY['person'::text, 'agent'::text, 'system'::text]))),
    CONSTRAINT memories_check CHECK (((valid_to IS NULL) OR (status = ANY (ARRAY['superseded'::text, 'tombstoned'::text])))),
    CONSTRAINT memories_content_hash_check CHECK ((length(content_hash) = 32)),
    CONSTRAINT memories_end CHECK (((kind = 'rule'::text) OR (expires_at <= (created_at + '10 years'::interval)))),
    CONSTRAINT memories_importance_check CHECK (((importance >= 1) AND (importance <= 5))),
    CONSTRAINT memories_kind_check CHECK ((kind = ANY (ARRAY['fact'::text, 'preference'::text, 'rule'::text, 'turn'::text]))),
    CONSTRAINT memories_occurrences_check CHECK ((occurrences > 0)),
    CONSTRAINT memories_scope_kind_check CHECK ((scope_kind = ANY (ARRAY['org'::text, 'user'::text, 'agent'::text, 'project'::text, 'workflow'::text, 'object'::text]))),
    CONSTRAINT memories_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'active'::text, 'rejected'::text, 'superseded'::text, 'tombstoned'::text]))),
    CONSTRAINT memories_tier_check CHECK ((tier = ANY (ARRAY['episodic'::text, 'semantic'::text, 'procedural'::text]))),
    CONSTRAINT pending_has_review CHECK (((status = 'pending'::text) = (review_id IS NOT NULL))),
    CONSTRAINT personal_names_its_subject CHECK (((status <> 'active'::text) OR (subject_type IS NOT NULL) OR (erased_at IS NOT NULL) OR (NOT afterword.is_personal(classes)))),
    CONSTRAINT scope_complete CHECK (((scope_value IS NULL) = (scope_kind = 'org'::text))),
    CONSTRAINT subject_complete CHECK (((subject_type IS NULL) = (subject_id IS NULL))),
    CONSTRAINT superseded_by_something CHECK (((status = 'superseded'::text) <= (superseded_by IS NOT NULL)))
);
ALTER TABLE ONLY afterword.memories ALTER COLUMN scope_value SET STATISTICS 0;
ALTER TABLE ONLY afterword.memories ALTER COLUMN content SET STATISTICS 0;
ALTER TABLE ONLY afterword.memories ALTER COLUMN content_hash SET STATISTICS 0;
ALTER TABLE ONLY afterword.memories ALTER COLUMN rationale SET STATISTICS 0;
ALTER TABLE ONLY afterword.memories ALTER COLUMN evidence SET STATISTICS 0;
ALTER TABLE ONLY afterword.memories ALTER COLUMN subject_type SET STATISTICS 0;
ALTER TABLE ONLY afterword.memories ALTER COLUMN subject_id SET STATISTICS 0;
ALTER TABLE ONLY afterword.memories ALTER COLUMN author SET STATISTICS 0;
ALTER TABLE ONLY afterword.memories ALTER COLUMN previous_hash SET STATISTICS 0;
ALTER TABLE ONLY afterword.memories ALTER COLUMN lexemes SET STATISTICS 0;
ALTER TABLE ONLY afterword.memories FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.memories OWNER TO afterword_owner;
CREATE FUNCTION afterword.close_review(m afterword.memories, verdict text, actor text, comment text) RETURNS void
    LANGUAGE sql
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  UPDATE reviews SET closed_at = now(), decided_by = close_review.actor, comment = close_review.comment,
         decision = CASE WHEN kind <> 'hold' OR id IS NOT DISTINCT FROM (close_review.m).review_id
                         THEN close_review.verdict ELSE 'voided' END
  WHERE memory_id = (close_review.m).id AND closed_at IS NULL
$$;
ALTER FUNCTION afterword.close_review(m afterword.memories, verdict text, actor text, comment text) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.confirm_drop(dropped uuid, comment text DEFAULT NULL::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.confirm_drop(dropped uuid, comment text) OWNER TO afterword_verdict;
CREATE TABLE afterword.tokens (
    id uuid NOT NULL,
    hash bytea NOT NULL,
    org_id integer NOT NULL,
    role text NOT NULL,
    actor text NOT NULL,
    agent text,
    user_id text,
    project text,
    workflow text,
    agent_role text,
    tiers text[] DEFAULT '{}'::text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    replaced_by uuid,
    CONSTRAINT a_validator_is_given_nothing CHECK (((agent_role <> 'validator'::text) OR (tiers = '{}'::text[]))),
    CONSTRAINT only_agents_recall CHECK (((role = 'agent'::text) OR (tiers = '{}'::text[]))),
    CONSTRAINT tokens_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT tokens_role_check CHECK ((role = ANY (ARRAY['agent'::text, 'reviewer'::text, 'operator'::text]))),
    CONSTRAINT tokens_tiers_check CHECK ((tiers <@ '{episodic,semantic,procedural}'::text[]))
);
ALTER TABLE ONLY afterword.tokens ALTER COLUMN user_id SET STATISTICS 0;
ALTER TABLE ONLY afterword.tokens FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.tokens OWNER TO afterword_owner;
CREATE FUNCTION afterword.current_grant() RETURNS afterword.tokens
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  SELECT t FROM tokens t
  WHERE t.hash = sha256(convert_to(current_setting('afterword.token', true), 'UTF8'))
    AND t.revoked_at IS NULL AND t.expires_at > now()
    AND session_user = 'afterword_' || t.role
$$;
ALTER FUNCTION afterword.current_grant() OWNER TO afterword_owner;
CREATE FUNCTION afterword.demand_amends(m afterword.memories, verdict text, actor text, comment text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.demand_amends(m afterword.memories, verdict text, actor text, comment text) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.digest_items() RETURNS TABLE(recall_id uuid, namespace text, path text, title text, preamble text, memory_id uuid, kind text, scope_kind text, content text, occurrences integer, observed_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.digest_items() OWNER TO afterword_recall;
CREATE FUNCTION afterword.digest_rendered(recall_id uuid, block_hash bytea, omitted uuid[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  UPDATE recalls r SET block_hash = digest_rendered.block_hash, rendered_at = now(),
    shown = ARRAY(SELECT (h.hit ->> 'id')::uuid FROM jsonb_array_elements(r.hits) WITH ORDINALITY h(hit, n)
                  WHERE (h.hit ->> 'id')::uuid <> ALL (digest_rendered.omitted) ORDER BY n),
    excluded = jsonb_build_object('omitted', to_jsonb(digest_rendered.omitted))
  WHERE r.id = digest_rendered.recall_id AND r.token_id = (current_grant()).id AND r.block_hash IS NULL AND r.mode = 'digest'
$$;
ALTER FUNCTION afterword.digest_rendered(recall_id uuid, block_hash bytea, omitted uuid[]) OWNER TO afterword_recall;
CREATE FUNCTION afterword.drop_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.drop_changed() OWNER TO afterword_owner;
CREATE FUNCTION afterword.drop_kept() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  SELECT org_id, 'drop', id::text, session_user, 'candidate_dropped', jsonb_strip_nulls(jsonb_build_object(
           'run', run_id, 'rule', rule, 'threshold', threshold, 'sampled', sampled))
  FROM fresh;
  INSERT INTO reviews (id, org_id, drop_id, kind, reasons)
  SELECT uuidv7(), org_id, id, 'drop', '{sampled}' FROM fresh WHERE sampled;
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.drop_kept() OWNER TO afterword_owner;
CREATE FUNCTION afterword.drop_stamp(stamp integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
DECLARE
  vectors bigint;
BEGIN
  LOCK TABLE stamps IN SHARE ROW EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM stamps s WHERE s.id = drop_stamp.stamp AND s.is_current) THEN
    RAISE EXCEPTION 'space % is the current one: switch to another first', drop_stamp.stamp
      USING ERRCODE = 'object_not_in_prerequisite_state';
  ELSIF NOT EXISTS (SELECT FROM stamps s WHERE s.id = drop_stamp.stamp) THEN
    RETURN NULL;
  END IF;
  SELECT coalesce(sum(s.embedded), 0) INTO vectors FROM org_search s WHERE s.stamp = drop_stamp.stamp;
  EXECUTE format('DROP TABLE %I', 'embeddings_' || drop_stamp.stamp);
  DELETE FROM org_search s WHERE s.stamp = drop_stamp.stamp;
  DELETE FROM calibrations c WHERE c.stamp = drop_stamp.stamp;
  DELETE FROM stamps s WHERE s.id = drop_stamp.stamp;
  RETURN vectors;
END $$;
ALTER FUNCTION afterword.drop_stamp(stamp integer) OWNER TO afterword_owner;
CREATE FUNCTION afterword.empty_memories(ids uuid[], actor text, reason text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'afterword', 'pg_temp'
    AS $_$
DECLARE
  stamp integer;
BEGIN
  UPDATE reviews r SET closed_at = now(), decision = 'voided', decided_by = empty_memories.actor
  WHERE r.memory_id = ANY (ids) AND r.closed_at IS NULL;
  UPDATE reviews r SET comment = NULL WHERE r.memory_id = ANY (ids);
  UPDATE memories m SET content = '', content_hash = sha256(convert_to(m.id::text, 'UTF8')), previous_hash = NULL,
    rationale = '', evidence = '[]', subject_type = NULL, subject_id = NULL, author = 'erased',
    scope_value = CASE WHEN m.scope_kind <> 'org' THEN 'erased' END, erased_at = now(), review_id = NULL,
    status = CASE WHEN m.status = 'pending' THEN 'tombstoned' ELSE m.status END,
    status_at = CASE WHEN m.status = 'pending' THEN now() ELSE m.status_at END,
    actor = empty_memories.actor, reason = empty_memories.reason
  WHERE m.id = ANY (ids) AND m.erased_at IS NULL;
  -- What took its place, or waits to, is chained to it by a hash that a short text can be guessed from.
  UPDATE memories m SET previous_hash = NULL WHERE m.previous_hash IS NOT NULL AND m.id IN (
    SELECT x.superseded_by FROM memories x WHERE x.id = ANY (ids)
    UNION SELECT w.id FROM memories w WHERE w.replaces <> '{}' AND w.replaces && ids);
  FOR stamp IN SELECT s.id FROM stamps s LOOP
    EXECUTE format('DELETE FROM %I WHERE memory_id = ANY ($1)', 'embeddings_' || stamp) USING ids;
  END LOOP;
  DELETE FROM payloads p USING ledger l
  WHERE l.id = p.entry_id AND l.subject_kind = 'memory' AND l.subject_id = ANY (ids::text[]);
  DELETE FROM run_subjects s WHERE s.memory_id = ANY (ids);
  UPDATE outcomes o SET comment = NULL WHERE o.memory_id = ANY (ids);
END $_$;
ALTER FUNCTION afterword.empty_memories(ids uuid[], actor text, reason text) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.erase(erasure uuid, runs uuid[], event_keys text[], renamed uuid[], memories uuid[], drops uuid[], entries bigint[], reviews uuid[], rejected uuid[], users text[]) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'public', 'pg_temp'
    AS $_$
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
END $_$;
ALTER FUNCTION afterword.erase(erasure uuid, runs uuid[], event_keys text[], renamed uuid[], memories uuid[], drops uuid[], entries bigint[], reviews uuid[], rejected uuid[], users text[]) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.erase_outcomes(erasure uuid, outcomes uuid[], memories uuid[]) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.erase_outcomes(erasure uuid, outcomes uuid[], memories uuid[]) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.finish_erasure(erasure uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.finish_erasure(erasure uuid) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.forget(memory uuid, comment text DEFAULT NULL::text, purge_days integer DEFAULT 30) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.forget(memory uuid, comment text, purge_days integer) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.forget_names() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  IF TG_TABLE_NAME = 'transcripts' THEN
    DELETE FROM run_subjects s USING stale t WHERE s.run_id = t.run_id AND s.memory_id IS NULL;
  ELSE
    DELETE FROM run_subjects s USING fresh m WHERE s.memory_id = m.id AND m.erased_at IS NOT NULL;
  END IF;
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.forget_names() OWNER TO afterword_eraser;
CREATE FUNCTION afterword.in_share(id uuid, basis_points integer) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog'
    AS $$
  SELECT ('x' || substr(encode(sha256(uuid_send(id)), 'hex'), 1, 8))::bit(32)::bigint % 10000 < basis_points
$$;
ALTER FUNCTION afterword.in_share(id uuid, basis_points integer) OWNER TO afterword_owner;
CREATE TABLE afterword.drops (
    id uuid NOT NULL,
    org_id integer NOT NULL,
    run_id uuid NOT NULL,
    rule text NOT NULL,
    confidence double precision,
    threshold double precision,
    kind text NOT NULL,
    content text NOT NULL,
    rationale text NOT NULL,
    evidence jsonb NOT NULL,
    classes text[] DEFAULT '{}'::text[] NOT NULL,
    subject_type text,
    subject_id text,
    scope_kind text NOT NULL,
    scope_value text,
    author_kind text NOT NULL,
    author text NOT NULL,
    importance smallint NOT NULL,
    observed_at timestamp with time zone NOT NULL,
    lifetime_days integer NOT NULL,
    provenance jsonb NOT NULL,
    review_share integer NOT NULL,
    sampled boolean GENERATED ALWAYS AS (afterword.in_share(id, review_share)) STORED NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    restored_at timestamp with time zone,
    restored_by text,
    erased_at timestamp with time zone,
    detectors text DEFAULT current_setting('afterword.detectors'::text, true),
    CONSTRAINT drop_is_attributed CHECK ((provenance ?& '{provider,model,prompt_revision,rules_revision}'::text[])),
    CONSTRAINT drop_subject_complete CHECK (((subject_type IS NULL) = (subject_id IS NULL))),
    CONSTRAINT drops_author_kind_check CHECK ((author_kind = ANY (ARRAY['person'::text, 'agent'::text, 'system'::text]))),
    CONSTRAINT drops_classes_check CHECK ((cardinality(classes) = 0)),
    CONSTRAINT drops_importance_check CHECK (((importance >= 1) AND (importance <= 5))),
    CONSTRAINT drops_kind_check CHECK ((kind = ANY (ARRAY['fact'::text, 'preference'::text]))),
    CONSTRAINT drops_lifetime_days_check CHECK ((lifetime_days > 0)),
    CONSTRAINT drops_rule_check CHECK ((rule = 'confidence_below'::text)),
    CONSTRAINT drops_scope_kind_check CHECK ((scope_kind = ANY (ARRAY['org'::text, 'user'::text, 'agent'::text, 'project'::text, 'workflow'::text, 'object'::text]))),
    CONSTRAINT erased_drop_is_empty CHECK (((erased_at IS NULL) OR ((content = ''::text) AND (rationale = ''::text) AND (evidence = '[]'::jsonb) AND (subject_id IS NULL) AND (author = ''::text)))),
    CONSTRAINT restored_by_somebody CHECK (((restored_at IS NULL) = (restored_by IS NULL))),
    CONSTRAINT some_drops_are_reviewed CHECK (((review_share >= 1) AND (review_share <= 10000))),
    CONSTRAINT stated_below_threshold CHECK (((rule = 'confidence_below'::text) <= COALESCE((confidence < threshold), false)))
);
ALTER TABLE ONLY afterword.drops ALTER COLUMN content SET STATISTICS 0;
ALTER TABLE ONLY afterword.drops ALTER COLUMN rationale SET STATISTICS 0;
ALTER TABLE ONLY afterword.drops ALTER COLUMN evidence SET STATISTICS 0;
ALTER TABLE ONLY afterword.drops ALTER COLUMN subject_type SET STATISTICS 0;
ALTER TABLE ONLY afterword.drops ALTER COLUMN subject_id SET STATISTICS 0;
ALTER TABLE ONLY afterword.drops ALTER COLUMN scope_value SET STATISTICS 0;
ALTER TABLE ONLY afterword.drops ALTER COLUMN author SET STATISTICS 0;
ALTER TABLE ONLY afterword.drops FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.drops OWNER TO afterword_owner;
CREATE FUNCTION afterword.granted_drop(dropped uuid) RETURNS afterword.drops
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.granted_drop(dropped uuid) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.granted_memory(memory uuid) RETURNS afterword.memories
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.granted_memory(memory uuid) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.is_held(run uuid) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  SELECT EXISTS (SELECT FROM held_rows h JOIN legal_holds l ON l.id = h.hold_id
                 WHERE h.row_id = is_held.run AND l.released_at IS NULL)
$$;
ALTER FUNCTION afterword.is_held(run uuid) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.keep_held() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.keep_held() OWNER TO afterword_eraser;
CREATE FUNCTION afterword.keep_outcome() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.keep_outcome() OWNER TO afterword_verdict;
CREATE FUNCTION afterword.knows_key(key_check bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  INSERT INTO installation (key_check) VALUES (knows_key.key_check) ON CONFLICT DO NOTHING;
  RETURN EXISTS (SELECT FROM installation i WHERE i.key_check = knows_key.key_check);
END $$;
ALTER FUNCTION afterword.knows_key(key_check bytea) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.ledger_hash(id bigint, transaction xid8, org_id integer, subject_kind text, subject_id text, at timestamp with time zone, actor text, action text, detail jsonb, payload_hash bytea) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog'
    AS $$
  SELECT sha256(convert_to(concat_ws(E'\x1f',
    id, transaction, coalesce(org_id::text, ''), subject_kind, subject_id,
    (extract(epoch FROM at - timestamptz '1970-01-01 00:00:00+00') * 1000000)::bigint,
    actor, action, detail::text, coalesce(encode(payload_hash, 'hex'), '')), 'UTF8'))
$$;
ALTER FUNCTION afterword.ledger_hash(id bigint, transaction xid8, org_id integer, subject_kind text, subject_id text, at timestamp with time zone, actor text, action text, detail jsonb, payload_hash bytea) OWNER TO afterword_owner;
CREATE FUNCTION afterword.living_token(token uuid) RETURNS afterword.tokens
    LANGUAGE plpgsql
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
DECLARE
  t tokens;
BEGIN
  SELECT x.* INTO t FROM tokens x WHERE x.id = living_token.token FOR UPDATE;
  IF t.id IS NULL THEN
    RAISE EXCEPTION 'no such token' USING ERRCODE = 'no_data_found';
  END IF;
  RETURN t;
END $$;
ALTER FUNCTION afterword.living_token(token uuid) OWNER TO afterword_owner;
CREATE FUNCTION afterword.lose_outcome() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$ SELECT nextval('outcomes_lost') $$;
ALTER FUNCTION afterword.lose_outcome() OWNER TO afterword_verdict;
CREATE FUNCTION afterword.mark_erasure(hash bytea, needles jsonb, reason text, id uuid DEFAULT NULL::uuid, at timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.mark_erasure(hash bytea, needles jsonb, reason text, id uuid, at timestamp with time zone) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.memory_inserted() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  IF EXISTS (SELECT FROM fresh WHERE status NOT IN ('pending', 'active')) THEN
    RAISE EXCEPTION 'a memory begins pending or active' USING ERRCODE = 'check_violation', CONSTRAINT = 'memory_moves';
  END IF;
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  SELECT org_id, 'memory', id::text, actor, 'memory_' || status, jsonb_strip_nulls(jsonb_build_object(
           'to', status, 'run', run_id, 'kind', kind, 'classes', nullif(to_jsonb(classes), '[]'),
           'holds', nullif(to_jsonb(hold_reasons), '[]'), 'review', review_id))
  FROM fresh;
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.memory_inserted() OWNER TO afterword_owner;
CREATE FUNCTION afterword.memory_moved() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  IF (SELECT count(*) FROM fresh f JOIN stale s USING (id, org_id, run_id)) <> (SELECT count(*) FROM fresh) THEN
    RAISE EXCEPTION 'a memory keeps its identity' USING ERRCODE = 'check_violation', CONSTRAINT = 'memory_identity';
  END IF;
  IF EXISTS (SELECT FROM fresh f JOIN stale s USING (id) WHERE f.status <> s.status AND NOT EXISTS (
       SELECT FROM memory_moves m WHERE m.from_status = s.status AND m.to_status = f.status)) THEN
    RAISE EXCEPTION 'no such move' USING ERRCODE = 'check_violation', CONSTRAINT = 'memory_moves';
  END IF;
  IF EXISTS (SELECT FROM fresh f JOIN stale s USING (id) WHERE
       (f.content <> s.content AND f.erased_at IS NULL AND NOT (s.status = 'pending' AND f.revision > s.revision))
       OR (s.erased_at IS NOT NULL AND (f.erased_at IS NULL OR f.content <> s.content))) THEN
    RAISE EXCEPTION 'a text changes only while it waits, as a new revision, or when it is erased'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'memory_text';
  END IF;
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  SELECT f.org_id, 'memory', f.id::text, f.actor,
         'memory_' || CASE WHEN f.erased_at IS DISTINCT FROM s.erased_at THEN 'erased'
                           WHEN f.status <> s.status THEN f.status ELSE 'edited' END,
         jsonb_strip_nulls(jsonb_build_object('from', s.status, 'to', f.status, 'reason', f.reason,
           'by', f.superseded_by, 'revision', f.revision, 'classes', nullif(to_jsonb(f.classes), '[]')))
  FROM fresh f JOIN stale s USING (id)
  WHERE f.status <> s.status OR f.revision <> s.revision OR f.erased_at IS DISTINCT FROM s.erased_at;
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.memory_moved() OWNER TO afterword_owner;
CREATE FUNCTION afterword.mint_token(hash bytea, org integer, role text, actor text, lives interval, agent text DEFAULT NULL::text, user_id text DEFAULT NULL::text, project text DEFAULT NULL::text, workflow text DEFAULT NULL::text, tiers text[] DEFAULT '{}'::text[], agent_role text DEFAULT NULL::text, minted_by text DEFAULT NULL::text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.mint_token(hash bytea, org integer, role text, actor text, lives interval, agent text, user_id text, project text, workflow text, tiers text[], agent_role text, minted_by text) OWNER TO afterword_owner;
CREATE FUNCTION afterword.near_needs_calibration() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  IF coalesce(NEW.settings -> 'consolidation', '[]') ? 'near_duplicates'
     AND (TG_OP = 'INSERT' OR NOT coalesce(OLD.settings -> 'consolidation', '[]') ? 'near_duplicates')
     AND NOT EXISTS (SELECT FROM calibrated c JOIN stamps s ON s.id = c.stamp AND s.is_current WHERE c.side = 'passage') THEN
    RAISE EXCEPTION 'near duplicates need a calibrated stamp' USING ERRCODE = 'check_violation',
      CONSTRAINT = 'near_needs_calibration';
  END IF;
  RETURN NEW;
END $$;
ALTER FUNCTION afterword.near_needs_calibration() OWNER TO afterword_owner;
CREATE FUNCTION afterword.near_rules(memory uuid) RETURNS TABLE(id uuid, content text, own text, replaced boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.near_rules(memory uuid) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.note_erased(erasure uuid, besides jsonb) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  UPDATE erasures x SET erased = x.erased || (
    SELECT coalesce(jsonb_object_agg(s.key, coalesce((x.erased ->> s.key)::integer, 0) + s.value::integer), '{}')
    FROM jsonb_each_text(note_erased.besides) s)
  WHERE x.id = note_erased.erasure AND x.org_id = (SELECT org_id FROM operating())
$$;
ALTER FUNCTION afterword.note_erased(erasure uuid, besides jsonb) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.one_lexeme(lexeme text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog'
    AS $$
  SELECT ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::tsquery
$$;
ALTER FUNCTION afterword.one_lexeme(lexeme text) OWNER TO afterword_owner;
CREATE FUNCTION afterword.open_missing_runs(stamp integer, max_runs integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $_$
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
END $_$;
ALTER FUNCTION afterword.open_missing_runs(stamp integer, max_runs integer) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.open_verdict_run(m afterword.memories, enters text, key text, actor text, body jsonb) RETURNS uuid
    LANGUAGE plpgsql
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.open_verdict_run(m afterword.memories, enters text, key text, actor text, body jsonb) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.operating() RETURNS afterword.tokens
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
DECLARE
  g tokens := current_grant();
BEGIN
  IF g.id IS NULL OR g.role <> 'operator' THEN
    RAISE EXCEPTION 'an operator''s grant is needed' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN g;
END $$;
ALTER FUNCTION afterword.operating() OWNER TO afterword_eraser;
CREATE FUNCTION afterword.org_decided() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
DECLARE
  before jsonb := CASE WHEN TG_OP = 'UPDATE' THEN OLD.settings ELSE '{}' END;
  changed jsonb := (SELECT jsonb_object_agg(key, jsonb_build_array(before -> key, NEW.settings -> key))
    FROM jsonb_object_keys(before || NEW.settings) AS key WHERE before -> key IS DISTINCT FROM NEW.settings -> key);
BEGIN
  IF TG_OP = 'INSERT' OR changed IS NOT NULL THEN
    INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
    VALUES (NEW.id, 'org', NEW.name, NEW.actor, CASE TG_OP WHEN 'INSERT' THEN 'org_created' ELSE 'org_changed' END,
            jsonb_strip_nulls(jsonb_build_object('changed', changed, 'reason', NEW.reason)));
  END IF;
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.org_decided() OWNER TO afterword_owner;
CREATE FUNCTION afterword.org_words(org_id integer, lexemes tsvector) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ARRAY(SELECT (((org_words.org_id)::text || ' '::text) || lexeme.lexeme) FROM unnest(tsvector_to_array(org_words.lexemes)) lexeme(lexeme));
ALTER FUNCTION afterword.org_words(org_id integer, lexemes tsvector) OWNER TO afterword_owner;
CREATE FUNCTION afterword.own_words(org integer, kind text, content text, rationale text, author text, namespace text, scope_kind text, scope_value text, subject_type text DEFAULT NULL::text, subject_id text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  SELECT jsonb_build_object('content', content, 'kind', kind, 'rationale', rationale, 'evidence', '[]'::jsonb,
    'confidence', NULL, 'hold_reasons', '[]'::jsonb,
    'subject', CASE WHEN subject_id IS NOT NULL THEN jsonb_build_object('type', subject_type, 'id', subject_id) END,
    'scope', jsonb_build_object('kind', scope_kind, 'value', scope_value), 'author_kind', 'person', 'author', author,
    'high_stakes', false, 'importance', 4, 'observed_at', now(), 'lifetime_days', retention_days(org, kind || 's'),
    'namespace', namespace, 'replaces', '[]'::jsonb)
$$;
ALTER FUNCTION afterword.own_words(org integer, kind text, content text, rationale text, author text, namespace text, scope_kind text, scope_value text, subject_type text, subject_id text) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.place_hold(hash bytea, needles jsonb, reason text, runs uuid[], rejected uuid[]) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.place_hold(hash bytea, needles jsonb, reason text, runs uuid[], rejected uuid[]) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.plan_digest(plan uuid) RETURNS bytea
    LANGUAGE sql STABLE
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  SELECT sha256(convert_to(coalesce(string_agg(concat_ws(' ', r.memory_id, r.revision, r.status, r.move,
    r.classes_before, r.classes, r.reasons_before, r.reasons), E'\n' ORDER BY r.memory_id), ''), 'UTF8'))
  FROM reclassified r WHERE r.reclassification_id = plan_digest.plan
$$;
ALTER FUNCTION afterword.plan_digest(plan uuid) OWNER TO afterword_owner;
CREATE FUNCTION afterword.purge_due(actor text, org integer DEFAULT NULL::integer, max_rows integer DEFAULT 500) RETURNS TABLE(store text, org_id integer, rows bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
  s text;
  ids uuid[];
BEGIN
  PERFORM pg_advisory_xact_lock(x'70757267'::integer);
  FOREACH s IN ARRAY ARRAY['transcripts', 'envelopes', 'rejected_events', 'drops', 'expired', 'forgotten', 'recalls',
                           'outcomes', 'tokens', 'renewals'] LOOP
    SELECT array_agg(d.id) INTO ids FROM (
      SELECT p.id FROM past_date p WHERE p.store = s AND NOT p.held AND (purge_due.org IS NULL OR p.org_id = purge_due.org)
      ORDER BY p.since, p.id LIMIT purge_due.max_rows) d;
    CONTINUE WHEN ids IS NULL;
    RETURN QUERY
      WITH gone AS (
        INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
        SELECT p.org_id, 'store', s, purge_due.actor, CASE s WHEN 'renewals' THEN 'reviews_due' ELSE 'purged' END,
               jsonb_build_object('rows', count(*))
        FROM past_date p WHERE p.store = s AND p.id = ANY (ids) GROUP BY p.org_id
        RETURNING org_id, (detail ->> 'rows')::bigint AS n)
      SELECT s, g.org_id, g.n FROM gone g;
    PERFORM purge_store(s, ids, purge_due.actor);
  END LOOP;
END $$;
ALTER FUNCTION afterword.purge_due(actor text, org integer, max_rows integer) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.purge_store(store text, ids uuid[], actor text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  CASE purge_store.store
    WHEN 'transcripts' THEN DELETE FROM transcripts WHERE run_id = ANY (ids);
    WHEN 'envelopes' THEN DELETE FROM envelopes WHERE run_id = ANY (ids);
    WHEN 'rejected_events' THEN DELETE FROM rejected_events WHERE id = ANY (ids);
    WHEN 'drops' THEN
      UPDATE drops SET content = '', rationale = '', evidence = '[]', subject_type = NULL, subject_id = NULL,
        scope_value = NULL, author = '', erased_at = now() WHERE id = ANY (ids);
      UPDATE reviews SET comment = NULL WHERE drop_id = ANY (ids);
    WHEN 'expired', 'forgotten' THEN PERFORM empty_memories(ids, purge_store.actor, purge_store.store);
    WHEN 'recalls' THEN DELETE FROM recalls WHERE id = ANY (ids);
    WHEN 'outcomes' THEN DELETE FROM outcomes WHERE id = ANY (ids);
    WHEN 'tokens' THEN DELETE FROM tokens WHERE id = ANY (ids);
    WHEN 'renewals' THEN
      INSERT INTO reviews (id, org_id, memory_id, kind, reasons)
      SELECT uuidv7(), m.org_id, m.id, 'renew', '{review_due}' FROM memories m WHERE m.id = ANY (ids);
  END CASE;
END $$;
ALTER FUNCTION afterword.purge_store(store text, ids uuid[], actor text) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.recall(query text, vector public.vector DEFAULT NULL::public.vector, stamp integer DEFAULT NULL::integer, max_hits integer DEFAULT 5, as_of timestamp with time zone DEFAULT NULL::timestamp with time zone, narrowed afterword.narrowing DEFAULT NULL::afterword.narrowing, fusion text DEFAULT 'weighted'::text) RETURNS TABLE(recall_id uuid, mode text, excluded jsonb, memory_id uuid, tier text, kind text, status text, content text, author_kind text, author text, subject_type text, subject_id text, observed_at timestamp with time zone, valid_from timestamp with time zone, valid_to timestamp with time zone, session text, turns integer[], vector_score real, lexical_score real, combined_score real, vector_rank integer, lexical_rank integer, allowed text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'public', 'pg_temp'
    SET "hnsw.iterative_scan" TO 'relaxed_order'
    SET "hnsw.ef_search" TO '200'
    SET "hnsw.max_scan_tuples" TO '20000'
    SET enable_sort TO 'on'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $_$
#variable_conflict use_column
DECLARE
  g tokens := current_grant();
  asked text[] := CASE WHEN recall.query <> '' THEN words_asked(left(recall.query, 10000)) END;
  search org_search := (SELECT s FROM org_search s WHERE s.org_id = g.org_id AND s.stamp = recall.stamp);
  indexed bigint := (SELECT s.indexed FROM stamps s WHERE s.id = recall.stamp);
  spread calibrated := (SELECT c FROM calibrated c WHERE c.stamp = recall.stamp AND c.side = 'query');
  space CONSTANT text := 'embeddings_' || recall.stamp;
  by_rank boolean := recall.fusion = 'rrf' OR (recall.vector IS NOT NULL AND (spread.sd > 0) IS NOT TRUE);
  places integer := CASE WHEN asked IS NOT NULL THEN greatest(20, 2 * recall.max_hits) ELSE recall.max_hits END;
  word_rows integer := greatest(100, 500 / cardinality(asked));
  narrow narrowing := CASE WHEN NOT recall.narrowed IS NULL THEN recall.narrowed END;
  near uuid[];
  distances float8[];
  said uuid[];
  said_scores float8[];
  of_org float8;
  further uuid[];
  further_distances float8[];
  newest uuid[];
  all_seen boolean := false;
BEGIN
  IF g.id IS NULL THEN
    RAISE EXCEPTION 'no grant: the token is unknown, expired, revoked or made for another door'
      USING ERRCODE = 'insufficient_privilege';
  ELSIF recall.vector IS NOT NULL AND indexed IS NULL THEN
    RAISE EXCEPTION 'a vector needs the stamp it belongs to; there is no stamp %', coalesce(recall.stamp::text, 'given')
      USING ERRCODE = 'invalid_parameter_value';
  ELSIF recall.max_hits NOT BETWEEN 1 AND 100 OR length(recall.query) > 10000 THEN
    RAISE EXCEPTION 'a recall asks for 1 to 100 hits, in at most 10,000 characters'
      USING ERRCODE = 'invalid_parameter_value';
  ELSIF recall.fusion NOT IN ('weighted', 'rrf') THEN
    RAISE EXCEPTION 'there are two fusions, weighted and rrf' USING ERRCODE = 'invalid_parameter_value';
  ELSIF NOT (recall.narrowed).kinds <@ '{fact,preference,rule,turn}'::text[] THEN
    RAISE EXCEPTION 'a memory is a fact, preference, rule or turn' USING ERRCODE = 'invalid_parameter_value';
  ELSIF (recall.narrowed).scope_path IS NOT NULL AND (recall.narrowed).scope_kind IS NULL THEN
    RAISE EXCEPTION 'a path is one of a kind of scope: name it too' USING ERRCODE = 'invalid_parameter_value';
  ELSIF (recall.narrowed).subject_id IS NULL <> ((recall.narrowed).subject_type IS NULL) THEN
    RAISE EXCEPTION 'a subject is a type and an id' USING ERRCODE = 'invalid_parameter_value';
  ELSIF (recall.narrowed).since >= (recall.narrowed).until THEN
    RAISE EXCEPTION 'a span of time begins before it ends' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF recall.vector IS NULL THEN
    NULL;
  ELSIF search.ann AND search.embedded::float8 ^ 2 > 8.0 * places * (indexed - search.embedded) THEN
    -- One index serves all large orgs: it meets places * indexed / embedded rows before enough are of this one, each at
    -- the cost of eight in an exact search. It looks at no more than cost as much as an exact search, or twice what it
    -- should need, so that who may see little of the org is answered exactly. The larger the index, the wider it is
    -- searched: at 600,000 rows recall@10 was 0.95 with 200 candidates, 0.99 with 800. Until statistics know how many
    -- rows are in it the planner would sort them instead. All is undone on return.
    PERFORM set_config('enable_sort', 'off', true),
            set_config('hnsw.ef_search', least(1000, greatest(100, indexed / 750,
                       1.5 * places * indexed / search.embedded))::int::text,
                       true),
            set_config('hnsw.max_scan_tuples', greatest(1000, search.embedded / 8,
                       2 * places * indexed / search.embedded)::text, true);
    EXECUTE format($v$
      SELECT array_agg(x.id ORDER BY x.distance, x.id), array_agg(x.distance ORDER BY x.distance, x.id) FROM (
        SELECT e.memory_id AS id, e.vector <=> $1 AS distance
        FROM %I e, LATERAL (SELECT FROM memories m WHERE m.id = e.memory_id AND recallable(m, $4, $5, $6) OFFSET 0) m
        WHERE e.org_id = $2 AND e.ann ORDER BY e.vector <=> $1 LIMIT $3) x $v$, space)
    INTO near, distances USING recall.vector, g.org_id, places, g, recall.as_of, narrow;
    PERFORM set_config('enable_sort', 'on', true);
  ELSE
    -- More than are wanted, and then those that may be told: quicker than to look at the rights to each.
    EXECUTE format($v$
      SELECT array_agg(x.id), array_agg(x.distance) FROM (
        SELECT e.memory_id AS id, e.vector <=> $1 AS distance FROM %I e WHERE e.org_id = $2
        ORDER BY distance, id LIMIT $3) x $v$, space)
    INTO near, distances USING recall.vector, g.org_id, 3 * places;
    all_seen := coalesce(cardinality(near), 0) < 3 * places;
    SELECT array_agg(x.id ORDER BY x.n), array_agg(x.distance ORDER BY x.n) INTO near, distances FROM (
      SELECT x.* FROM unnest(near, distances) WITH ORDINALITY x(id, distance, n), (SELECT g, narrow OFFSET 0) r(g, n), LATERAL (
        SELECT FROM memories m WHERE m.id = x.id AND recallable(m, r.g, recall.as_of, r.n) OFFSET 0) m
      ORDER BY x.n LIMIT places) x;
  END IF;
  -- No short answers: where little of what lies near is for this reader, every row of the org is ordered.
  IF recall.vector IS NOT NULL AND NOT all_seen AND coalesce(cardinality(near), 0) < places THEN
    EXECUTE format($v$
      SELECT array_agg(x.id ORDER BY x.distance, x.id), array_agg(x.distance ORDER BY x.distance, x.id) FROM (
        SELECT e.id, e.distance
        FROM (SELECT e.memory_id AS id, e.vector <=> $1 AS distance FROM %I e WHERE e.org_id = $2
              ORDER BY distance OFFSET 0) e,
        LATERAL (SELECT FROM memories m WHERE m.id = e.id AND recallable(m, $4, $5, $6) OFFSET 0) m
        ORDER BY e.distance LIMIT $3) x $v$, space)
    INTO near, distances USING recall.vector, g.org_id, places, g, recall.as_of, narrow;
  END IF;
  -- Below the floor nothing is found by meaning.
  IF spread.p99 IS NOT NULL THEN
    SELECT array_agg(x.id ORDER BY x.n), array_agg(x.distance ORDER BY x.n) INTO near, distances
    FROM unnest(near, distances) WITH ORDINALITY x(id, distance, n) WHERE 1 - x.distance >= spread.p99;
  END IF;
  IF asked IS NOT NULL THEN
    of_org := greatest(100, (SELECT max(s.embedded + s.missing) FROM org_search s WHERE s.org_id = g.org_id));
    -- A word's memories as the index gives them, as many as its share; where it has more, how many is told by how far into
    -- the table the last one lay. Of such words the two rarest find what has both; where all are such, the rarest finds
    -- what was looked at. Rows of variables are read from `reader`: each use of the variable itself copies it.
    WITH reader(g, n) AS MATERIALIZED (SELECT g, narrow),
    held AS MATERIALIZED (
      SELECT w.word, x.* FROM unnest(asked) WITH ORDINALITY w(lexeme, word), reader r, LATERAL (
        SELECT m.ctid AS place, m.id, length(m.lexemes) AS length, CASE WHEN m.kind = 'turn' THEN m.run_id END AS run,
          CASE WHEN m.kind = 'turn' THEN turn_number(m.evidence) END AS turn
        FROM memories m WHERE org_words(m.org_id, m.lexemes) @> ARRAY[g.org_id || ' ' || w.lexeme]
          AND recallable(m, r.g, recall.as_of, r.n) LIMIT word_rows) x),
    counted AS (
      SELECT word, count(*) >= word_rows AS common, CASE WHEN count(*) < word_rows THEN count(*)
        ELSE greatest(count(*), count(*) * pg_relation_size('memories') / 8192
          / ((max(place)::text::point)[0] + 1)) END AS n
      FROM held GROUP BY word),
    weighed AS MATERIALIZED (
      SELECT word, common, NOT common OR (every(common) OVER () AND row_number() OVER (ORDER BY n) = 1) AS finds,
        ln(1 + (greatest(of_org, max(n) OVER ()) - n + 0.5) / (n + 0.5)) AS weight, one_lexeme(asked[word]) AS lexeme
      FROM counted),
    pair AS (
      SELECT array_agg(g.org_id || ' ' || asked[word]) AS both, array_agg(word) FILTER (WHERE NOT finds) AS words
      FROM (SELECT * FROM weighed WHERE common ORDER BY weight DESC LIMIT 2) x HAVING count(*) = 2),
    together AS (
      SELECT p.words, x.* FROM pair p, reader r, LATERAL (
        SELECT m.ctid AS place, m.id, length(m.lexemes) AS length, CASE WHEN m.kind = 'turn' THEN m.run_id END AS run,
          CASE WHEN m.kind = 'turn' THEN turn_number(m.evidence) END AS turn
        FROM memories m WHERE org_words(m.org_id, m.lexemes) @> p.both
          AND recallable(m, r.g, recall.as_of, r.n) LIMIT word_rows) x),
    finding AS MATERIALIZED (
      SELECT h.place, h.id, h.length, h.run, h.turn, w.word, w.weight FROM held h JOIN weighed w USING (word) WHERE w.finds
      UNION ALL
      SELECT t.place, t.id, t.length, t.run, t.turn, w.word, w.weight FROM together t JOIN weighed w ON w.word = ANY (t.words)),
    own AS (
      SELECT id, place, words, share, share * weight AS score FROM (
        SELECT id, any_value(place) AS place, array_agg(word) AS words, sum(weight) AS weight,
          2.2 / (1 + 1.2 * (0.5 + 0.5 * length / avg(length) OVER ())) / CASE WHEN run IS NULL THEN 1 ELSE 2 END AS share
        FROM finding GROUP BY id, run, length) x
      ORDER BY 5 DESC, 1 LIMIT 4 * places),
    around AS (
      SELECT run, turn, sum(weight) / 2 AS score FROM (
        SELECT DISTINCT f.run, f.turn + d AS turn, f.word, f.weight FROM finding f, generate_series(-1, 1) d
        WHERE f.run IS NOT NULL) y
      GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 2 * places),
    found AS (
      SELECT id, any_value(place) AS place, any_value(words) AS words, coalesce(max(share), 0.5) AS share, sum(score) AS score
      FROM (
        SELECT * FROM own
        UNION ALL
        SELECT m.id, m.place, NULL, NULL, a.score FROM around a, reader r, LATERAL (
          SELECT m.id, m.ctid AS place FROM memories m
          WHERE m.run_id = a.run AND turn_number(m.evidence) = a.turn AND m.kind = 'turn'
            AND recallable(m, r.g, recall.as_of, r.n) OFFSET 0) m) y
      GROUP BY id),
    scored AS (
      SELECT f.id, f.score + CASE WHEN (SELECT bool_or(common) FROM weighed) THEN f.share * (
          SELECT coalesce(sum(w.weight), 0) FROM memories m, weighed w
          WHERE m.ctid = f.place AND w.common AND w.word <> ALL (coalesce(f.words, '{}')) AND m.lexemes @@ w.lexeme)
        ELSE 0 END AS score
      FROM found f ORDER BY 2 DESC, 1 LIMIT places)
    SELECT array_agg(id ORDER BY score DESC, id), array_agg(score ORDER BY score DESC, id) INTO said, said_scores FROM scored;
  END IF;
  -- Both scores of every candidate: how near what the words found is, too.
  IF recall.vector IS NOT NULL AND said IS NOT NULL THEN
    EXECUTE format('SELECT array_agg(e.memory_id), array_agg(e.vector <=> $1) FROM %I e WHERE e.memory_id = ANY ($2)',
                   space) INTO further, further_distances
    USING recall.vector, (SELECT array_agg(x) FROM unnest(said) x WHERE x <> ALL (coalesce(near, '{}')));
  END IF;
  IF near IS NULL AND said IS NULL THEN
    EXECUTE $n$
      SELECT array_agg(x.id ORDER BY x.observed_at DESC, x.id) FROM (
        SELECT m.id, m.observed_at FROM memories m WHERE m.org_id = $1 AND recallable(m, $3, $4, $5)
        ORDER BY m.observed_at DESC, m.id LIMIT $2) x $n$
    INTO newest USING g.org_id, recall.max_hits, g, recall.as_of, narrow;
  END IF;
  RETURN QUERY
    WITH by_vector AS (SELECT * FROM unnest(near, distances) WITH ORDINALITY x(id, distance, rank)),
    by_word AS (SELECT * FROM unnest(said, said_scores) WITH ORDINALITY x(id, score, rank)),
    both_legs AS (
      SELECT id, 1 - coalesce(v.distance, u.distance) AS cosine, l.score::real AS score, v.rank::integer AS vector_rank,
        l.rank::integer AS lexical_rank,
        CASE WHEN NOT by_rank
          THEN coalesce((1 - coalesce(v.distance, u.distance) - spread.mean) / spread.sd, 0) + 0.4 * coalesce(l.score, 0)
          ELSE coalesce(1.0 / (60 + v.rank), 0) + coalesce(1.0 / (60 + l.rank), 0) END AS fused
      FROM by_vector v FULL JOIN by_word l USING (id) LEFT JOIN unnest(further, further_distances) u(id, distance) USING (id)
      UNION ALL SELECT x, NULL, NULL, NULL, NULL, 0 FROM unnest(newest) x),
    -- Looked at again, in the statement that records it: it may have been forgotten since. A turn that a fact among
    -- the candidates cites stands in that fact's place, and the fact in the better of both.
    candidates AS MATERIALIZED (
      SELECT f.*, x.m, x.turns, r.session FROM both_legs f, (SELECT g, narrow OFFSET 0) w(g, n), LATERAL (
        SELECT m, CASE WHEN jsonb_array_length(m.evidence) > 0 THEN
          ARRAY(SELECT DISTINCT (e ->> 'turn')::integer FROM jsonb_array_elements(m.evidence) e ORDER BY 1) END AS turns
        FROM memories m WHERE m.id = f.id AND recallable(m, w.g, recall.as_of, w.n) OFFSET 0) x,
      LATERAL (SELECT r.session FROM runs r WHERE r.id = (x.m).run_id OFFSET 0) r),
    folded AS (
      SELECT c.id AS turn, f.id AS fact, c.fused FROM candidates c JOIN candidates f
        ON (c.m).kind = 'turn' AND (f.m).kind <> 'turn' AND f.session = c.session AND f.turns @> c.turns),
    ranked AS (
      SELECT c.*, (greatest(c.fused, (SELECT max(f.fused) FROM folded f WHERE f.fact = c.id))
        + CASE WHEN NOT by_rank AND newest IS NULL THEN 0.05 * ((c.m).importance - 1)
          + 0.1 * 0.5 ^ least(1000, greatest(0, extract(epoch FROM coalesce(recall.as_of, now()) - (c.m).observed_at))
                    / (30 * 86400)) ELSE 0 END)::real AS combined
      FROM candidates c WHERE c.id NOT IN (SELECT f.turn FROM folded f)),
    chosen AS MATERIALIZED (SELECT * FROM ranked ORDER BY combined DESC, (m).observed_at DESC, id LIMIT recall.max_hits),
    recorded AS (
      INSERT INTO recalls (id, org_id, token_id, actor, agent, project, mode, as_of, request, hits, candidates, passed_over,
        excluded)
      SELECT uuidv7(), g.org_id, g.id, g.actor, g.agent, g.project,
        CASE WHEN near IS NULL AND said IS NULL THEN 'newest' WHEN near IS NULL THEN 'lexical'
          WHEN said IS NULL THEN 'vector' ELSE 'hybrid' END, recall.as_of, asked_for(recall.max_hits,
          CASE WHEN by_rank THEN 'rrf' ELSE 'weighted' END, recall.stamp, recall.narrowed),
        coalesce((SELECT jsonb_agg(jsonb_build_object('id', id, 'vector', cosine, 'lexical', score, 'combined', combined,
          'vector_rank', vector_rank, 'lexical_rank', lexical_rank,
          'allowed', (m).scope_kind || ' in ' || (m).namespace) ORDER BY combined DESC, (m).observed_at DESC, id)
          FROM chosen), '[]'),
        (SELECT count(*) FROM candidates),
        coalesce((SELECT jsonb_agg(jsonb_build_object('id', p.id, 'vector', p.cosine, 'lexical', p.score,
          'vector_rank', p.vector_rank, 'lexical_rank', p.lexical_rank, 'behind', p.fact) ORDER BY p.fused DESC, p.id)
          FROM (SELECT c.*, (SELECT f.fact FROM folded f WHERE f.turn = c.id ORDER BY 1 LIMIT 1) AS fact
                FROM candidates c WHERE c.id NOT IN (SELECT id FROM chosen) ORDER BY c.fused DESC, c.id LIMIT 10) p), '[]'),
        CASE WHEN recall.vector IS NOT NULL AND search.missing > 0
          THEN jsonb_build_object('unembedded', search.missing) ELSE '{}' END
      RETURNING id, mode, excluded)
    SELECT r.id, r.mode, r.excluded, (m).id, (m).tier, (m).kind, (m).status, (m).content, (m).author_kind, (m).author,
           (m).subject_type, (m).subject_id, (m).observed_at, (m).valid_from, (m).valid_to, c.session, c.turns,
           c.cosine::real, c.score, c.combined, c.vector_rank, c.lexical_rank,
           (m).scope_kind || coalesce('=' || (m).scope_value, '') || ' in ' || (m).namespace
    FROM recorded r LEFT JOIN chosen c ON true
    ORDER BY c.combined DESC, (m).observed_at DESC, (m).id;
END $_$;
ALTER FUNCTION afterword.recall(query text, vector public.vector, stamp integer, max_hits integer, as_of timestamp with time zone, narrowed afterword.narrowing, fusion text) OWNER TO afterword_recall;
CREATE FUNCTION afterword.recall_rendered(recall_id uuid, block_hash bytea, shown uuid[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  UPDATE recalls r SET block_hash = recall_rendered.block_hash, rendered_at = now(),
    shown = ARRAY(SELECT x FROM unnest(recall_rendered.shown) WITH ORDINALITY u(x, n)
                  WHERE r.hits @> jsonb_build_array(jsonb_build_object('id', x)) ORDER BY n)
  WHERE r.id = recall_rendered.recall_id AND r.token_id = (current_grant()).id AND r.block_hash IS NULL;
END $$;
ALTER FUNCTION afterword.recall_rendered(recall_id uuid, block_hash bytea, shown uuid[]) OWNER TO afterword_recall;
CREATE FUNCTION afterword.recallable(m afterword.memories, g afterword.tokens, as_of timestamp with time zone, n afterword.narrowing) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  SELECT m.org_id IS NOT DISTINCT FROM g.org_id AND m.erased_at IS NULL AND (m.kind = 'rule' OR m.expires_at > now()) AND m.tier = ANY (g.tiers)
    AND m.status IN ('active', 'superseded') AND CASE WHEN as_of IS NULL THEN m.status = 'active'
      ELSE m.valid_from <= as_of AND coalesce(m.valid_to, 'infinity') > as_of END
    AND (m.scope_kind = 'org' OR (m.scope_kind = 'user' AND m.scope_value = g.user_id)
      OR (m.scope_kind = 'agent' AND m.scope_value = g.agent)
      OR (m.scope_kind = 'project' AND m.scope_value = g.project)
      OR (m.scope_kind = 'workflow' AND m.scope_value = g.workflow))
    AND (n IS NULL OR ((n.kinds IS NULL OR m.kind = ANY (n.kinds))
      AND (n.scope_kind IS NULL OR m.scope_kind = n.scope_kind)
      AND (n.scope_path IS NULL OR m.scope_value = n.scope_path OR starts_with(m.scope_value, n.scope_path || '/'))
      AND (n.subject_type IS NULL OR (m.subject_type = n.subject_type AND m.subject_id = n.subject_id))
      AND (n.since IS NULL OR m.observed_at >= n.since) AND (n.until IS NULL OR m.observed_at < n.until)))
$$;
ALTER FUNCTION afterword.recallable(m afterword.memories, g afterword.tokens, as_of timestamp with time zone, n afterword.narrowing) OWNER TO afterword_owner;
CREATE FUNCTION afterword.reclassification_moved() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND ((NEW.id, NEW.kind, NEW.dry_run, NEW.actor, NEW.reason, NEW.requested_at)
       <> (OLD.id, OLD.kind, OLD.dry_run, OLD.actor, OLD.reason, OLD.requested_at)
       OR (NEW.org_id, NEW.since, NEW.plan_id) IS DISTINCT FROM (OLD.org_id, OLD.since, OLD.plan_id)
       OR OLD.finished_at IS NOT NULL) THEN
    RAISE EXCEPTION 'a request stands as it was made, and as it ended' USING ERRCODE = 'check_violation',
      CONSTRAINT = 'reclassification_stands';
  END IF;
  IF TG_OP = 'INSERT' OR NEW.finished_at IS NOT NULL THEN
    INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
    VALUES (NEW.org_id, 'reclassification', NEW.id::text, NEW.actor,
            NEW.kind || CASE TG_OP WHEN 'INSERT' THEN '_requested' ELSE '_' || NEW.status END,
            jsonb_strip_nulls(jsonb_build_object('reason', NEW.reason, 'since', NEW.since, 'dry_run', NEW.dry_run,
              'plan', NEW.plan_id, 'planned_by', NEW.planned_by, 'detectors', NEW.detectors,
              'counts', CASE WHEN NEW.finished_at IS NOT NULL THEN NEW.counts END,
              'digest', encode(coalesce(NEW.plan_digest, NEW.confirmed_digest), 'hex'))));
  END IF;
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.reclassification_moved() OWNER TO afterword_owner;
CREATE FUNCTION afterword.record_answer(hash bytea, action text, detail jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
DECLARE
  g tokens := current_grant();
BEGIN
  IF g.id IS NULL OR g.role NOT IN ('operator', 'reviewer') OR record_answer.action NOT IN ('subject_looked_up', 'subject_exported') THEN
    RAISE EXCEPTION 'a reviewer''s or operator''s grant is needed' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN recorded(g, record_answer.hash, record_answer.action, record_answer.detail);
END $$;
ALTER FUNCTION afterword.record_answer(hash bytea, action text, detail jsonb) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.record_candidates(org integer, source text, key text, actor text, for_user text, decided boolean, provenance jsonb, candidates jsonb) RETURNS uuid
    LANGUAGE plpgsql
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.record_candidates(org integer, source text, key text, actor text, for_user text, decided boolean, provenance jsonb, candidates jsonb) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.record_feedback(content text, namespace text, scope_kind text, scope_value text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.record_feedback(content text, namespace text, scope_kind text, scope_value text) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.record_outcome(kind text, score real, eval_run text, memory uuid, agent text, workflow text, namespace text, comment text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.record_outcome(kind text, score real, eval_run text, memory uuid, agent text, workflow text, namespace text, comment text) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.record_rules(namespace text, contents text[]) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.record_rules(namespace text, contents text[]) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.recorded(g afterword.tokens, subject bytea, action text, detail jsonb) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  VALUES ((recorded.g).org_id, 'subject', encode(recorded.subject, 'hex'), (recorded.g).actor, recorded.action,
          recorded.detail)
  RETURNING id
$$;
ALTER FUNCTION afterword.recorded(g afterword.tokens, subject bytea, action text, detail jsonb) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
ALTER FUNCTION afterword.refuse_change() OWNER TO afterword_owner;
CREATE FUNCTION afterword.refuse_decided(m afterword.memories) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'already_decided: this memory is %', m.status USING ERRCODE = 'AW001';
END $$;
ALTER FUNCTION afterword.refuse_decided(m afterword.memories) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.refuse_later() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  IF TG_TABLE_NAME = 'memories' AND EXISTS (SELECT FROM reviews r WHERE r.memory_id = (to_jsonb(NEW) ->> 'id')::uuid
       AND r.kind = 'renew' AND r.decision = 'approve' AND r.closed_at = now()) THEN
    RETURN NEW;
  ELSIF TG_TABLE_NAME = 'memories' THEN
    IF NEW.kind = 'fact' AND NEW.subject_type IS NULL AND NEW.scope_kind <> 'user' AND OLD.expires_at > now()
       AND NEW.expires_at <= NEW.last_used_at + make_interval(days => retention_days(NEW.org_id, 'facts'))
       AND NEW.expires_at <= NEW.created_at + make_interval(days => 2 * retention_days(NEW.org_id, 'facts'))
       AND EXISTS (SELECT FROM recalls r WHERE r.org_id = NEW.org_id AND r.at = NEW.last_used_at
                     AND r.hits @> jsonb_build_array(jsonb_build_object('id', NEW.id))) THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'what is kept until a date is not kept longer' USING ERRCODE = 'check_violation',
    CONSTRAINT = 'kept_no_longer';
END $$;
ALTER FUNCTION afterword.refuse_later() OWNER TO afterword_eraser;
CREATE FUNCTION afterword.refuse_refused() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  IF refused_before(NEW.org_id, NEW.content_hash, NEW.scope_kind, NEW.scope_value) IS NOT NULL THEN
    RAISE EXCEPTION 'a person kept this text out before' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN NEW;
END $$;
ALTER FUNCTION afterword.refuse_refused() OWNER TO afterword_owner;
CREATE FUNCTION afterword.refuse_waiting() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  IF EXISTS (SELECT FROM fresh f JOIN memories m ON m.id = f.memory_id WHERE m.status = 'pending') THEN
    RAISE EXCEPTION 'a pending memory is never embedded' USING ERRCODE = 'check_violation', CONSTRAINT = 'embedded_active';
  END IF;
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.refuse_waiting() OWNER TO afterword_owner;
CREATE FUNCTION afterword.refused_before(org integer, hash bytea, scope_kind text, scope_value text) RETURNS uuid
    LANGUAGE sql STABLE
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  SELECT m.id FROM memories m
  WHERE m.org_id = refused_before.org AND m.content_hash = refused_before.hash
    AND m.status IN ('rejected', 'tombstoned') AND m.erased_at IS NULL AND m.scope_kind = refused_before.scope_kind
    AND m.scope_value IS NOT DISTINCT FROM refused_before.scope_value
    AND NOT EXISTS (SELECT FROM memories a WHERE a.org_id = m.org_id AND a.content_hash = m.content_hash
      AND a.status = 'active' AND a.scope_kind = m.scope_kind AND a.scope_value IS NOT DISTINCT FROM m.scope_value)
  ORDER BY m.status_at DESC LIMIT 1
$$;
ALTER FUNCTION afterword.refused_before(org integer, hash bytea, scope_kind text, scope_value text) OWNER TO afterword_owner;
CREATE FUNCTION afterword.register_stamp(provider text, model text, revision text, dimension integer, storage text DEFAULT NULL::text) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'afterword', 'public', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
  stamp integer;
  name text;
  kind text := coalesce(register_stamp.storage, CASE WHEN register_stamp.dimension > 2000 THEN 'halfvec' ELSE 'vector' END);
BEGIN
  IF kind NOT IN ('vector', 'halfvec') THEN
    RAISE EXCEPTION 'vectors are stored as vector or halfvec' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  LOCK TABLE stamps IN SHARE ROW EXCLUSIVE MODE;
  SELECT s.id INTO stamp FROM stamps s WHERE (s.provider, s.model, s.revision, s.dimension)
    = (register_stamp.provider, register_stamp.model, register_stamp.revision, register_stamp.dimension);
  IF stamp IS NOT NULL AND register_stamp.storage <> (
    SELECT a.atttypid::regtype::text FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = ('embeddings_' || stamp)::regclass AND a.attname = 'vector') THEN
    RAISE EXCEPTION 'space % is registered and stored otherwise', stamp USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  IF stamp IS NOT NULL THEN
    RETURN stamp;
  END IF;
  INSERT INTO stamps (provider, model, revision, dimension, is_current)
  VALUES (register_stamp.provider, register_stamp.model, register_stamp.revision, register_stamp.dimension,
          NOT EXISTS (SELECT FROM stamps))
  RETURNING id INTO stamp;
  name := 'embeddings_' || stamp;
  EXECUTE format('CREATE TABLE %I (memory_id uuid PRIMARY KEY REFERENCES memories, org_id integer NOT NULL '
    'REFERENCES orgs, vector %s(%s) NOT NULL, ann boolean NOT NULL DEFAULT false)', name, kind, register_stamp.dimension);
  EXECUTE format('ALTER TABLE %I ALTER COLUMN vector SET STATISTICS 0', name);
  EXECUTE format('CREATE INDEX ON %I (org_id, ann)', name);
  IF register_stamp.dimension <= (CASE kind WHEN 'vector' THEN 2000 ELSE 4000 END) THEN
    -- At the defaults (16, 64) one in a hundred of the nearest was not reachable; the more rows, the more.
    EXECUTE format('CREATE INDEX ON %I USING hnsw (vector %s_cosine_ops) WITH (m = 24, ef_construction = 128) WHERE ann',
                   name, kind);
  END IF;
  EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
  EXECUTE format('CREATE POLICY workers_reach_all_orgs ON %I TO afterword_worker USING (true) WITH CHECK (true)', name);
  EXECUTE format('CREATE POLICY recall_reads ON %I FOR SELECT TO afterword_recall USING (true)', name);
  EXECUTE format('GRANT MAINTAIN ON %I TO afterword_operator', name);
  EXECUTE format('CREATE POLICY verdicts_look ON %I FOR SELECT TO afterword_verdict USING (true)', name);
  EXECUTE format('CREATE TRIGGER embedded_active AFTER INSERT ON %I REFERENCING NEW TABLE AS fresh '
    'FOR EACH STATEMENT EXECUTE FUNCTION refuse_waiting()', name);
  EXECUTE format('CREATE POLICY erasure ON %I TO afterword_eraser USING (true)', name);
  EXECUTE format('GRANT SELECT, DELETE ON %I TO afterword_eraser', name);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE (ann), DELETE ON %I TO afterword_worker', name);
  EXECUTE format('GRANT SELECT ON %I TO afterword_recall, afterword_verdict', name);
  RETURN stamp;
END $$;
ALTER FUNCTION afterword.register_stamp(provider text, model text, revision text, dimension integer, storage text) OWNER TO afterword_owner;
CREATE FUNCTION afterword.rehome(memory uuid, namespace text, scope_kind text, scope_value text, comment text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.rehome(memory uuid, namespace text, scope_kind text, scope_value text, comment text) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.reject(memory uuid, comment text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.reject(memory uuid, comment text) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.release_hold(hash bytea, reason text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.release_hold(hash bytea, reason text) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.remember_preference(content text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.remember_preference(content text) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.renew_rule() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  UPDATE memories SET expires_at = now() + make_interval(days => retention_days(NEW.org_id, 'rules'))
  WHERE id = NEW.memory_id;
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.renew_rule() OWNER TO afterword_eraser;
CREATE FUNCTION afterword.restore_drop(dropped uuid, comment text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.restore_drop(dropped uuid, comment text) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.restore_repeat(repeat uuid, comment text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.restore_repeat(repeat uuid, comment text) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.retention_days(org integer, name text) RETURNS integer
    LANGUAGE sql STABLE
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  SELECT coalesce((SELECT (o.settings #>> ARRAY['retention', d.name])::integer FROM orgs o
                   WHERE d.by_org AND o.id = retention_days.org), d.days)
  FROM retention_defaults d WHERE d.name = retention_days.name
$$;
ALTER FUNCTION afterword.retention_days(org integer, name text) OWNER TO afterword_eraser;
CREATE FUNCTION afterword.retire_replaced(m afterword.memories, actor text) RETURNS void
    LANGUAGE sql
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  UPDATE reviews SET closed_at = now(), decision = 'voided', decided_by = retire_replaced.actor
  WHERE memory_id = ANY ((retire_replaced.m).replaces) AND org_id = (retire_replaced.m).org_id AND closed_at IS NULL;
  UPDATE memories SET status = 'superseded', superseded_by = (retire_replaced.m).id,
         valid_to = greatest((retire_replaced.m).valid_from, valid_from), review_id = NULL,
         actor = retire_replaced.actor, reason = 'replaced', status_at = now()
  WHERE id = ANY ((retire_replaced.m).replaces) AND org_id = (retire_replaced.m).org_id
    AND status IN ('active', 'pending');
$$;
ALTER FUNCTION afterword.retire_replaced(m afterword.memories, actor text) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.retype(memory uuid, act text, content text, comment text DEFAULT NULL::text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.retype(memory uuid, act text, content text, comment text) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.review_decided() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  IF (SELECT count(*) FROM fresh f JOIN stale s USING (id, org_id, kind, opened_at)
       WHERE (f.memory_id, f.drop_id) IS NOT DISTINCT FROM (s.memory_id, s.drop_id)
         AND (s.closed_at IS NULL OR (f.closed_at, f.decision, f.decided_by, f.cites)
                                     IS NOT DISTINCT FROM (s.closed_at, s.decision, s.decided_by, s.cites)))
     <> (SELECT count(*) FROM fresh) THEN
    RAISE EXCEPTION 'a decision stands' USING ERRCODE = 'check_violation', CONSTRAINT = 'review_decided';
  END IF;
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  SELECT f.org_id, CASE WHEN f.drop_id IS NULL THEN 'memory' ELSE 'drop' END, coalesce(f.memory_id, f.drop_id)::text,
         f.decided_by, 'review_closed',
         jsonb_build_object('review', id, 'kind', f.kind, 'decision', f.decision)
  FROM fresh f JOIN stale s USING (id) WHERE s.closed_at IS NULL AND f.closed_at IS NOT NULL;
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.review_decided() OWNER TO afterword_owner;
CREATE FUNCTION afterword.review_opened() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  SELECT org_id, CASE WHEN drop_id IS NULL THEN 'memory' ELSE 'drop' END, coalesce(memory_id, drop_id)::text,
         session_user, 'review_opened', jsonb_build_object('review', id, 'kind', kind, 'reasons', reasons)
  FROM fresh WHERE kind <> 'hold';
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.review_opened() OWNER TO afterword_owner;
CREATE FUNCTION afterword.revoke_preference(memory uuid) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.revoke_preference(memory uuid) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.revoke_token(token uuid, revoked_by text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
DECLARE
  t tokens := living_token(revoke_token.token);
BEGIN
  IF t.revoked_at IS NOT NULL THEN
    RETURN 'already_revoked';
  END IF;
  UPDATE tokens SET revoked_at = now() WHERE id = t.id;
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  VALUES (t.org_id, 'token', t.id::text, revoke_token.revoked_by, 'token_revoked', jsonb_build_object('role', t.role));
  RETURN 'revoked';
END $$;
ALTER FUNCTION afterword.revoke_token(token uuid, revoked_by text) OWNER TO afterword_owner;
CREATE FUNCTION afterword.rotate_token(token uuid, hash bytea, overlap interval, rotated_by text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
DECLARE
  t tokens := living_token(rotate_token.token);
  minted uuid;
BEGIN
  IF t.revoked_at IS NOT NULL OR t.expires_at <= now() THEN
    RAISE EXCEPTION 'this token opens nothing any more: create a new one' USING ERRCODE = 'AW001';
  ELSIF t.replaced_by IS NOT NULL THEN
    RAISE EXCEPTION 'this token was replaced by %: rotate that one', t.replaced_by USING ERRCODE = 'AW001';
  ELSIF rotate_token.overlap < interval '0' THEN
    RAISE EXCEPTION 'an overlap is not below zero' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  minted := mint_token(rotate_token.hash, t.org_id, t.role, t.actor, t.expires_at - t.created_at, t.agent, t.user_id,
                       t.project, t.workflow, t.tiers, t.agent_role, rotate_token.rotated_by);
  UPDATE tokens SET replaced_by = minted, expires_at = least(expires_at, now() + rotate_token.overlap) WHERE id = t.id;
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  VALUES (t.org_id, 'token', t.id::text, rotate_token.rotated_by, 'token_replaced',
          jsonb_build_object('by', minted, 'overlap_seconds', extract(epoch FROM rotate_token.overlap)::integer));
  RETURN minted;
END $$;
ALTER FUNCTION afterword.rotate_token(token uuid, hash bytea, overlap interval, rotated_by text) OWNER TO afterword_owner;
CREATE FUNCTION afterword.run_inserted() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  IF EXISTS (SELECT FROM fresh f WHERE NOT EXISTS (
       SELECT FROM run_entries e WHERE e.kind = f.kind AND e.state = f.state)) THEN
    RAISE EXCEPTION 'a run may not enter there' USING ERRCODE = 'check_violation', CONSTRAINT = 'run_entries';
  END IF;
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  SELECT org_id, 'run', id::text, actor, 'run_received',
         jsonb_strip_nulls(jsonb_build_object('kind', kind, 'to', state, 'reason', reason, 'memory', memory_id,
           'drop', drop_id))
  FROM fresh;
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.run_inserted() OWNER TO afterword_owner;
CREATE FUNCTION afterword.run_moved() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  IF (SELECT count(*) FROM fresh f JOIN stale s USING (id, org_id, kind)
      WHERE f.event_key = s.event_key OR (f.erased_at IS NOT NULL AND s.erased_at IS NULL))
     <> (SELECT count(*) FROM fresh) THEN
    RAISE EXCEPTION 'a run keeps its identity' USING ERRCODE = 'check_violation', CONSTRAINT = 'run_identity';
  END IF;
  IF EXISTS (SELECT FROM fresh f JOIN stale s USING (id) WHERE f.state <> s.state AND (
       NOT EXISTS (SELECT FROM run_moves m WHERE m.from_state = s.state AND m.to_state = f.state)
       OR (s.state = 'dead_letter' AND f.state <> s.died_in)
       OR (f.state = 'dead_letter' AND f.died_in <> s.state))
       OR f.died_in <> s.died_in) THEN
    RAISE EXCEPTION 'no such move' USING ERRCODE = 'check_violation', CONSTRAINT = 'run_moves';
  END IF;
  IF EXISTS (SELECT FROM fresh f JOIN stale s USING (id) WHERE s.state = 'dead_letter' AND f.state <> s.state
       AND NOT EXISTS (SELECT FROM replays p WHERE p.id = f.replay_id AND p.finished_at IS NULL)) THEN
    RAISE EXCEPTION 'nothing is replayed without an open replay' USING ERRCODE = 'check_violation',
      CONSTRAINT = 'run_replays';
  END IF;
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  SELECT f.org_id, 'run', f.id::text, f.actor, 'run_' || f.state, jsonb_strip_nulls(jsonb_build_object(
           'from', s.state, 'to', f.state, 'reason', f.reason, 'attempts', nullif(s.attempts, 0),
           'code', CASE WHEN f.state = 'dead_letter' THEN f.error_code END, 'skip', f.skip_reason))
  FROM fresh f JOIN stale s USING (id) WHERE f.state <> s.state;
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  SELECT f.org_id, 'run', f.id::text, f.actor, 'run_erased', jsonb_strip_nulls(jsonb_build_object('reason', f.reason))
  FROM fresh f JOIN stale s USING (id) WHERE f.erased_at IS DISTINCT FROM s.erased_at;
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.run_moved() OWNER TO afterword_owner;
CREATE FUNCTION afterword.run_told(key text) RETURNS TABLE(id uuid, kind text, session text, state text, state_at timestamp with time zone, recallable boolean, ended boolean, error_code text, skip_reason text, memories jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $_$
#variable_conflict use_column
DECLARE
  g tokens := current_grant();
  given uuid := CASE WHEN run_told.key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN run_told.key::uuid END;
BEGIN
  RETURN QUERY
    SELECT r.id, r.kind, r.session, r.state, r.state_at, r.state IN ('redacted', 'embedded', 'consolidated'),
      r.due_at IS NULL, r.error_code, r.skip_reason,
      coalesce((SELECT jsonb_object_agg(x.status, x.n) FROM (
        SELECT m.status, count(*) AS n FROM memories m WHERE m.run_id = r.id GROUP BY 1) x), '{}')
    FROM (
      SELECT x.* FROM runs x WHERE x.id = given
      UNION ALL
      SELECT x.* FROM runs x WHERE x.org_id = g.org_id AND x.kind <> 'verdict'
        AND x.event_key IN (run_told.key, 'not kept:' || run_told.key)) r
    WHERE r.org_id = g.org_id AND (g.agent IS NULL OR r.agent = g.agent) AND (g.project IS NULL OR r.project = g.project)
      AND (g.user_id IS NULL OR r.user_id = g.user_id)
    ORDER BY r.created_at DESC LIMIT 1;
END $_$;
ALTER FUNCTION afterword.run_told(key text) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.sample_activations() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  INSERT INTO reviews (id, org_id, memory_id, kind, reasons)
  SELECT uuidv7(), org_id, id, 'audit', '{sampled}' FROM fresh
  WHERE status = 'active' AND provenance ->> 'provider' IS DISTINCT FROM 'person' AND in_share(id, CASE kind WHEN 'turn' THEN 100 ELSE 1000 END);
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.sample_activations() OWNER TO afterword_owner;
CREATE FUNCTION afterword.settle_once() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
BEGIN
  RAISE EXCEPTION 'a call is settled once' USING ERRCODE = 'check_violation', CONSTRAINT = 'settled_once';
END $$;
ALTER FUNCTION afterword.settle_once() OWNER TO afterword_owner;
CREATE FUNCTION afterword.shorten() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
DECLARE
  n integer;
  done jsonb := '{}';
BEGIN
  UPDATE memories m SET expires_at = k.until FROM (
    SELECT x.id, CASE WHEN x.kind = 'rule' THEN now() ELSE x.created_at END
             + make_interval(days => retention_days(NEW.id, x.kind || 's')) AS until
    FROM memories x WHERE x.org_id = NEW.id AND x.erased_at IS NULL) k
  WHERE m.id = k.id AND m.expires_at > k.until;
  GET DIAGNOSTICS n = ROW_COUNT;
  done := done || jsonb_build_object('memories', n);
  UPDATE transcripts t SET purge_after = k.until FROM (
    SELECT r.id, r.created_at + make_interval(days => retention_days(NEW.id, 'transcripts')) AS until
    FROM runs r WHERE r.org_id = NEW.id) k
  WHERE t.run_id = k.id AND t.purge_after > k.until;
  GET DIAGNOSTICS n = ROW_COUNT;
  done := done || jsonb_build_object('transcripts', n);
  UPDATE drops d SET expires_at = d.at + make_interval(days => retention_days(NEW.id, 'drops'))
  WHERE d.org_id = NEW.id AND d.erased_at IS NULL
    AND d.expires_at > d.at + make_interval(days => retention_days(NEW.id, 'drops'));
  GET DIAGNOSTICS n = ROW_COUNT;
  done := done || jsonb_build_object('drops', n);
  UPDATE outcomes o SET expires_at = o.at + make_interval(days => retention_days(NEW.id, 'outcomes'))
  WHERE o.org_id = NEW.id AND o.expires_at > o.at + make_interval(days => retention_days(NEW.id, 'outcomes'));
  GET DIAGNOSTICS n = ROW_COUNT;
  done := done || jsonb_build_object('outcomes', n);
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  VALUES (NEW.id, 'org', NEW.name, NEW.actor, 'retention_applied', done);
  RETURN NULL;
END $$;
ALTER FUNCTION afterword.shorten() OWNER TO afterword_eraser;
CREATE FUNCTION afterword.stamp_gap(stamp integer) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
DECLARE
  now_in integer := (SELECT s.id FROM stamps s WHERE s.is_current);
  gap bigint;
BEGIN
  IF NOT EXISTS (SELECT FROM stamps s WHERE s.id = stamp_gap.stamp) THEN
    RAISE EXCEPTION 'there is no space %', stamp_gap.stamp USING ERRCODE = 'invalid_parameter_value';
  END IF;
  EXECUTE format('SELECT count(*) FROM %I c JOIN memories m ON m.id = c.memory_id '
    'WHERE m.status IN (''active'', ''superseded'') AND m.erased_at IS NULL '
    'AND NOT EXISTS (SELECT FROM %I e WHERE e.memory_id = c.memory_id)',
    'embeddings_' || now_in, 'embeddings_' || stamp_gap.stamp) INTO gap;
  RETURN gap;
END $$;
ALTER FUNCTION afterword.stamp_gap(stamp integer) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.standing_rules(namespace text, hashes bytea[]) RETURNS TABLE(hash bytea, id uuid, status text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  SELECT m.content_hash, m.id, m.status FROM memories m, current_grant() g
  WHERE g.role = 'reviewer' AND g.project IS NULL AND m.org_id = g.org_id AND m.content_hash = ANY (hashes)
    AND m.status IN ('pending', 'active') AND m.kind = 'rule' AND m.namespace = standing_rules.namespace
$$;
ALTER FUNCTION afterword.standing_rules(namespace text, hashes bytea[]) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.switch_stamp(stamp integer, uncalibrated boolean DEFAULT false) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
DECLARE
  gap bigint;
BEGIN
  LOCK TABLE stamps IN SHARE ROW EXCLUSIVE MODE;
  gap := stamp_gap(switch_stamp.stamp);
  IF EXISTS (SELECT FROM stamps s WHERE s.id = switch_stamp.stamp AND s.is_current) THEN
    RETURN false;
  ELSIF gap > 0 THEN
    RAISE EXCEPTION '% memories have no vector in space % yet: afterword embed migrate --to %', gap, switch_stamp.stamp,
      switch_stamp.stamp USING ERRCODE = 'object_not_in_prerequisite_state';
  ELSIF NOT uncalibrated AND (SELECT count(*) FROM calibrated c WHERE c.stamp = switch_stamp.stamp) < 2 THEN
    RAISE EXCEPTION 'space % is not calibrated: afterword embed calibrate, or go by ranks alone with --uncalibrated',
      switch_stamp.stamp USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  UPDATE stamps s SET is_current = false WHERE s.is_current;
  UPDATE stamps s SET is_current = true WHERE s.id = switch_stamp.stamp;
  RETURN true;
END $$;
ALTER FUNCTION afterword.switch_stamp(stamp integer, uncalibrated boolean) OWNER TO afterword_owner;
CREATE FUNCTION afterword.token_users() RETURNS TABLE(user_id text, tokens bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  SELECT t.user_id, count(*) FROM tokens t
  WHERE t.org_id = (SELECT org_id FROM operating()) AND t.user_id IS NOT NULL GROUP BY 1
$$;
ALTER FUNCTION afterword.token_users() OWNER TO afterword_eraser;
CREATE FUNCTION afterword.tokens_made(org integer) RETURNS TABLE(id uuid, org text, role text, actor text, agent text, user_id text, project text, workflow text, agent_role text, tiers text[], created_at timestamp with time zone, expires_at timestamp with time zone, last_used_at timestamp with time zone, revoked_at timestamp with time zone, replaced_by uuid)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
  SELECT t.id, o.name, t.role, t.actor, t.agent, t.user_id, t.project, t.workflow, t.agent_role, t.tiers, t.created_at,
    t.expires_at, t.last_used_at, t.revoked_at, t.replaced_by
  FROM tokens t JOIN orgs o ON o.id = t.org_id WHERE tokens_made.org IS NULL OR t.org_id = tokens_made.org
  ORDER BY t.id
$$;
ALTER FUNCTION afterword.tokens_made(org integer) OWNER TO afterword_owner;
CREATE FUNCTION afterword.turn_number(evidence jsonb) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (((evidence -> 0) ->> 'turn'::text))::integer;
ALTER FUNCTION afterword.turn_number(evidence jsonb) OWNER TO afterword_owner;
CREATE FUNCTION afterword.use_grant() RETURNS TABLE(id uuid, org text, spaces text[], role text, actor text, agent text, user_id text, project text, workflow text, agent_role text, tiers text[], expires_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
  g tokens := current_grant();
BEGIN
  IF g.id IS NULL THEN
    RAISE EXCEPTION 'no grant: the token is unknown, expired, revoked or made for another door'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF g.last_used_at IS NULL OR g.last_used_at < now() - interval '1 minute' THEN
    UPDATE tokens SET last_used_at = now()
    WHERE id = (SELECT t.id FROM tokens t WHERE t.id = g.id FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN QUERY SELECT g.id, o.name, ARRAY(SELECT s.name FROM spaces s WHERE s.org_id = o.id ORDER BY 1), g.role, g.actor,
    g.agent, g.user_id, g.project, g.workflow, g.agent_role, g.tiers, g.expires_at
  FROM orgs o WHERE o.id = g.org_id;
END $$;
ALTER FUNCTION afterword.use_grant() OWNER TO afterword_owner;
CREATE FUNCTION afterword.view_drop(dropped uuid) RETURNS TABLE(id uuid, run_id uuid, rule text, confidence double precision, threshold double precision, kind text, content text, rationale text, evidence jsonb, subject_type text, subject_id text, provenance jsonb, sampled boolean, answer text, at timestamp with time zone, expires_at timestamp with time zone, restored_at timestamp with time zone, restored_by text, erased_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.view_drop(dropped uuid) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.view_memory(memory uuid) RETURNS TABLE(id uuid, status text, kind text, content text, rationale text, evidence jsonb, classes text[], hold_reasons text[], subject_type text, subject_id text, replaces uuid[], provenance jsonb, observed_at timestamp with time zone)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
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
ALTER FUNCTION afterword.view_memory(memory uuid) OWNER TO afterword_verdict;
CREATE FUNCTION afterword.waiver_has_a_reason() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'afterword', 'pg_temp'
    AS $$
DECLARE
  before jsonb := CASE WHEN TG_OP = 'UPDATE' THEN coalesce(OLD.settings -> 'waived_classes', '{}') ELSE '{}' END;
BEGIN
  IF NOT coalesce(NEW.settings -> 'waived_classes', '{}') <@ before AND coalesce(NEW.reason, '') !~ '\S' THEN
    RAISE EXCEPTION 'a waiver needs a reason' USING ERRCODE = 'check_violation', CONSTRAINT = 'waiver_has_a_reason';
  END IF;
  RETURN NEW;
END $$;
ALTER FUNCTION afterword.waiver_has_a_reason() OWNER TO afterword_owner;
CREATE FUNCTION afterword.words_asked(query text) RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog'
    AS $$
  SELECT array_agg(x.lexeme) FROM (
    SELECT t.lexeme FROM unnest(to_tsvector('english', query)) t ORDER BY t.positions[1], t.lexeme LIMIT 32) x
$$;
ALTER FUNCTION afterword.words_asked(query text) OWNER TO afterword_owner;
CREATE TABLE afterword.calibrations (
    stamp integer NOT NULL,
    side text NOT NULL,
    calibrated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    source text NOT NULL,
    pairs integer NOT NULL,
    seed integer NOT NULL,
    p50 real NOT NULL,
    p90 real NOT NULL,
    p99 real NOT NULL,
    p999 real NOT NULL,
    mean real NOT NULL,
    sd real NOT NULL,
    CONSTRAINT calibrations_check CHECK ((p90 >= p50)),
    CONSTRAINT calibrations_check1 CHECK ((p99 >= p90)),
    CONSTRAINT calibrations_check2 CHECK (((p999 >= p99) AND (p999 < (1.0001)::double precision))),
    CONSTRAINT calibrations_pairs_check CHECK ((pairs > 0)),
    CONSTRAINT calibrations_sd_check CHECK ((sd >= (0)::double precision)),
    CONSTRAINT calibrations_side_check CHECK ((side = ANY (ARRAY['passage'::text, 'query'::text]))),
    CONSTRAINT calibrations_source_check CHECK ((source = ANY (ARRAY['shipped'::text, 'installation'::text])))
);
ALTER TABLE afterword.calibrations OWNER TO afterword_owner;
CREATE VIEW afterword.calibrated WITH (security_invoker='true') AS
 SELECT DISTINCT ON (stamp, side) stamp,
    side,
    calibrated_at,
    source,
    pairs,
    seed,
    p50,
    p90,
    p99,
    p999,
    mean,
    sd
   FROM afterword.calibrations
  ORDER BY stamp, side, calibrated_at DESC;
ALTER VIEW afterword.calibrated OWNER TO afterword_owner;
CREATE TABLE afterword.envelopes (
    run_id uuid NOT NULL,
    org_id integer NOT NULL,
    body jsonb NOT NULL
);
ALTER TABLE ONLY afterword.envelopes ALTER COLUMN body SET STATISTICS 0;
ALTER TABLE ONLY afterword.envelopes FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.envelopes OWNER TO afterword_owner;
CREATE TABLE afterword.erasures (
    id uuid NOT NULL,
    org_id integer NOT NULL,
    hash bytea NOT NULL,
    needles jsonb NOT NULL,
    actor text NOT NULL,
    reason text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    erased jsonb DEFAULT '{}'::jsonb NOT NULL,
    kept jsonb DEFAULT '[]'::jsonb NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT erasures_hash_check CHECK ((length(hash) = 16)),
    CONSTRAINT erasures_reason_check CHECK ((reason ~ '\S'::text))
);
ALTER TABLE ONLY afterword.erasures ALTER COLUMN hash SET STATISTICS 0;
ALTER TABLE ONLY afterword.erasures ALTER COLUMN needles SET STATISTICS 0;
ALTER TABLE ONLY afterword.erasures FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.erasures OWNER TO afterword_owner;
CREATE TABLE afterword.held_rows (
    hold_id uuid NOT NULL,
    org_id integer NOT NULL,
    store text NOT NULL,
    row_id uuid NOT NULL,
    CONSTRAINT held_rows_store_check CHECK ((store = ANY (ARRAY['runs'::text, 'rejected_events'::text])))
);
ALTER TABLE ONLY afterword.held_rows FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.held_rows OWNER TO afterword_owner;
CREATE TABLE afterword.legal_holds (
    id uuid NOT NULL,
    org_id integer NOT NULL,
    hash bytea NOT NULL,
    needles jsonb NOT NULL,
    actor text NOT NULL,
    reason text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    released_by text,
    release_reason text,
    released_at timestamp with time zone,
    CONSTRAINT legal_holds_check CHECK ((((released_at IS NULL) = (released_by IS NULL)) AND ((released_at IS NULL) = (release_reason IS NULL)))),
    CONSTRAINT legal_holds_hash_check CHECK ((length(hash) = 16)),
    CONSTRAINT legal_holds_reason_check CHECK ((reason ~ '\S'::text))
);
ALTER TABLE ONLY afterword.legal_holds ALTER COLUMN hash SET STATISTICS 0;
ALTER TABLE ONLY afterword.legal_holds ALTER COLUMN needles SET STATISTICS 0;
ALTER TABLE ONLY afterword.legal_holds FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.legal_holds OWNER TO afterword_owner;
CREATE VIEW afterword.held_now AS
 SELECT h.row_id
   FROM (afterword.held_rows h
     JOIN afterword.legal_holds l ON ((l.id = h.hold_id)))
  WHERE (l.released_at IS NULL);
ALTER VIEW afterword.held_now OWNER TO afterword_eraser;
CREATE TABLE afterword.installation (
    single boolean DEFAULT true NOT NULL,
    key_check bytea NOT NULL,
    CONSTRAINT installation_key_check_check CHECK ((length(key_check) = 32)),
    CONSTRAINT installation_single_check CHECK (single)
);
ALTER TABLE ONLY afterword.installation FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.installation OWNER TO afterword_owner;
CREATE TABLE afterword.ledger (
    id bigint NOT NULL,
    transaction xid8 DEFAULT pg_current_xact_id() NOT NULL,
    org_id integer,
    subject_kind text NOT NULL,
    subject_id text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    payload_hash bytea,
    hash bytea GENERATED ALWAYS AS (afterword.ledger_hash(id, transaction, org_id, subject_kind, subject_id, at, actor, action, detail, payload_hash)) STORED NOT NULL,
    CONSTRAINT ledger_unambiguous CHECK ((strpos((((subject_kind || subject_id) || actor) || action), ''::text) = 0))
);
ALTER TABLE ONLY afterword.ledger FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.ledger OWNER TO afterword_owner;
ALTER TABLE afterword.ledger ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME afterword.ledger_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE afterword.memory_moves (
    from_status text NOT NULL,
    to_status text NOT NULL
);
ALTER TABLE afterword.memory_moves OWNER TO afterword_owner;
CREATE TABLE afterword.migrations (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE afterword.migrations OWNER TO afterword_owner;
CREATE TABLE afterword.model_calls (
    id uuid NOT NULL,
    org_id integer NOT NULL,
    run_id uuid,
    purpose text NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    answered_by text,
    endpoint_class text NOT NULL,
    prompt_revision text NOT NULL,
    reserved_input integer NOT NULL,
    reserved_output integer NOT NULL,
    reserved_cost numeric(16,8),
    input_tokens integer,
    output_tokens integer,
    cost numeric(16,8),
    latency_seconds real,
    outcome text DEFAULT 'reserved'::text NOT NULL,
    reserved_at timestamp with time zone DEFAULT now() NOT NULL,
    settled_at timestamp with time zone,
    tokens_counted bigint GENERATED ALWAYS AS (COALESCE(((input_tokens)::bigint + output_tokens), ((reserved_input)::bigint + reserved_output))) STORED NOT NULL,
    cost_counted numeric(16,8) GENERATED ALWAYS AS (
CASE
    WHEN (input_tokens IS NULL) THEN reserved_cost
    ELSE cost
END) STORED,
    CONSTRAINT a_cost_is_of_tokens CHECK (((cost IS NULL) OR (input_tokens IS NOT NULL))),
    CONSTRAINT an_extraction_has_its_run CHECK (((purpose <> 'extraction'::text) OR (run_id IS NOT NULL))),
    CONSTRAINT model_calls_cost_check CHECK ((cost >= (0)::numeric)),
    CONSTRAINT model_calls_endpoint_class_check CHECK ((endpoint_class = ANY (ARRAY['local'::text, 'private'::text, 'cloud'::text]))),
    CONSTRAINT model_calls_input_tokens_check CHECK ((input_tokens >= 0)),
    CONSTRAINT model_calls_outcome_check CHECK ((outcome = ANY (ARRAY['reserved'::text, 'answered'::text, 'refused'::text, 'unavailable'::text, 'timed_out'::text, 'lost'::text]))),
    CONSTRAINT model_calls_output_tokens_check CHECK ((output_tokens >= 0)),
    CONSTRAINT model_calls_purpose_check CHECK ((purpose = ANY (ARRAY['extraction'::text, 'trial'::text, 'comparison'::text, 'contribute'::text, 'compaction'::text, 'mining'::text, 'amendment'::text]))),
    CONSTRAINT model_calls_reserved_cost_check CHECK ((reserved_cost >= (0)::numeric)),
    CONSTRAINT model_calls_reserved_input_check CHECK ((reserved_input >= 0)),
    CONSTRAINT model_calls_reserved_output_check CHECK ((reserved_output >= 0)),
    CONSTRAINT settled_has_its_time CHECK (((outcome = 'reserved'::text) = (settled_at IS NULL))),
    CONSTRAINT tokens_of_both_directions CHECK (((input_tokens IS NULL) = (output_tokens IS NULL)))
);
ALTER TABLE ONLY afterword.model_calls FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.model_calls OWNER TO afterword_owner;
CREATE TABLE afterword.namespaces (
    org_id integer NOT NULL,
    name text NOT NULL,
    scope_kind text DEFAULT 'org'::text NOT NULL,
    scope_value text,
    path text DEFAULT ''::text NOT NULL,
    title text DEFAULT ''::text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    preamble text DEFAULT ''::text NOT NULL,
    agents text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT namespace_scope_complete CHECK (((scope_value IS NULL) = (scope_kind = 'org'::text))),
    CONSTRAINT namespaces_name_check CHECK ((name <> ''::text)),
    CONSTRAINT namespaces_preamble_check CHECK ((length(preamble) <= 4000)),
    CONSTRAINT namespaces_scope_kind_check CHECK ((scope_kind = ANY (ARRAY['org'::text, 'user'::text, 'agent'::text, 'project'::text, 'workflow'::text, 'object'::text])))
);
ALTER TABLE ONLY afterword.namespaces FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.namespaces OWNER TO afterword_owner;
CREATE TABLE afterword.occurrences (
    memory_id uuid NOT NULL,
    repeat_id uuid NOT NULL,
    org_id integer NOT NULL,
    similarity text NOT NULL,
    score real,
    at timestamp with time zone DEFAULT now() NOT NULL,
    undone_at timestamp with time zone,
    undone_by text,
    CONSTRAINT occurrences_similarity_check CHECK ((similarity = ANY (ARRAY['exact'::text, 'lexical'::text, 'cosine'::text]))),
    CONSTRAINT undone_by_somebody CHECK (((undone_at IS NULL) = (undone_by IS NULL)))
);
ALTER TABLE ONLY afterword.occurrences FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.occurrences OWNER TO afterword_owner;
CREATE TABLE afterword.org_search (
    org_id integer NOT NULL,
    stamp integer NOT NULL,
    ann boolean DEFAULT false NOT NULL,
    embedded integer DEFAULT 0 NOT NULL,
    missing integer DEFAULT 0 NOT NULL,
    counted_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE ONLY afterword.org_search FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.org_search OWNER TO afterword_owner;
CREATE TABLE afterword.orgs (
    id integer NOT NULL,
    name text NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    actor text DEFAULT SESSION_USER NOT NULL,
    reason text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT a_budget_is_a_number CHECK (((COALESCE(jsonb_typeof((settings -> 'budget_tokens_a_day'::text)), 'null'::text) = ANY (ARRAY['number'::text, 'null'::text])) AND (COALESCE(jsonb_typeof((settings -> 'budget_usd_a_day'::text)), 'null'::text) = ANY (ARRAY['number'::text, 'null'::text])) AND (NOT jsonb_path_exists(settings, '$.*?(@.type() == "number" && @ < 0)'::jsonpath)))),
    CONSTRAINT activatable_is_low CHECK ((COALESCE((settings -> 'activatable_classes'::text), '[]'::jsonb) <@ '["phone", "ip", "person", "dob", "address"]'::jsonb)),
    CONSTRAINT consolidation_is_known CHECK ((COALESCE((settings -> 'consolidation'::text), '[]'::jsonb) <@ '["near_duplicates", "model", "compaction", "mining", "amendment"]'::jsonb)),
    CONSTRAINT orgs_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9_.-]{0,99}$'::text)),
    CONSTRAINT orgs_settings_check CHECK ((((settings - '{extraction,languages,required_classes,waived_classes,activatable_classes,retention,budget_tokens_a_day,budget_usd_a_day,endpoint_classes,turns,consolidation}'::text[]) = '{}'::jsonb) AND ((settings -> 'languages'::text) IS DISTINCT FROM '[]'::jsonb))),
    CONSTRAINT retention_floor CHECK ((NOT jsonb_path_exists(settings, 'strict $."retention".*?(((@.type() != "number" || @ < 30) || @ > 3650) || @.floor() != @)'::jsonpath, silent => true))),
    CONSTRAINT retention_is_known CHECK (((jsonb_typeof(COALESCE((settings -> 'retention'::text), '{}'::jsonb)) = 'object'::text) AND ((COALESCE((settings -> 'retention'::text), '{}'::jsonb) - '{facts,preferences,rules,turns,transcripts,drops,recalls,outcomes}'::text[]) = '{}'::jsonb))),
    CONSTRAINT waivers_are_named CHECK (((jsonb_typeof(COALESCE((settings -> 'waived_classes'::text), '{}'::jsonb)) = 'object'::text) AND (NOT jsonb_path_exists(settings, 'strict $."waived_classes".*?(@.type() != "string" || !(@ like_regex "\\S"))'::jsonpath, silent => true))))
);
ALTER TABLE afterword.orgs OWNER TO afterword_owner;
ALTER TABLE afterword.orgs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME afterword.orgs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE afterword.outcomes (
    id uuid DEFAULT uuidv7() NOT NULL,
    org_id integer NOT NULL,
    kind text NOT NULL,
    memory_id uuid,
    review_id uuid,
    verdict text,
    confidence real,
    eval_run text,
    score real,
    agent text,
    workflow text,
    namespace text,
    comment text,
    actor text NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT outcome_says_what CHECK (
CASE kind
    WHEN 'verdict'::text THEN ((verdict IS NOT NULL) AND (review_id IS NOT NULL))
    WHEN 'eval'::text THEN ((eval_run IS NOT NULL) AND (score IS NOT NULL))
    ELSE (score IS NOT NULL)
END),
    CONSTRAINT outcomes_agent_check CHECK ((length(agent) <= 200)),
    CONSTRAINT outcomes_comment_check CHECK ((length(comment) <= 2000)),
    CONSTRAINT outcomes_eval_run_check CHECK ((length(eval_run) <= 200)),
    CONSTRAINT outcomes_kind_check CHECK ((kind = ANY (ARRAY['verdict'::text, 'eval'::text, 'rating'::text]))),
    CONSTRAINT outcomes_score_check CHECK (((score >= (0)::double precision) AND (score <= (1)::double precision))),
    CONSTRAINT outcomes_verdict_check CHECK ((verdict = ANY (ARRAY['approve'::text, 'redirect'::text, 'reject'::text, 'correct'::text, 'forget'::text, 'restore'::text]))),
    CONSTRAINT outcomes_workflow_check CHECK ((length(workflow) <= 200))
);
ALTER TABLE ONLY afterword.outcomes ALTER COLUMN eval_run SET STATISTICS 0;
ALTER TABLE ONLY afterword.outcomes ALTER COLUMN agent SET STATISTICS 0;
ALTER TABLE ONLY afterword.outcomes ALTER COLUMN workflow SET STATISTICS 0;
ALTER TABLE ONLY afterword.outcomes ALTER COLUMN comment SET STATISTICS 0;
ALTER TABLE ONLY afterword.outcomes FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.outcomes OWNER TO afterword_owner;
CREATE SEQUENCE afterword.outcomes_lost
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE afterword.outcomes_lost OWNER TO afterword_owner;
CREATE TABLE afterword.pass_cursors (
    org_id integer NOT NULL,
    pass text NOT NULL,
    after uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    ran_at timestamp with time zone,
    CONSTRAINT pass_cursors_pass_check CHECK ((pass = ANY (ARRAY['compaction'::text, 'mining'::text, 'amendment'::text])))
);
ALTER TABLE ONLY afterword.pass_cursors FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.pass_cursors OWNER TO afterword_owner;
CREATE TABLE afterword.recalls (
    id uuid NOT NULL,
    org_id integer NOT NULL,
    token_id uuid NOT NULL,
    actor text NOT NULL,
    agent text,
    project text,
    at timestamp with time zone DEFAULT now() NOT NULL,
    mode text NOT NULL,
    as_of timestamp with time zone,
    request jsonb DEFAULT '{}'::jsonb NOT NULL,
    hits jsonb NOT NULL,
    candidates integer DEFAULT 0 NOT NULL,
    passed_over jsonb DEFAULT '[]'::jsonb NOT NULL,
    excluded jsonb NOT NULL,
    block_hash bytea,
    shown uuid[],
    rendered_at timestamp with time zone,
    CONSTRAINT recalls_block_hash_check CHECK ((length(block_hash) = 32)),
    CONSTRAINT recalls_mode_check CHECK ((mode = ANY (ARRAY['hybrid'::text, 'lexical'::text, 'vector'::text, 'newest'::text, 'digest'::text])))
);
ALTER TABLE ONLY afterword.recalls ALTER COLUMN hits SET STATISTICS 0;
ALTER TABLE ONLY afterword.recalls ALTER COLUMN passed_over SET STATISTICS 0;
ALTER TABLE ONLY afterword.recalls FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.recalls OWNER TO afterword_owner;
CREATE TABLE afterword.rejected_events (
    id uuid NOT NULL,
    entry_id text,
    reason text NOT NULL,
    detail text NOT NULL,
    body bytea NOT NULL,
    deliveries integer DEFAULT 1 NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    purge_after timestamp with time zone NOT NULL,
    tried_at timestamp with time zone,
    replayed_at timestamp with time zone
);
ALTER TABLE ONLY afterword.rejected_events ALTER COLUMN detail SET STATISTICS 0;
ALTER TABLE ONLY afterword.rejected_events ALTER COLUMN body SET STATISTICS 0;
ALTER TABLE ONLY afterword.rejected_events FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.rejected_events OWNER TO afterword_owner;
CREATE TABLE afterword.reviews (
    id uuid NOT NULL,
    org_id integer NOT NULL,
    memory_id uuid,
    drop_id uuid,
    kind text NOT NULL,
    reasons text[] NOT NULL,
    opened_at timestamp with time zone DEFAULT now() NOT NULL,
    closed_at timestamp with time zone,
    decision text,
    decided_by text,
    comment text,
    cites uuid,
    is_open boolean GENERATED ALWAYS AS ((closed_at IS NULL)) STORED,
    holds boolean GENERATED ALWAYS AS (
CASE
    WHEN ((kind = 'hold'::text) AND (closed_at IS NULL)) THEN true
    ELSE NULL::boolean
END) STORED,
    waits boolean GENERATED ALWAYS AS (
CASE
    WHEN (closed_at IS NULL) THEN true
    ELSE NULL::boolean
END) STORED,
    CONSTRAINT about_a_memory_or_a_drop CHECK ((((kind = 'drop'::text) = (drop_id IS NOT NULL)) AND ((kind = 'drop'::text) = (memory_id IS NULL)))),
    CONSTRAINT only_drops_are_restored CHECK (((decision <> 'restore'::text) OR (kind = 'drop'::text))),
    CONSTRAINT reviews_check CHECK ((((closed_at IS NULL) = (decision IS NULL)) AND ((decision IS NULL) = (decided_by IS NULL)))),
    CONSTRAINT reviews_decision_check CHECK ((decision = ANY (ARRAY['approve'::text, 'redirect'::text, 'reject'::text, 'correct'::text, 'forget'::text, 'restore'::text, 'voided'::text]))),
    CONSTRAINT reviews_kind_check CHECK ((kind = ANY (ARRAY['hold'::text, 'retire'::text, 'audit'::text, 'amend'::text, 'drop'::text, 'renew'::text]))),
    CONSTRAINT reviews_reasons_check CHECK ((cardinality(reasons) > 0))
);
ALTER TABLE ONLY afterword.reviews ALTER COLUMN comment SET STATISTICS 0;
ALTER TABLE ONLY afterword.reviews FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.reviews OWNER TO afterword_owner;
CREATE TABLE afterword.runs (
    id uuid NOT NULL,
    org_id integer NOT NULL,
    kind text NOT NULL,
    state text NOT NULL,
    event_key text NOT NULL,
    content_hash bytea NOT NULL,
    session text NOT NULL,
    agent text NOT NULL,
    project text,
    user_id text,
    event jsonb NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    turns integer DEFAULT 0 NOT NULL,
    first_own integer DEFAULT 0 NOT NULL,
    memory_id uuid,
    drop_id uuid,
    due_at timestamp with time zone DEFAULT now(),
    lease uuid,
    attempts smallint DEFAULT 0 NOT NULL,
    lease_losses smallint DEFAULT 0 NOT NULL,
    replays smallint DEFAULT 0 NOT NULL,
    replay_id uuid,
    died_in text,
    error_code text,
    error_detail text,
    skip_reason text,
    actor text DEFAULT SESSION_USER NOT NULL,
    reason text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    state_at timestamp with time zone DEFAULT now() NOT NULL,
    erased_at timestamp with time zone,
    CONSTRAINT runs_check CHECK ((num_nonnulls(memory_id, drop_id) = ((kind = 'verdict'::text))::integer)),
    CONSTRAINT runs_check1 CHECK (((due_at IS NULL) = (state = ANY (ARRAY['consolidated'::text, 'skipped'::text, 'dead_letter'::text])))),
    CONSTRAINT runs_check2 CHECK (((lease IS NULL) OR (due_at IS NOT NULL))),
    CONSTRAINT runs_check3 CHECK (((died_in IS NOT NULL) = (state = 'dead_letter'::text))),
    CONSTRAINT runs_check4 CHECK (((state = 'dead_letter'::text) <= (error_code IS NOT NULL))),
    CONSTRAINT runs_check5 CHECK (((skip_reason IS NOT NULL) = (state = 'skipped'::text))),
    CONSTRAINT runs_first_own_check CHECK ((first_own >= 0)),
    CONSTRAINT runs_kind_check CHECK ((kind = ANY (ARRAY['session'::text, 'proposal'::text, 'note'::text, 'verdict'::text, 'reextract'::text]))),
    CONSTRAINT runs_state_check CHECK ((state = ANY (ARRAY['received'::text, 'extracted'::text, 'redacted'::text, 'embedded'::text, 'consolidated'::text, 'skipped'::text, 'dead_letter'::text])))
);
ALTER TABLE ONLY afterword.runs ALTER COLUMN event_key SET STATISTICS 0;
ALTER TABLE ONLY afterword.runs ALTER COLUMN content_hash SET STATISTICS 0;
ALTER TABLE ONLY afterword.runs ALTER COLUMN session SET STATISTICS 0;
ALTER TABLE ONLY afterword.runs ALTER COLUMN agent SET STATISTICS 0;
ALTER TABLE ONLY afterword.runs ALTER COLUMN project SET STATISTICS 0;
ALTER TABLE ONLY afterword.runs ALTER COLUMN user_id SET STATISTICS 0;
ALTER TABLE ONLY afterword.runs ALTER COLUMN event SET STATISTICS 0;
ALTER TABLE ONLY afterword.runs ALTER COLUMN error_detail SET STATISTICS 0;
ALTER TABLE ONLY afterword.runs FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.runs OWNER TO afterword_owner;
CREATE TABLE afterword.transcripts (
    run_id uuid NOT NULL,
    org_id integer NOT NULL,
    body bytea NOT NULL,
    turns integer NOT NULL,
    purge_after timestamp with time zone NOT NULL,
    detectors text
);
ALTER TABLE ONLY afterword.transcripts ALTER COLUMN body SET STATISTICS 0;
ALTER TABLE ONLY afterword.transcripts ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE ONLY afterword.transcripts FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.transcripts OWNER TO afterword_owner;
CREATE VIEW afterword.past_date WITH (security_barrier='true') AS
 SELECT 'transcripts'::text AS store,
    t.org_id,
    t.run_id AS id,
    t.purge_after AS since,
    (t.run_id IN ( SELECT held_now.row_id
           FROM afterword.held_now)) AS held
   FROM afterword.transcripts t
  WHERE (t.purge_after <= now())
UNION ALL
 SELECT 'envelopes'::text AS store,
    e.org_id,
    e.run_id AS id,
    (r.state_at + make_interval(days => afterword.retention_days(e.org_id, 'transcripts'::text))) AS since,
    (e.run_id IN ( SELECT held_now.row_id
           FROM afterword.held_now)) AS held
   FROM (afterword.envelopes e
     JOIN afterword.runs r ON ((r.id = e.run_id)))
  WHERE ((r.state = 'dead_letter'::text) AND ((r.state_at + make_interval(days => afterword.retention_days(e.org_id, 'transcripts'::text))) <= now()))
UNION ALL
 SELECT 'rejected_events'::text AS store,
    NULL::integer AS org_id,
    x.id,
    x.purge_after AS since,
    (x.id IN ( SELECT held_now.row_id
           FROM afterword.held_now)) AS held
   FROM afterword.rejected_events x
  WHERE (x.purge_after <= now())
UNION ALL
 SELECT 'drops'::text AS store,
    d.org_id,
    d.id,
    d.expires_at AS since,
    (d.run_id IN ( SELECT held_now.row_id
           FROM afterword.held_now)) AS held
   FROM afterword.drops d
  WHERE ((d.expires_at <= now()) AND (d.erased_at IS NULL))
UNION ALL
 SELECT 'expired'::text AS store,
    m.org_id,
    m.id,
    (m.expires_at + '7 days'::interval) AS since,
    (m.run_id IN ( SELECT held_now.row_id
           FROM afterword.held_now)) AS held
   FROM afterword.memories m
  WHERE ((m.expires_at <= (now() - '7 days'::interval)) AND (m.erased_at IS NULL) AND (NOT ((m.kind = 'rule'::text) AND (m.status = 'active'::text))))
UNION ALL
 SELECT 'forgotten'::text AS store,
    m.org_id,
    m.id,
    m.purge_after AS since,
    (m.run_id IN ( SELECT held_now.row_id
           FROM afterword.held_now)) AS held
   FROM afterword.memories m
  WHERE ((m.purge_after <= now()) AND (m.erased_at IS NULL) AND (m.expires_at > (now() - '7 days'::interval)))
UNION ALL
 SELECT 'recalls'::text AS store,
    r.org_id,
    r.id,
    (r.at + make_interval(days => o.days)) AS since,
    false AS held
   FROM (( SELECT orgs.id,
            afterword.retention_days(orgs.id, 'recalls'::text) AS days
           FROM afterword.orgs) o
     JOIN afterword.recalls r ON (((r.org_id = o.id) AND (r.at <= (now() - make_interval(days => o.days))))))
UNION ALL
 SELECT 'outcomes'::text AS store,
    o.org_id,
    o.id,
    o.expires_at AS since,
    (EXISTS ( SELECT
           FROM afterword.memories m
          WHERE ((m.id = o.memory_id) AND (m.run_id IN ( SELECT held_now.row_id
                   FROM afterword.held_now))))) AS held
   FROM afterword.outcomes o
  WHERE (o.expires_at <= now())
UNION ALL
 SELECT 'tokens'::text AS store,
    t.org_id,
    t.id,
    (t.expires_at + '1 day'::interval) AS since,
    false AS held
   FROM afterword.tokens t
  WHERE (t.expires_at <= (now() - '1 day'::interval))
UNION ALL
 SELECT 'renewals'::text AS store,
    m.org_id,
    m.id,
    m.expires_at AS since,
    false AS held
   FROM afterword.memories m
  WHERE ((m.expires_at <= now()) AND (m.erased_at IS NULL) AND (m.kind = 'rule'::text) AND (m.status = 'active'::text) AND (NOT (EXISTS ( SELECT
           FROM afterword.reviews r
          WHERE ((r.memory_id = m.id) AND (r.kind = 'renew'::text) AND (r.closed_at IS NULL))))));
ALTER VIEW afterword.past_date OWNER TO afterword_eraser;
CREATE TABLE afterword.payloads (
    org_id integer NOT NULL,
    entry_id bigint NOT NULL,
    key bytea NOT NULL,
    content jsonb NOT NULL,
    detectors text,
    CONSTRAINT payloads_key_check CHECK ((length(key) = 32))
);
ALTER TABLE ONLY afterword.payloads ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE ONLY afterword.payloads ALTER COLUMN content SET STATISTICS 0;
ALTER TABLE ONLY afterword.payloads FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.payloads OWNER TO afterword_owner;
CREATE VIEW afterword.promptable WITH (security_barrier='true') AS
 SELECT id,
    tier,
    kind,
    namespace,
    scope_kind,
    scope_value,
    content,
    author_kind,
    author,
    subject_type,
    subject_id,
    importance,
    occurrences,
    observed_at,
    valid_from,
    expires_at
   FROM afterword.memories m
  WHERE ((org_id = ( SELECT current_grant.org_id
           FROM afterword.current_grant() current_grant(id, hash, org_id, role, actor, agent, user_id, project, workflow, agent_role, tiers, created_at, expires_at, revoked_at, last_used_at, replaced_by))) AND (status = 'active'::text) AND ((kind = 'rule'::text) OR (expires_at > now())) AND (erased_at IS NULL) AND (tier IN ( SELECT unnest(current_grant.tiers) AS unnest
           FROM afterword.current_grant() current_grant(id, hash, org_id, role, actor, agent, user_id, project, workflow, agent_role, tiers, created_at, expires_at, revoked_at, last_used_at, replaced_by))) AND ((scope_kind = 'org'::text) OR ((scope_kind = 'user'::text) AND (scope_value = ( SELECT current_grant.user_id
           FROM afterword.current_grant() current_grant(id, hash, org_id, role, actor, agent, user_id, project, workflow, agent_role, tiers, created_at, expires_at, revoked_at, last_used_at, replaced_by)))) OR ((scope_kind = 'agent'::text) AND (scope_value = ( SELECT current_grant.agent
           FROM afterword.current_grant() current_grant(id, hash, org_id, role, actor, agent, user_id, project, workflow, agent_role, tiers, created_at, expires_at, revoked_at, last_used_at, replaced_by)))) OR ((scope_kind = 'project'::text) AND (scope_value = ( SELECT current_grant.project
           FROM afterword.current_grant() current_grant(id, hash, org_id, role, actor, agent, user_id, project, workflow, agent_role, tiers, created_at, expires_at, revoked_at, last_used_at, replaced_by)))) OR ((scope_kind = 'workflow'::text) AND (scope_value = ( SELECT current_grant.workflow
           FROM afterword.current_grant() current_grant(id, hash, org_id, role, actor, agent, user_id, project, workflow, agent_role, tiers, created_at, expires_at, revoked_at, last_used_at, replaced_by))))));
ALTER VIEW afterword.promptable OWNER TO afterword_recall;
CREATE TABLE afterword.reclassifications (
    id uuid NOT NULL,
    kind text NOT NULL,
    org_id integer,
    since timestamp with time zone,
    dry_run boolean DEFAULT false NOT NULL,
    actor text NOT NULL,
    reason text NOT NULL,
    rate_per_second real NOT NULL,
    requested_at timestamp with time zone DEFAULT now() NOT NULL,
    status text DEFAULT 'requested'::text NOT NULL,
    store text DEFAULT 'memories'::text NOT NULL,
    after text,
    passes smallint DEFAULT 0 NOT NULL,
    counts jsonb DEFAULT '{}'::jsonb NOT NULL,
    detectors text,
    looked_at timestamp with time zone,
    finished_at timestamp with time zone,
    plan_digest bytea,
    plan_id uuid,
    planned_by text,
    confirmed_digest bytea,
    CONSTRAINT an_application_confirms_a_plan CHECK ((num_nonnulls(plan_id, planned_by, confirmed_digest) =
CASE kind
    WHEN 'apply'::text THEN 3
    ELSE 0
END)),
    CONSTRAINT reclassifications_actor_check CHECK ((actor ~ '\S'::text)),
    CONSTRAINT reclassifications_check CHECK (((NOT dry_run) OR (kind = 'rescan'::text))),
    CONSTRAINT reclassifications_check1 CHECK (((finished_at IS NOT NULL) = (status = ANY (ARRAY['finished'::text, 'stopped'::text])))),
    CONSTRAINT reclassifications_check2 CHECK (((plan_digest IS NULL) OR ((kind = 'reevaluate'::text) AND (status = 'finished'::text)))),
    CONSTRAINT reclassifications_kind_check CHECK ((kind = ANY (ARRAY['rescan'::text, 'reevaluate'::text, 'apply'::text]))),
    CONSTRAINT reclassifications_rate_per_second_check CHECK (((rate_per_second > (0)::double precision) AND (rate_per_second < 'Infinity'::real))),
    CONSTRAINT reclassifications_reason_check CHECK ((reason ~ '\S'::text)),
    CONSTRAINT reclassifications_status_check CHECK ((status = ANY (ARRAY['requested'::text, 'running'::text, 'finished'::text, 'stopped'::text]))),
    CONSTRAINT two_people CHECK (((kind <> 'apply'::text) OR (lower(btrim(actor)) <> lower(btrim(planned_by)))))
);
ALTER TABLE ONLY afterword.reclassifications FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.reclassifications OWNER TO afterword_owner;
CREATE TABLE afterword.reclassified (
    reclassification_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    org_id integer NOT NULL,
    revision integer NOT NULL,
    status text NOT NULL,
    move text NOT NULL,
    classes_before text[] NOT NULL,
    classes text[] NOT NULL,
    reasons_before text[] NOT NULL,
    reasons text[] NOT NULL,
    CONSTRAINT reclassified_move_check CHECK ((move = ANY (ARRAY['note'::text, 'hold'::text, 'revise'::text, 'release'::text, 'erase'::text])))
);
ALTER TABLE ONLY afterword.reclassified FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.reclassified OWNER TO afterword_owner;
CREATE TABLE afterword.replayed_runs (
    replay_id uuid NOT NULL,
    run_id uuid NOT NULL,
    code text NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE afterword.replayed_runs OWNER TO afterword_owner;
CREATE TABLE afterword.replays (
    id uuid NOT NULL,
    selector jsonb NOT NULL,
    actor text NOT NULL,
    reason text NOT NULL,
    rate_per_second real NOT NULL,
    cap integer NOT NULL,
    force boolean DEFAULT false NOT NULL,
    requested_at timestamp with time zone DEFAULT now() NOT NULL,
    status text DEFAULT 'requested'::text NOT NULL,
    rearmed integer DEFAULT 0 NOT NULL,
    refused integer DEFAULT 0 NOT NULL,
    died_again integer DEFAULT 0 NOT NULL,
    last_at timestamp with time zone,
    looked_at timestamp with time zone,
    finished_at timestamp with time zone,
    CONSTRAINT replays_cap_check CHECK ((cap > 0)),
    CONSTRAINT replays_check CHECK (((finished_at IS NOT NULL) = (status = ANY (ARRAY['finished'::text, 'stopped'::text])))),
    CONSTRAINT replays_rate_per_second_check CHECK (((rate_per_second > (0)::double precision) AND (rate_per_second < 'Infinity'::real))),
    CONSTRAINT replays_reason_check CHECK ((reason <> ''::text)),
    CONSTRAINT replays_selector CHECK (((jsonb_typeof(selector) = 'object'::text) AND ((selector - '{run,code,org,since,rejected}'::text[]) = '{}'::jsonb) AND (NOT jsonb_path_exists(selector, '$.*?(@.type() != "string")'::jsonpath)) AND (num_nulls(((selector ->> 'run'::text))::uuid, ((selector ->> 'since'::text))::timestamp with time zone) >= 0))),
    CONSTRAINT replays_status_check CHECK ((status = ANY (ARRAY['requested'::text, 'running'::text, 'finished'::text, 'stopped'::text])))
);
ALTER TABLE afterword.replays OWNER TO afterword_owner;
CREATE TABLE afterword.retention_defaults (
    name text NOT NULL,
    days integer NOT NULL,
    by_org boolean NOT NULL,
    CONSTRAINT retention_defaults_days_check CHECK ((days > 0))
);
ALTER TABLE afterword.retention_defaults OWNER TO afterword_owner;
CREATE TABLE afterword.run_entries (
    kind text NOT NULL,
    state text NOT NULL
);
ALTER TABLE afterword.run_entries OWNER TO afterword_owner;
CREATE TABLE afterword.run_moves (
    from_state text NOT NULL,
    to_state text NOT NULL
);
ALTER TABLE afterword.run_moves OWNER TO afterword_owner;
CREATE TABLE afterword.run_subjects (
    org_id integer NOT NULL,
    hash bytea NOT NULL,
    run_id uuid NOT NULL,
    memory_id uuid,
    CONSTRAINT run_subjects_hash_check CHECK ((length(hash) = 16))
);
ALTER TABLE ONLY afterword.run_subjects ALTER COLUMN hash SET STATISTICS 0;
ALTER TABLE ONLY afterword.run_subjects FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.run_subjects OWNER TO afterword_owner;
CREATE TABLE afterword.seals (
    id bigint NOT NULL,
    previous bigint,
    below xid8 NOT NULL,
    entries bigint NOT NULL,
    total bigint NOT NULL,
    hash bytea NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT seals_entries_check CHECK ((entries > 0)),
    CONSTRAINT seals_hash_check CHECK ((length(hash) = 32))
);
ALTER TABLE afterword.seals OWNER TO afterword_owner;
ALTER TABLE afterword.seals ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME afterword.seals_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE afterword.spaces (
    org_id integer NOT NULL,
    name text NOT NULL,
    tier text NOT NULL,
    CONSTRAINT spaces_name_check CHECK ((name <> ''::text)),
    CONSTRAINT spaces_tier_check CHECK ((tier = ANY (ARRAY['semantic'::text, 'episodic'::text])))
);
ALTER TABLE ONLY afterword.spaces FORCE ROW LEVEL SECURITY;
ALTER TABLE afterword.spaces OWNER TO afterword_owner;
CREATE TABLE afterword.stamps (
    id integer NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    revision text NOT NULL,
    dimension integer NOT NULL,
    is_current boolean DEFAULT false NOT NULL,
    indexed bigint DEFAULT 0 NOT NULL,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT stamps_dimension_check CHECK (((dimension >= 1) AND (dimension <= 16000)))
);
ALTER TABLE afterword.stamps OWNER TO afterword_owner;
ALTER TABLE afterword.stamps ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME afterword.stamps_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY afterword.calibrations
    ADD CONSTRAINT calibrations_pkey PRIMARY KEY (stamp, side, calibrated_at);
ALTER TABLE ONLY afterword.drops
    ADD CONSTRAINT drops_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.envelopes
    ADD CONSTRAINT envelopes_pkey PRIMARY KEY (run_id);
ALTER TABLE ONLY afterword.erasures
    ADD CONSTRAINT erasures_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.held_rows
    ADD CONSTRAINT held_rows_pkey PRIMARY KEY (row_id, hold_id);
ALTER TABLE ONLY afterword.installation
    ADD CONSTRAINT installation_pkey PRIMARY KEY (single);
ALTER TABLE ONLY afterword.ledger
    ADD CONSTRAINT ledger_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.legal_holds
    ADD CONSTRAINT legal_holds_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.memories
    ADD CONSTRAINT memories_held UNIQUE (id, held);
ALTER TABLE ONLY afterword.memories
    ADD CONSTRAINT memories_live UNIQUE (id, live);
ALTER TABLE ONLY afterword.memories
    ADD CONSTRAINT memories_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.memory_moves
    ADD CONSTRAINT memory_moves_pkey PRIMARY KEY (from_status, to_status);
ALTER TABLE ONLY afterword.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY afterword.model_calls
    ADD CONSTRAINT model_calls_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.namespaces
    ADD CONSTRAINT namespaces_pkey PRIMARY KEY (org_id, name);
ALTER TABLE ONLY afterword.occurrences
    ADD CONSTRAINT occurrences_pkey PRIMARY KEY (repeat_id, memory_id);
ALTER TABLE ONLY afterword.org_search
    ADD CONSTRAINT org_search_pkey PRIMARY KEY (org_id, stamp);
ALTER TABLE ONLY afterword.orgs
    ADD CONSTRAINT orgs_name_key UNIQUE (name);
ALTER TABLE ONLY afterword.orgs
    ADD CONSTRAINT orgs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.outcomes
    ADD CONSTRAINT outcomes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.pass_cursors
    ADD CONSTRAINT pass_cursors_pkey PRIMARY KEY (org_id, pass);
ALTER TABLE ONLY afterword.payloads
    ADD CONSTRAINT payloads_pkey PRIMARY KEY (org_id, entry_id);
ALTER TABLE ONLY afterword.recalls
    ADD CONSTRAINT recalls_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.reclassifications
    ADD CONSTRAINT reclassifications_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.reclassifications
    ADD CONSTRAINT reclassifications_plan UNIQUE (id, actor, plan_digest);
ALTER TABLE ONLY afterword.reclassifications
    ADD CONSTRAINT reclassifications_plan_id_key UNIQUE (plan_id);
ALTER TABLE ONLY afterword.reclassified
    ADD CONSTRAINT reclassified_pkey PRIMARY KEY (reclassification_id, memory_id);
ALTER TABLE ONLY afterword.rejected_events
    ADD CONSTRAINT rejected_events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.replayed_runs
    ADD CONSTRAINT replayed_runs_pkey PRIMARY KEY (replay_id, run_id);
ALTER TABLE ONLY afterword.replays
    ADD CONSTRAINT replays_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.retention_defaults
    ADD CONSTRAINT retention_defaults_pkey PRIMARY KEY (name);
ALTER TABLE ONLY afterword.reviews
    ADD CONSTRAINT reviews_open UNIQUE (memory_id, id, is_open);
ALTER TABLE ONLY afterword.reviews
    ADD CONSTRAINT reviews_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.run_entries
    ADD CONSTRAINT run_entries_pkey PRIMARY KEY (kind, state);
ALTER TABLE ONLY afterword.run_moves
    ADD CONSTRAINT run_moves_pkey PRIMARY KEY (from_state, to_state);
ALTER TABLE ONLY afterword.run_subjects
    ADD CONSTRAINT run_subjects_org_id_hash_run_id_memory_id_key UNIQUE NULLS NOT DISTINCT (org_id, hash, run_id, memory_id);
ALTER TABLE ONLY afterword.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.seals
    ADD CONSTRAINT seals_below_key UNIQUE (below);
ALTER TABLE ONLY afterword.seals
    ADD CONSTRAINT seals_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.seals
    ADD CONSTRAINT seals_previous_key UNIQUE NULLS NOT DISTINCT (previous);
ALTER TABLE ONLY afterword.spaces
    ADD CONSTRAINT spaces_pkey PRIMARY KEY (org_id, name);
ALTER TABLE ONLY afterword.stamps
    ADD CONSTRAINT stamps_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.stamps
    ADD CONSTRAINT stamps_provider_model_revision_dimension_key UNIQUE (provider, model, revision, dimension);
ALTER TABLE ONLY afterword.tokens
    ADD CONSTRAINT tokens_hash_key UNIQUE (hash);
ALTER TABLE ONLY afterword.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY afterword.transcripts
    ADD CONSTRAINT transcripts_pkey PRIMARY KEY (run_id);
CREATE INDEX drops_at ON afterword.drops USING btree (org_id, at);
CREATE INDEX drops_expire ON afterword.drops USING btree (expires_at) WHERE (erased_at IS NULL);
CREATE INDEX drops_run ON afterword.drops USING btree (run_id);
CREATE UNIQUE INDEX erasures_open ON afterword.erasures USING btree (org_id, hash) WHERE (finished_at IS NULL);
CREATE INDEX erasures_org ON afterword.erasures USING btree (org_id, at);
CREATE INDEX ledger_order ON afterword.ledger USING btree (transaction, id);
CREATE INDEX ledger_subject ON afterword.ledger USING btree (subject_id, id);
CREATE UNIQUE INDEX legal_holds_open ON afterword.legal_holds USING btree (org_id, hash) WHERE (released_at IS NULL);
CREATE INDEX memories_expire ON afterword.memories USING btree (expires_at) WHERE (erased_at IS NULL);
CREATE INDEX memories_held_text ON afterword.memories USING gin (afterword.org_words(org_id, lexemes)) WHERE (status = 'pending'::text);
ALTER INDEX afterword.memories_held_text ALTER COLUMN 1 SET STATISTICS 0;
CREATE INDEX memories_newest ON afterword.memories USING btree (org_id, observed_at) WHERE (status = 'active'::text);
CREATE UNIQUE INDEX memories_once ON afterword.memories USING btree (run_id, content_hash) WHERE (status = ANY (ARRAY['pending'::text, 'active'::text]));
CREATE INDEX memories_purge ON afterword.memories USING btree (purge_after) WHERE ((purge_after IS NOT NULL) AND (erased_at IS NULL));
CREATE INDEX memories_refused ON afterword.memories USING btree (org_id, content_hash) WHERE (status = ANY (ARRAY['rejected'::text, 'tombstoned'::text]));
CREATE INDEX memories_refused_text ON afterword.memories USING gin (afterword.org_words(org_id, lexemes)) WHERE (status = ANY (ARRAY['rejected'::text, 'tombstoned'::text]));
ALTER INDEX afterword.memories_refused_text ALTER COLUMN 1 SET STATISTICS 0;
CREATE INDEX memories_renew ON afterword.memories USING btree (expires_at) WHERE ((kind = 'rule'::text) AND (status = 'active'::text) AND (erased_at IS NULL));
CREATE INDEX memories_repeat ON afterword.memories USING btree (org_id, content_hash) WHERE (status = ANY (ARRAY['pending'::text, 'active'::text]));
CREATE INDEX memories_replaces ON afterword.memories USING gin (replaces) WHERE (replaces <> '{}'::uuid[]);
CREATE INDEX memories_rules ON afterword.memories USING btree (org_id, namespace, id) WHERE ((kind = 'rule'::text) AND (status = 'active'::text) AND (erased_at IS NULL));
CREATE INDEX memories_run ON afterword.memories USING btree (run_id);
CREATE INDEX memories_search ON afterword.memories USING gin (afterword.org_words(org_id, lexemes)) WHERE (status = ANY (ARRAY['active'::text, 'superseded'::text]));
ALTER INDEX afterword.memories_search ALTER COLUMN 1 SET STATISTICS 0;
CREATE INDEX memories_status ON afterword.memories USING btree (status);
CREATE INDEX memories_turns ON afterword.memories USING btree (run_id, afterword.turn_number(evidence)) WHERE (kind = 'turn'::text);
CREATE INDEX model_calls_day ON afterword.model_calls USING btree (org_id, reserved_at);
CREATE INDEX model_calls_open ON afterword.model_calls USING btree (reserved_at) WHERE (outcome = 'reserved'::text);
CREATE INDEX model_calls_run ON afterword.model_calls USING btree (run_id);
CREATE INDEX occurrences_near ON afterword.occurrences USING btree (org_id, at) WHERE (similarity = 'cosine'::text);
CREATE INDEX outcomes_expire ON afterword.outcomes USING btree (expires_at);
CREATE INDEX outcomes_memory ON afterword.outcomes USING btree (memory_id) WHERE (memory_id IS NOT NULL);
CREATE INDEX outcomes_org ON afterword.outcomes USING btree (org_id, id);
CREATE UNIQUE INDEX outcomes_review ON afterword.outcomes USING btree (review_id) WHERE (review_id IS NOT NULL);
CREATE INDEX pass_cursors_due ON afterword.pass_cursors USING btree (due_at);
CREATE INDEX recalls_at ON afterword.recalls USING btree (org_id, at);
CREATE INDEX recalls_silent ON afterword.recalls USING btree (at) WHERE ((mode = 'digest'::text) AND (hits = '[]'::jsonb));
CREATE INDEX reclassifications_open ON afterword.reclassifications USING btree (requested_at) WHERE (finished_at IS NULL);
CREATE UNIQUE INDEX rejected_entry ON afterword.rejected_events USING btree (entry_id) WHERE (entry_id IS NOT NULL);
CREATE INDEX rejected_purge ON afterword.rejected_events USING btree (purge_after);
CREATE INDEX rejected_reason ON afterword.rejected_events USING btree (reason, at);
CREATE INDEX replays_open ON afterword.replays USING btree (requested_at) WHERE (finished_at IS NULL);
CREATE UNIQUE INDEX reviews_drop ON afterword.reviews USING btree (drop_id) WHERE (drop_id IS NOT NULL);
CREATE INDEX reviews_inbox ON afterword.reviews USING btree (org_id, opened_at) WHERE (closed_at IS NULL);
CREATE INDEX reviews_memory ON afterword.reviews USING btree (memory_id);
CREATE INDEX reviews_sampled ON afterword.reviews USING btree (kind, decision) WHERE (kind = ANY (ARRAY['audit'::text, 'drop'::text]));
CREATE INDEX run_subjects_memory ON afterword.run_subjects USING btree (memory_id) WHERE (memory_id IS NOT NULL);
CREATE INDEX run_subjects_run ON afterword.run_subjects USING btree (run_id);
CREATE INDEX runs_about ON afterword.runs USING btree (memory_id) WHERE (memory_id IS NOT NULL);
CREATE INDEX runs_dead ON afterword.runs USING btree (org_id, error_code, state_at) WHERE (state = 'dead_letter'::text);
CREATE INDEX runs_due ON afterword.runs USING btree (state, org_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX runs_erased ON afterword.runs USING btree (org_id, session) WHERE (erased_at IS NOT NULL);
CREATE UNIQUE INDEX runs_event ON afterword.runs USING btree (org_id, event_key) WHERE (kind <> 'verdict'::text);
CREATE INDEX runs_finished ON afterword.runs USING btree (state) WHERE (due_at IS NULL);
CREATE INDEX runs_not_admitted ON afterword.runs USING btree (org_id) WHERE ((state = 'received'::text) AND (reason = ANY (ARRAY['over_budget'::text, 'endpoint_not_allowed'::text, 'model_unavailable'::text])));
CREATE INDEX runs_recent ON afterword.runs USING btree (created_at);
CREATE INDEX runs_session ON afterword.runs USING btree (org_id, session);
CREATE INDEX runs_suspect ON afterword.runs USING btree (state, due_at) WHERE ((due_at IS NOT NULL) AND ((lease_losses + ((lease IS NOT NULL))::integer) >= 2));
CREATE UNIQUE INDEX runs_verdict ON afterword.runs USING btree (org_id, event_key) WHERE (kind = 'verdict'::text);
CREATE UNIQUE INDEX stamps_one_current ON afterword.stamps USING btree (is_current) WHERE is_current;
CREATE INDEX tokens_expire ON afterword.tokens USING btree (expires_at);
CREATE INDEX transcripts_purge ON afterword.transcripts USING btree (purge_after);
CREATE TRIGGER drops_changed AFTER UPDATE ON afterword.drops REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION afterword.drop_changed();
CREATE TRIGGER drops_emptied_held BEFORE UPDATE OF content ON afterword.drops FOR EACH ROW WHEN ((new.content <> old.content)) EXECUTE FUNCTION afterword.keep_held('run_id');
CREATE TRIGGER drops_held BEFORE DELETE ON afterword.drops FOR EACH ROW EXECUTE FUNCTION afterword.keep_held('run_id');
CREATE TRIGGER drops_kept AFTER INSERT ON afterword.drops REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION afterword.drop_kept();
CREATE TRIGGER drops_kept_no_longer BEFORE UPDATE ON afterword.drops FOR EACH ROW WHEN ((new.expires_at > old.expires_at)) EXECUTE FUNCTION afterword.refuse_later();
CREATE TRIGGER drops_stay BEFORE DELETE OR TRUNCATE ON afterword.drops FOR EACH STATEMENT EXECUTE FUNCTION afterword.refuse_change();
CREATE TRIGGER ledger_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON afterword.ledger FOR EACH STATEMENT EXECUTE FUNCTION afterword.refuse_change();
CREATE TRIGGER memories_held_back BEFORE UPDATE ON afterword.memories FOR EACH ROW WHEN (((old.erased_at IS NULL) AND (new.erased_at IS NOT NULL))) EXECUTE FUNCTION afterword.keep_held('run_id');
CREATE TRIGGER memories_inserted AFTER INSERT ON afterword.memories REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION afterword.memory_inserted();
CREATE TRIGGER memories_kept BEFORE DELETE OR TRUNCATE ON afterword.memories FOR EACH STATEMENT EXECUTE FUNCTION afterword.refuse_change();
CREATE TRIGGER memories_kept_no_longer BEFORE UPDATE ON afterword.memories FOR EACH ROW WHEN ((new.expires_at > old.expires_at)) EXECUTE FUNCTION afterword.refuse_later();
CREATE TRIGGER memories_moved AFTER UPDATE ON afterword.memories REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION afterword.memory_moved();
CREATE TRIGGER memories_refused BEFORE INSERT ON afterword.memories FOR EACH ROW WHEN ((new.status = 'active'::text)) EXECUTE FUNCTION afterword.refuse_refused();
CREATE TRIGGER memories_sampled AFTER INSERT ON afterword.memories REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION afterword.sample_activations();
CREATE TRIGGER memories_unnamed AFTER UPDATE ON afterword.memories REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION afterword.forget_names();
CREATE TRIGGER model_calls_admitted BEFORE INSERT ON afterword.model_calls FOR EACH ROW EXECUTE FUNCTION afterword.admit_call();
CREATE TRIGGER model_calls_settled_once BEFORE UPDATE ON afterword.model_calls FOR EACH ROW WHEN ((old.outcome <> ALL (ARRAY['reserved'::text, 'lost'::text]))) EXECUTE FUNCTION afterword.settle_once();
CREATE TRIGGER orgs_admit AFTER UPDATE ON afterword.orgs FOR EACH ROW WHEN ((jsonb_build_array((new.settings -> 'budget_tokens_a_day'::text), (new.settings -> 'budget_usd_a_day'::text), (new.settings -> 'endpoint_classes'::text)) <> jsonb_build_array((old.settings -> 'budget_tokens_a_day'::text), (old.settings -> 'budget_usd_a_day'::text), (old.settings -> 'endpoint_classes'::text)))) EXECUTE FUNCTION afterword.admission_changed();
CREATE TRIGGER orgs_decided AFTER INSERT OR UPDATE ON afterword.orgs FOR EACH ROW EXECUTE FUNCTION afterword.org_decided();
CREATE TRIGGER orgs_near BEFORE INSERT OR UPDATE ON afterword.orgs FOR EACH ROW EXECUTE FUNCTION afterword.near_needs_calibration();
CREATE TRIGGER orgs_shorten AFTER UPDATE ON afterword.orgs FOR EACH ROW WHEN (((new.settings -> 'retention'::text) IS DISTINCT FROM (old.settings -> 'retention'::text))) EXECUTE FUNCTION afterword.shorten();
CREATE TRIGGER orgs_waive BEFORE INSERT OR UPDATE ON afterword.orgs FOR EACH ROW EXECUTE FUNCTION afterword.waiver_has_a_reason();
CREATE TRIGGER outcomes_kept_no_longer BEFORE UPDATE ON afterword.outcomes FOR EACH ROW WHEN ((new.expires_at > old.expires_at)) EXECUTE FUNCTION afterword.refuse_later();
CREATE TRIGGER reclassifications_kept BEFORE DELETE OR TRUNCATE ON afterword.reclassifications FOR EACH STATEMENT EXECUTE FUNCTION afterword.refuse_change();
CREATE TRIGGER reclassifications_moved AFTER INSERT OR UPDATE ON afterword.reclassifications FOR EACH ROW EXECUTE FUNCTION afterword.reclassification_moved();
CREATE TRIGGER reclassified_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON afterword.reclassified FOR EACH STATEMENT EXECUTE FUNCTION afterword.refuse_change();
CREATE TRIGGER rejected_held BEFORE DELETE ON afterword.rejected_events FOR EACH ROW EXECUTE FUNCTION afterword.keep_held('id');
CREATE TRIGGER rejected_kept_no_longer BEFORE UPDATE ON afterword.rejected_events FOR EACH ROW WHEN ((new.purge_after > old.purge_after)) EXECUTE FUNCTION afterword.refuse_later();
CREATE TRIGGER reviews_decided AFTER UPDATE ON afterword.reviews REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION afterword.review_decided();
CREATE TRIGGER reviews_kept BEFORE DELETE OR TRUNCATE ON afterword.reviews FOR EACH STATEMENT EXECUTE FUNCTION afterword.refuse_change();
CREATE TRIGGER reviews_opened AFTER INSERT ON afterword.reviews REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION afterword.review_opened();
CREATE TRIGGER reviews_outcome AFTER UPDATE ON afterword.reviews REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION afterword.keep_outcome();
CREATE TRIGGER reviews_renew AFTER UPDATE ON afterword.reviews FOR EACH ROW WHEN (((new.kind = 'renew'::text) AND (old.closed_at IS NULL) AND (new.decision = 'approve'::text))) EXECUTE FUNCTION afterword.renew_rule();
CREATE TRIGGER runs_held BEFORE UPDATE ON afterword.runs FOR EACH ROW WHEN (((old.erased_at IS NULL) AND (new.erased_at IS NOT NULL))) EXECUTE FUNCTION afterword.keep_held('id');
CREATE TRIGGER runs_inserted AFTER INSERT ON afterword.runs REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION afterword.run_inserted();
CREATE TRIGGER runs_kept BEFORE DELETE OR TRUNCATE ON afterword.runs FOR EACH STATEMENT EXECUTE FUNCTION afterword.refuse_change();
CREATE TRIGGER runs_moved AFTER UPDATE ON afterword.runs REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION afterword.run_moved();
CREATE TRIGGER seals_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON afterword.seals FOR EACH STATEMENT EXECUTE FUNCTION afterword.refuse_change();
CREATE TRIGGER transcripts_held BEFORE DELETE ON afterword.transcripts FOR EACH ROW EXECUTE FUNCTION afterword.keep_held('run_id');
CREATE TRIGGER transcripts_kept_no_longer BEFORE UPDATE ON afterword.transcripts FOR EACH ROW WHEN ((new.purge_after > old.purge_after)) EXECUTE FUNCTION afterword.refuse_later();
CREATE TRIGGER transcripts_unnamed AFTER DELETE ON afterword.transcripts REFERENCING OLD TABLE AS stale FOR EACH STATEMENT EXECUTE FUNCTION afterword.forget_names();
ALTER TABLE ONLY afterword.calibrations
    ADD CONSTRAINT calibrations_stamp_fkey FOREIGN KEY (stamp) REFERENCES afterword.stamps(id);
ALTER TABLE ONLY afterword.drops
    ADD CONSTRAINT drops_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.drops
    ADD CONSTRAINT drops_run_id_fkey FOREIGN KEY (run_id) REFERENCES afterword.runs(id);
ALTER TABLE ONLY afterword.envelopes
    ADD CONSTRAINT envelopes_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.envelopes
    ADD CONSTRAINT envelopes_run_id_fkey FOREIGN KEY (run_id) REFERENCES afterword.runs(id);
ALTER TABLE ONLY afterword.erasures
    ADD CONSTRAINT erasures_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.held_rows
    ADD CONSTRAINT held_rows_hold_id_fkey FOREIGN KEY (hold_id) REFERENCES afterword.legal_holds(id);
ALTER TABLE ONLY afterword.held_rows
    ADD CONSTRAINT held_rows_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.legal_holds
    ADD CONSTRAINT legal_holds_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.memories
    ADD CONSTRAINT memories_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.memories
    ADD CONSTRAINT memories_org_id_namespace_fkey FOREIGN KEY (org_id, namespace) REFERENCES afterword.namespaces(org_id, name);
ALTER TABLE ONLY afterword.memories
    ADD CONSTRAINT memories_run_id_fkey FOREIGN KEY (run_id) REFERENCES afterword.runs(id);
ALTER TABLE ONLY afterword.memories
    ADD CONSTRAINT memories_superseded_by_fkey FOREIGN KEY (superseded_by) REFERENCES afterword.memories(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY afterword.model_calls
    ADD CONSTRAINT model_calls_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.model_calls
    ADD CONSTRAINT model_calls_run_id_fkey FOREIGN KEY (run_id) REFERENCES afterword.runs(id);
ALTER TABLE ONLY afterword.namespaces
    ADD CONSTRAINT namespaces_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.occurrences
    ADD CONSTRAINT occurrences_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES afterword.memories(id);
ALTER TABLE ONLY afterword.occurrences
    ADD CONSTRAINT occurrences_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.occurrences
    ADD CONSTRAINT occurrences_repeat_id_fkey FOREIGN KEY (repeat_id) REFERENCES afterword.memories(id);
ALTER TABLE ONLY afterword.reviews
    ADD CONSTRAINT open_hold_is_pending FOREIGN KEY (memory_id, holds) REFERENCES afterword.memories(id, held) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY afterword.reviews
    ADD CONSTRAINT open_review_is_live FOREIGN KEY (memory_id, waits) REFERENCES afterword.memories(id, live) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY afterword.org_search
    ADD CONSTRAINT org_search_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.org_search
    ADD CONSTRAINT org_search_stamp_fkey FOREIGN KEY (stamp) REFERENCES afterword.stamps(id);
ALTER TABLE ONLY afterword.outcomes
    ADD CONSTRAINT outcomes_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES afterword.memories(id);
ALTER TABLE ONLY afterword.outcomes
    ADD CONSTRAINT outcomes_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.outcomes
    ADD CONSTRAINT outcomes_review_id_fkey FOREIGN KEY (review_id) REFERENCES afterword.reviews(id);
ALTER TABLE ONLY afterword.pass_cursors
    ADD CONSTRAINT pass_cursors_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.payloads
    ADD CONSTRAINT payloads_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES afterword.ledger(id);
ALTER TABLE ONLY afterword.payloads
    ADD CONSTRAINT payloads_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.memories
    ADD CONSTRAINT pending_review_is_open FOREIGN KEY (id, review_id, held) REFERENCES afterword.reviews(memory_id, id, is_open) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY afterword.recalls
    ADD CONSTRAINT recalls_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.reclassifications
    ADD CONSTRAINT reclassifications_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.reclassified
    ADD CONSTRAINT reclassified_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES afterword.memories(id);
ALTER TABLE ONLY afterword.reclassified
    ADD CONSTRAINT reclassified_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.reclassified
    ADD CONSTRAINT reclassified_reclassification_id_fkey FOREIGN KEY (reclassification_id) REFERENCES afterword.reclassifications(id);
ALTER TABLE ONLY afterword.replayed_runs
    ADD CONSTRAINT replayed_runs_replay_id_fkey FOREIGN KEY (replay_id) REFERENCES afterword.replays(id);
ALTER TABLE ONLY afterword.replayed_runs
    ADD CONSTRAINT replayed_runs_run_id_fkey FOREIGN KEY (run_id) REFERENCES afterword.runs(id);
ALTER TABLE ONLY afterword.reviews
    ADD CONSTRAINT reviews_cites_fkey FOREIGN KEY (cites) REFERENCES afterword.memories(id);
ALTER TABLE ONLY afterword.reviews
    ADD CONSTRAINT reviews_drop_id_fkey FOREIGN KEY (drop_id) REFERENCES afterword.drops(id);
ALTER TABLE ONLY afterword.reviews
    ADD CONSTRAINT reviews_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.run_subjects
    ADD CONSTRAINT run_subjects_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES afterword.memories(id);
ALTER TABLE ONLY afterword.run_subjects
    ADD CONSTRAINT run_subjects_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.run_subjects
    ADD CONSTRAINT run_subjects_run_id_fkey FOREIGN KEY (run_id) REFERENCES afterword.runs(id);
ALTER TABLE ONLY afterword.runs
    ADD CONSTRAINT runs_drop_id_fkey FOREIGN KEY (drop_id) REFERENCES afterword.drops(id);
ALTER TABLE ONLY afterword.runs
    ADD CONSTRAINT runs_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.runs
    ADD CONSTRAINT runs_replay_id_fkey FOREIGN KEY (replay_id) REFERENCES afterword.replays(id);
ALTER TABLE ONLY afterword.seals
    ADD CONSTRAINT seals_previous_fkey FOREIGN KEY (previous) REFERENCES afterword.seals(id);
ALTER TABLE ONLY afterword.spaces
    ADD CONSTRAINT spaces_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.reclassifications
    ADD CONSTRAINT the_plan_confirmed_is_the_plan FOREIGN KEY (plan_id, planned_by, confirmed_digest) REFERENCES afterword.reclassifications(id, actor, plan_digest);
ALTER TABLE ONLY afterword.tokens
    ADD CONSTRAINT tokens_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.transcripts
    ADD CONSTRAINT transcripts_org_id_fkey FOREIGN KEY (org_id) REFERENCES afterword.orgs(id);
ALTER TABLE ONLY afterword.transcripts
    ADD CONSTRAINT transcripts_run_id_fkey FOREIGN KEY (run_id) REFERENCES afterword.runs(id);
CREATE POLICY admission_rearms ON afterword.runs TO afterword_owner USING (((state = 'received'::text) AND (reason = ANY (ARRAY['over_budget'::text, 'endpoint_not_allowed'::text])))) WITH CHECK ((state = 'received'::text));
CREATE POLICY dropped_with_its_stamp ON afterword.org_search TO afterword_owner USING (true);
ALTER TABLE afterword.drops ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.envelopes ENABLE ROW LEVEL SECURITY;
CREATE POLICY erasure ON afterword.drops TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.envelopes TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.erasures TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.held_rows TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.installation TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.ledger FOR SELECT TO afterword_eraser USING (true);
CREATE POLICY erasure ON afterword.legal_holds TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.memories TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.outcomes TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.payloads TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.recalls TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.rejected_events TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.reviews TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.run_subjects TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.runs TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.tokens TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure ON afterword.transcripts TO afterword_eraser USING (true) WITH CHECK (true);
CREATE POLICY erasure_closes ON afterword.reviews TO afterword_owner USING ((kind = 'drop'::text)) WITH CHECK ((kind = 'drop'::text));
CREATE POLICY erasure_record ON afterword.ledger FOR INSERT TO afterword_eraser WITH CHECK (true);
ALTER TABLE afterword.erasures ENABLE ROW LEVEL SECURITY;
CREATE POLICY grants_are_looked_up ON afterword.tokens TO afterword_owner USING (true) WITH CHECK (true);
CREATE POLICY grants_name_spaces ON afterword.spaces FOR SELECT TO afterword_owner USING (true);
ALTER TABLE afterword.held_rows ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.installation ENABLE ROW LEVEL SECURITY;
CREATE POLICY keys_look ON afterword.reclassifications FOR SELECT TO afterword_owner USING (true);
ALTER TABLE afterword.ledger ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.legal_holds ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.model_calls ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.namespaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.occurrences ENABLE ROW LEVEL SECURITY;
CREATE POLICY operators_ask ON afterword.model_calls FOR INSERT TO afterword_operator WITH CHECK ((purpose <> 'extraction'::text));
CREATE POLICY operators_ask ON afterword.reclassifications FOR INSERT TO afterword_operator WITH CHECK (true);
CREATE POLICY operators_name ON afterword.namespaces TO afterword_operator USING (true) WITH CHECK (true);
CREATE POLICY operators_name ON afterword.spaces TO afterword_operator USING (true) WITH CHECK (true);
CREATE POLICY operators_read ON afterword.drops FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.erasures FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.held_rows FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.ledger FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.legal_holds FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.memories FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.model_calls FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.occurrences FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.org_search FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.pass_cursors FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.recalls FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.reclassifications FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.reclassified FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.rejected_events FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.reviews FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.run_subjects FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_read ON afterword.runs FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_record ON afterword.ledger FOR INSERT TO afterword_operator WITH CHECK ((subject_kind <> ALL (ARRAY['run'::text, 'memory'::text, 'drop'::text, 'payload'::text, 'token'::text, 'org'::text, 'subject'::text, 'store'::text, 'reclassification'::text])));
CREATE POLICY operators_settle ON afterword.model_calls FOR UPDATE TO afterword_operator USING ((purpose <> 'extraction'::text)) WITH CHECK ((purpose <> 'extraction'::text));
ALTER TABLE afterword.org_search ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.outcomes ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.pass_cursors ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.payloads ENABLE ROW LEVEL SECURITY;
CREATE POLICY recall_reads ON afterword.memories FOR SELECT TO afterword_recall USING (true);
CREATE POLICY recall_reads ON afterword.namespaces FOR SELECT TO afterword_recall USING (true);
CREATE POLICY recall_reads ON afterword.org_search FOR SELECT TO afterword_recall USING (true);
CREATE POLICY recall_reads ON afterword.runs FOR SELECT TO afterword_recall USING (true);
CREATE POLICY recall_records ON afterword.recalls TO afterword_recall USING (true) WITH CHECK (true);
ALTER TABLE afterword.recalls ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.reclassifications ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.reclassified ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.rejected_events ENABLE ROW LEVEL SECURITY;
CREATE POLICY reviewers_read ON afterword.ledger FOR SELECT TO afterword_reviewer USING ((org_id = ( SELECT current_grant.org_id
   FROM afterword.current_grant() current_grant(id, hash, org_id, role, actor, agent, user_id, project, workflow, agent_role, tiers, created_at, expires_at, revoked_at, last_used_at, replaced_by))));
CREATE POLICY reviewers_read ON afterword.memories FOR SELECT TO afterword_reviewer USING ((org_id = ( SELECT current_grant.org_id
   FROM afterword.current_grant() current_grant(id, hash, org_id, role, actor, agent, user_id, project, workflow, agent_role, tiers, created_at, expires_at, revoked_at, last_used_at, replaced_by))));
CREATE POLICY reviewers_read ON afterword.recalls FOR SELECT TO afterword_reviewer USING ((org_id = ( SELECT current_grant.org_id
   FROM afterword.current_grant() current_grant(id, hash, org_id, role, actor, agent, user_id, project, workflow, agent_role, tiers, created_at, expires_at, revoked_at, last_used_at, replaced_by))));
CREATE POLICY reviewers_read ON afterword.reviews FOR SELECT TO afterword_reviewer USING ((org_id = ( SELECT current_grant.org_id
   FROM afterword.current_grant() current_grant(id, hash, org_id, role, actor, agent, user_id, project, workflow, agent_role, tiers, created_at, expires_at, revoked_at, last_used_at, replaced_by))));
CREATE POLICY reviewers_read ON afterword.runs FOR SELECT TO afterword_reviewer USING ((org_id = ( SELECT current_grant.org_id
   FROM afterword.current_grant() current_grant(id, hash, org_id, role, actor, agent, user_id, project, workflow, agent_role, tiers, created_at, expires_at, revoked_at, last_used_at, replaced_by))));
ALTER TABLE afterword.reviews ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.run_subjects ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.runs ENABLE ROW LEVEL SECURITY;
CREATE POLICY sampling_opens ON afterword.reviews FOR INSERT TO afterword_owner WITH CHECK ((kind = ANY (ARRAY['audit'::text, 'drop'::text])));
ALTER TABLE afterword.spaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE afterword.transcripts ENABLE ROW LEVEL SECURITY;
CREATE POLICY triggers_record ON afterword.ledger FOR INSERT TO afterword_owner WITH CHECK (true);
CREATE POLICY verdicts_close ON afterword.reviews TO afterword_verdict USING (true) WITH CHECK (true);
CREATE POLICY verdicts_decide ON afterword.drops TO afterword_verdict USING (true) WITH CHECK (true);
CREATE POLICY verdicts_decide ON afterword.memories TO afterword_verdict USING (true) WITH CHECK (true);
CREATE POLICY verdicts_open ON afterword.runs TO afterword_verdict USING (true) WITH CHECK (((kind = 'verdict'::text) OR ((kind = 'proposal'::text) AND (event ? 'recorded'::text))));
CREATE POLICY verdicts_read ON afterword.namespaces FOR SELECT TO afterword_verdict USING (true);
CREATE POLICY verdicts_record ON afterword.ledger FOR INSERT TO afterword_verdict WITH CHECK (true);
CREATE POLICY verdicts_stage ON afterword.envelopes FOR INSERT TO afterword_verdict WITH CHECK (true);
CREATE POLICY verdicts_undo ON afterword.occurrences TO afterword_verdict USING (true) WITH CHECK (true);
CREATE POLICY verdicts_write ON afterword.outcomes FOR INSERT TO afterword_verdict WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.drops TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.envelopes TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.erasures TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.held_rows TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.ledger TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.legal_holds TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.memories TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.model_calls TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.namespaces TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.occurrences TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.org_search TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.outcomes TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.pass_cursors TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.payloads TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.recalls TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.reclassifications TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.reclassified TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.rejected_events TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.reviews TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.run_subjects TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.runs TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.spaces TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY workers_reach_all_orgs ON afterword.transcripts TO afterword_worker USING (true) WITH CHECK (true);
GRANT USAGE ON SCHEMA afterword TO afterword_agent;
GRANT USAGE ON SCHEMA afterword TO afterword_reviewer;
GRANT USAGE ON SCHEMA afterword TO afterword_operator;
GRANT USAGE ON SCHEMA afterword TO afterword_worker;
GRANT USAGE ON SCHEMA afterword TO afterword_recall;
GRANT USAGE ON SCHEMA afterword TO afterword_verdict;
GRANT USAGE ON SCHEMA afterword TO afterword_eraser;
REVOKE ALL ON FUNCTION afterword.admission_changed() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.admit_call() FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.any_lexeme(query text) TO afterword_verdict;
REVOKE ALL ON FUNCTION afterword.approve(memory uuid, comment text, namespace text, scope_kind text, scope_value text, subject_type text, subject_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.approve(memory uuid, comment text, namespace text, scope_kind text, scope_value text, subject_type text, subject_id text) TO afterword_reviewer;
REVOKE ALL ON FUNCTION afterword.asked_for(max_hits integer, fusion text, stamp integer, n afterword.narrowing) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.asked_for(max_hits integer, fusion text, stamp integer, n afterword.narrowing) TO afterword_recall;
REVOKE ALL ON FUNCTION afterword.budget_day(at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.budget_day(at timestamp with time zone) TO afterword_worker;
GRANT ALL ON FUNCTION afterword.budget_day(at timestamp with time zone) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.budget_left(org integer, OUT tokens bigint, OUT cost numeric, OUT tokens_a_day bigint, OUT cost_a_day numeric) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.budget_left(org integer, OUT tokens bigint, OUT cost numeric, OUT tokens_a_day bigint, OUT cost_a_day numeric) TO afterword_worker;
GRANT ALL ON FUNCTION afterword.budget_left(org integer, OUT tokens bigint, OUT cost numeric, OUT tokens_a_day bigint, OUT cost_a_day numeric) TO afterword_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE afterword.memories TO afterword_worker;
GRANT SELECT ON TABLE afterword.memories TO afterword_recall;
GRANT SELECT,UPDATE ON TABLE afterword.memories TO afterword_verdict;
GRANT UPDATE ON TABLE afterword.memories TO afterword_eraser;
GRANT MAINTAIN ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(id) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(id) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(id) ON TABLE afterword.memories TO afterword_eraser;
GRANT SELECT(org_id) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(org_id) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(org_id) ON TABLE afterword.memories TO afterword_eraser;
GRANT SELECT(run_id) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(run_id) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(run_id) ON TABLE afterword.memories TO afterword_eraser;
GRANT SELECT(tier) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(tier) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(kind) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(kind) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(kind) ON TABLE afterword.memories TO afterword_eraser;
GRANT SELECT(status) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(status) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(status) ON TABLE afterword.memories TO afterword_eraser;
GRANT SELECT(namespace) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(namespace) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(scope_kind) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(scope_kind) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(scope_kind) ON TABLE afterword.memories TO afterword_eraser;
GRANT SELECT(classes) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(classes) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(hold_reasons) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(hold_reasons) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(author) ON TABLE afterword.memories TO afterword_eraser;
GRANT SELECT(provenance) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(confidence) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(high_stakes) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(high_stakes) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(importance) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(importance) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(observed_at) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(observed_at) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(expires_at) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(expires_at) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(expires_at) ON TABLE afterword.memories TO afterword_eraser;
GRANT SELECT(occurrences) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(occurrences) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(revision) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(revision) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(replaces) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(replaces) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(replaces) ON TABLE afterword.memories TO afterword_eraser;
GRANT SELECT(superseded_by) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(superseded_by) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(superseded_by) ON TABLE afterword.memories TO afterword_eraser;
GRANT SELECT(previous_hash) ON TABLE afterword.memories TO afterword_eraser;
GRANT SELECT(purge_after) ON TABLE afterword.memories TO afterword_eraser;
GRANT SELECT(erased_at) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(erased_at) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(erased_at) ON TABLE afterword.memories TO afterword_eraser;
GRANT SELECT(review_id) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(review_id) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(created_at) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(created_at) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(created_at) ON TABLE afterword.memories TO afterword_eraser;
GRANT SELECT(status_at) ON TABLE afterword.memories TO afterword_reviewer;
GRANT SELECT(status_at) ON TABLE afterword.memories TO afterword_operator;
GRANT SELECT(status_at) ON TABLE afterword.memories TO afterword_eraser;
REVOKE ALL ON FUNCTION afterword.close_review(m afterword.memories, verdict text, actor text, comment text) FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.confirm_drop(dropped uuid, comment text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.confirm_drop(dropped uuid, comment text) TO afterword_reviewer;
GRANT DELETE ON TABLE afterword.tokens TO afterword_eraser;
GRANT MAINTAIN ON TABLE afterword.tokens TO afterword_operator;
GRANT SELECT(id) ON TABLE afterword.tokens TO afterword_eraser;
GRANT SELECT(org_id) ON TABLE afterword.tokens TO afterword_eraser;
GRANT SELECT(user_id) ON TABLE afterword.tokens TO afterword_eraser;
GRANT SELECT(expires_at) ON TABLE afterword.tokens TO afterword_eraser;
REVOKE ALL ON FUNCTION afterword.current_grant() FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.current_grant() TO afterword_agent;
GRANT ALL ON FUNCTION afterword.current_grant() TO afterword_reviewer;
GRANT ALL ON FUNCTION afterword.current_grant() TO afterword_operator;
GRANT ALL ON FUNCTION afterword.current_grant() TO afterword_worker;
GRANT ALL ON FUNCTION afterword.current_grant() TO afterword_recall;
GRANT ALL ON FUNCTION afterword.current_grant() TO afterword_verdict;
GRANT ALL ON FUNCTION afterword.current_grant() TO afterword_eraser;
REVOKE ALL ON FUNCTION afterword.demand_amends(m afterword.memories, verdict text, actor text, comment text) FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.digest_items() FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.digest_items() TO afterword_agent;
REVOKE ALL ON FUNCTION afterword.digest_rendered(recall_id uuid, block_hash bytea, omitted uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.digest_rendered(recall_id uuid, block_hash bytea, omitted uuid[]) TO afterword_agent;
REVOKE ALL ON FUNCTION afterword.drop_changed() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.drop_kept() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.drop_stamp(stamp integer) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.drop_stamp(stamp integer) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.empty_memories(ids uuid[], actor text, reason text) FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.erase(erasure uuid, runs uuid[], event_keys text[], renamed uuid[], memories uuid[], drops uuid[], entries bigint[], reviews uuid[], rejected uuid[], users text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.erase(erasure uuid, runs uuid[], event_keys text[], renamed uuid[], memories uuid[], drops uuid[], entries bigint[], reviews uuid[], rejected uuid[], users text[]) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.erase_outcomes(erasure uuid, outcomes uuid[], memories uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.erase_outcomes(erasure uuid, outcomes uuid[], memories uuid[]) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.finish_erasure(erasure uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.finish_erasure(erasure uuid) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.forget(memory uuid, comment text, purge_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.forget(memory uuid, comment text, purge_days integer) TO afterword_reviewer;
REVOKE ALL ON FUNCTION afterword.forget_names() FROM PUBLIC;
GRANT SELECT,INSERT ON TABLE afterword.drops TO afterword_worker;
GRANT SELECT ON TABLE afterword.drops TO afterword_verdict;
GRANT UPDATE ON TABLE afterword.drops TO afterword_eraser;
GRANT MAINTAIN ON TABLE afterword.drops TO afterword_operator;
GRANT SELECT(id) ON TABLE afterword.drops TO afterword_operator;
GRANT SELECT(id) ON TABLE afterword.drops TO afterword_eraser;
GRANT SELECT(org_id) ON TABLE afterword.drops TO afterword_operator;
GRANT SELECT(org_id) ON TABLE afterword.drops TO afterword_eraser;
GRANT SELECT(run_id) ON TABLE afterword.drops TO afterword_operator;
GRANT SELECT(run_id) ON TABLE afterword.drops TO afterword_eraser;
GRANT SELECT(rule) ON TABLE afterword.drops TO afterword_operator;
GRANT SELECT(confidence) ON TABLE afterword.drops TO afterword_operator;
GRANT SELECT(threshold) ON TABLE afterword.drops TO afterword_operator;
GRANT SELECT(kind) ON TABLE afterword.drops TO afterword_operator;
GRANT UPDATE(content) ON TABLE afterword.drops TO afterword_worker;
GRANT UPDATE(rationale) ON TABLE afterword.drops TO afterword_worker;
GRANT UPDATE(evidence) ON TABLE afterword.drops TO afterword_worker;
GRANT SELECT(classes) ON TABLE afterword.drops TO afterword_operator;
GRANT UPDATE(subject_type) ON TABLE afterword.drops TO afterword_worker;
GRANT UPDATE(subject_id) ON TABLE afterword.drops TO afterword_worker;
GRANT SELECT(scope_kind) ON TABLE afterword.drops TO afterword_eraser;
GRANT UPDATE(scope_value) ON TABLE afterword.drops TO afterword_worker;
GRANT UPDATE(author) ON TABLE afterword.drops TO afterword_worker;
GRANT SELECT(provenance) ON TABLE afterword.drops TO afterword_operator;
GRANT SELECT(review_share) ON TABLE afterword.drops TO afterword_operator;
GRANT SELECT(sampled) ON TABLE afterword.drops TO afterword_operator;
GRANT SELECT(at) ON TABLE afterword.drops TO afterword_operator;
GRANT SELECT(at) ON TABLE afterword.drops TO afterword_eraser;
GRANT SELECT(expires_at) ON TABLE afterword.drops TO afterword_operator;
GRANT SELECT(expires_at) ON TABLE afterword.drops TO afterword_eraser;
GRANT SELECT(restored_at) ON TABLE afterword.drops TO afterword_operator;
GRANT UPDATE(restored_at) ON TABLE afterword.drops TO afterword_verdict;
GRANT SELECT(restored_by) ON TABLE afterword.drops TO afterword_operator;
GRANT UPDATE(restored_by) ON TABLE afterword.drops TO afterword_verdict;
GRANT SELECT(erased_at) ON TABLE afterword.drops TO afterword_operator;
GRANT UPDATE(erased_at) ON TABLE afterword.drops TO afterword_worker;
GRANT SELECT(erased_at) ON TABLE afterword.drops TO afterword_eraser;
GRANT UPDATE(detectors) ON TABLE afterword.drops TO afterword_worker;
REVOKE ALL ON FUNCTION afterword.granted_drop(dropped uuid) FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.granted_memory(memory uuid) FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.is_held(run uuid) FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.keep_held() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.keep_outcome() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.knows_key(key_check bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.knows_key(key_check bytea) TO afterword_worker;
GRANT ALL ON FUNCTION afterword.knows_key(key_check bytea) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.living_token(token uuid) FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.lose_outcome() FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.lose_outcome() TO afterword_reviewer;
GRANT ALL ON FUNCTION afterword.lose_outcome() TO afterword_agent;
REVOKE ALL ON FUNCTION afterword.mark_erasure(hash bytea, needles jsonb, reason text, id uuid, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.mark_erasure(hash bytea, needles jsonb, reason text, id uuid, at timestamp with time zone) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.memory_inserted() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.memory_moved() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.mint_token(hash bytea, org integer, role text, actor text, lives interval, agent text, user_id text, project text, workflow text, tiers text[], agent_role text, minted_by text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.mint_token(hash bytea, org integer, role text, actor text, lives interval, agent text, user_id text, project text, workflow text, tiers text[], agent_role text, minted_by text) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.near_needs_calibration() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.near_rules(memory uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.near_rules(memory uuid) TO afterword_reviewer;
REVOKE ALL ON FUNCTION afterword.note_erased(erasure uuid, besides jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.note_erased(erasure uuid, besides jsonb) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.one_lexeme(lexeme text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.one_lexeme(lexeme text) TO afterword_recall;
REVOKE ALL ON FUNCTION afterword.open_missing_runs(stamp integer, max_runs integer) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.open_missing_runs(stamp integer, max_runs integer) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.open_verdict_run(m afterword.memories, enters text, key text, actor text, body jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.operating() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.org_decided() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.own_words(org integer, kind text, content text, rationale text, author text, namespace text, scope_kind text, scope_value text, subject_type text, subject_id text) FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.place_hold(hash bytea, needles jsonb, reason text, runs uuid[], rejected uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.place_hold(hash bytea, needles jsonb, reason text, runs uuid[], rejected uuid[]) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.plan_digest(plan uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.plan_digest(plan uuid) TO afterword_worker;
REVOKE ALL ON FUNCTION afterword.purge_due(actor text, org integer, max_rows integer) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.purge_due(actor text, org integer, max_rows integer) TO afterword_worker;
GRANT ALL ON FUNCTION afterword.purge_due(actor text, org integer, max_rows integer) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.purge_store(store text, ids uuid[], actor text) FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.recall(query text, vector public.vector, stamp integer, max_hits integer, as_of timestamp with time zone, narrowed afterword.narrowing, fusion text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.recall(query text, vector public.vector, stamp integer, max_hits integer, as_of timestamp with time zone, narrowed afterword.narrowing, fusion text) TO afterword_agent;
REVOKE ALL ON FUNCTION afterword.recall_rendered(recall_id uuid, block_hash bytea, shown uuid[]) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.recall_rendered(recall_id uuid, block_hash bytea, shown uuid[]) TO afterword_agent;
REVOKE ALL ON FUNCTION afterword.recallable(m afterword.memories, g afterword.tokens, as_of timestamp with time zone, n afterword.narrowing) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.recallable(m afterword.memories, g afterword.tokens, as_of timestamp with time zone, n afterword.narrowing) TO afterword_recall;
REVOKE ALL ON FUNCTION afterword.reclassification_moved() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.record_answer(hash bytea, action text, detail jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.record_answer(hash bytea, action text, detail jsonb) TO afterword_operator;
GRANT ALL ON FUNCTION afterword.record_answer(hash bytea, action text, detail jsonb) TO afterword_reviewer;
REVOKE ALL ON FUNCTION afterword.record_candidates(org integer, source text, key text, actor text, for_user text, decided boolean, provenance jsonb, candidates jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.record_candidates(org integer, source text, key text, actor text, for_user text, decided boolean, provenance jsonb, candidates jsonb) TO afterword_worker;
REVOKE ALL ON FUNCTION afterword.record_feedback(content text, namespace text, scope_kind text, scope_value text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.record_feedback(content text, namespace text, scope_kind text, scope_value text) TO afterword_reviewer;
REVOKE ALL ON FUNCTION afterword.record_outcome(kind text, score real, eval_run text, memory uuid, agent text, workflow text, namespace text, comment text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.record_outcome(kind text, score real, eval_run text, memory uuid, agent text, workflow text, namespace text, comment text) TO afterword_reviewer;
GRANT ALL ON FUNCTION afterword.record_outcome(kind text, score real, eval_run text, memory uuid, agent text, workflow text, namespace text, comment text) TO afterword_agent;
REVOKE ALL ON FUNCTION afterword.record_rules(namespace text, contents text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.record_rules(namespace text, contents text[]) TO afterword_reviewer;
REVOKE ALL ON FUNCTION afterword.recorded(g afterword.tokens, subject bytea, action text, detail jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.refuse_change() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.refuse_decided(m afterword.memories) FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.refuse_later() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.refuse_refused() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.refuse_waiting() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.refused_before(org integer, hash bytea, scope_kind text, scope_value text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.refused_before(org integer, hash bytea, scope_kind text, scope_value text) TO afterword_worker;
REVOKE ALL ON FUNCTION afterword.register_stamp(provider text, model text, revision text, dimension integer, storage text) FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.rehome(memory uuid, namespace text, scope_kind text, scope_value text, comment text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.rehome(memory uuid, namespace text, scope_kind text, scope_value text, comment text) TO afterword_reviewer;
REVOKE ALL ON FUNCTION afterword.reject(memory uuid, comment text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.reject(memory uuid, comment text) TO afterword_reviewer;
REVOKE ALL ON FUNCTION afterword.release_hold(hash bytea, reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.release_hold(hash bytea, reason text) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.remember_preference(content text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.remember_preference(content text) TO afterword_agent;
REVOKE ALL ON FUNCTION afterword.renew_rule() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.restore_drop(dropped uuid, comment text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.restore_drop(dropped uuid, comment text) TO afterword_reviewer;
REVOKE ALL ON FUNCTION afterword.restore_repeat(repeat uuid, comment text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.restore_repeat(repeat uuid, comment text) TO afterword_reviewer;
REVOKE ALL ON FUNCTION afterword.retention_days(org integer, name text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.retention_days(org integer, name text) TO afterword_worker;
GRANT ALL ON FUNCTION afterword.retention_days(org integer, name text) TO afterword_operator;
GRANT ALL ON FUNCTION afterword.retention_days(org integer, name text) TO afterword_verdict;
REVOKE ALL ON FUNCTION afterword.retire_replaced(m afterword.memories, actor text) FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.retype(memory uuid, act text, content text, comment text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.retype(memory uuid, act text, content text, comment text) TO afterword_reviewer;
REVOKE ALL ON FUNCTION afterword.review_decided() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.review_opened() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.revoke_preference(memory uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.revoke_preference(memory uuid) TO afterword_agent;
REVOKE ALL ON FUNCTION afterword.revoke_token(token uuid, revoked_by text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.revoke_token(token uuid, revoked_by text) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.rotate_token(token uuid, hash bytea, overlap interval, rotated_by text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.rotate_token(token uuid, hash bytea, overlap interval, rotated_by text) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.run_inserted() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.run_moved() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.run_told(key text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.run_told(key text) TO afterword_agent;
GRANT ALL ON FUNCTION afterword.run_told(key text) TO afterword_reviewer;
GRANT ALL ON FUNCTION afterword.run_told(key text) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.sample_activations() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.settle_once() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.shorten() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.stamp_gap(stamp integer) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.stamp_gap(stamp integer) TO afterword_operator;
GRANT ALL ON FUNCTION afterword.stamp_gap(stamp integer) TO afterword_owner;
REVOKE ALL ON FUNCTION afterword.standing_rules(namespace text, hashes bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.standing_rules(namespace text, hashes bytea[]) TO afterword_reviewer;
REVOKE ALL ON FUNCTION afterword.switch_stamp(stamp integer, uncalibrated boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.switch_stamp(stamp integer, uncalibrated boolean) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.token_users() FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.token_users() TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.tokens_made(org integer) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.tokens_made(org integer) TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.use_grant() FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.use_grant() TO afterword_agent;
GRANT ALL ON FUNCTION afterword.use_grant() TO afterword_reviewer;
GRANT ALL ON FUNCTION afterword.use_grant() TO afterword_operator;
REVOKE ALL ON FUNCTION afterword.view_drop(dropped uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.view_drop(dropped uuid) TO afterword_reviewer;
REVOKE ALL ON FUNCTION afterword.view_memory(memory uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.view_memory(memory uuid) TO afterword_reviewer;
REVOKE ALL ON FUNCTION afterword.waiver_has_a_reason() FROM PUBLIC;
REVOKE ALL ON FUNCTION afterword.words_asked(query text) FROM PUBLIC;
GRANT ALL ON FUNCTION afterword.words_asked(query text) TO afterword_recall;
GRANT SELECT,INSERT ON TABLE afterword.calibrations TO afterword_worker;
GRANT SELECT ON TABLE afterword.calibrations TO afterword_recall;
GRANT SELECT ON TABLE afterword.calibrations TO afterword_operator;
GRANT SELECT ON TABLE afterword.calibrated TO afterword_worker;
GRANT SELECT ON TABLE afterword.calibrated TO afterword_recall;
GRANT SELECT ON TABLE afterword.calibrated TO afterword_operator;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE afterword.envelopes TO afterword_worker;
GRANT INSERT ON TABLE afterword.envelopes TO afterword_verdict;
GRANT DELETE ON TABLE afterword.envelopes TO afterword_eraser;
GRANT MAINTAIN ON TABLE afterword.envelopes TO afterword_operator;
GRANT SELECT(run_id) ON TABLE afterword.envelopes TO afterword_eraser;
GRANT SELECT(org_id) ON TABLE afterword.envelopes TO afterword_eraser;
GRANT SELECT,INSERT,UPDATE ON TABLE afterword.erasures TO afterword_eraser;
GRANT SELECT ON TABLE afterword.erasures TO afterword_worker;
GRANT SELECT ON TABLE afterword.erasures TO afterword_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE afterword.held_rows TO afterword_eraser;
GRANT SELECT,INSERT ON TABLE afterword.held_rows TO afterword_worker;
GRANT SELECT ON TABLE afterword.held_rows TO afterword_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE afterword.legal_holds TO afterword_eraser;
GRANT SELECT ON TABLE afterword.legal_holds TO afterword_worker;
GRANT SELECT ON TABLE afterword.legal_holds TO afterword_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE afterword.installation TO afterword_eraser;
GRANT SELECT ON TABLE afterword.ledger TO afterword_worker;
GRANT SELECT ON TABLE afterword.ledger TO afterword_reviewer;
GRANT SELECT ON TABLE afterword.ledger TO afterword_operator;
GRANT SELECT ON TABLE afterword.ledger TO afterword_eraser;
GRANT INSERT(org_id) ON TABLE afterword.ledger TO afterword_operator;
GRANT INSERT(org_id) ON TABLE afterword.ledger TO afterword_worker;
GRANT INSERT(org_id) ON TABLE afterword.ledger TO afterword_verdict;
GRANT INSERT(org_id) ON TABLE afterword.ledger TO afterword_eraser;
GRANT INSERT(subject_kind) ON TABLE afterword.ledger TO afterword_operator;
GRANT INSERT(subject_kind) ON TABLE afterword.ledger TO afterword_worker;
GRANT INSERT(subject_kind) ON TABLE afterword.ledger TO afterword_verdict;
GRANT INSERT(subject_kind) ON TABLE afterword.ledger TO afterword_eraser;
GRANT INSERT(subject_id) ON TABLE afterword.ledger TO afterword_operator;
GRANT INSERT(subject_id) ON TABLE afterword.ledger TO afterword_worker;
GRANT INSERT(subject_id) ON TABLE afterword.ledger TO afterword_verdict;
GRANT INSERT(subject_id) ON TABLE afterword.ledger TO afterword_eraser;
GRANT INSERT(actor) ON TABLE afterword.ledger TO afterword_operator;
GRANT INSERT(actor) ON TABLE afterword.ledger TO afterword_worker;
GRANT INSERT(actor) ON TABLE afterword.ledger TO afterword_verdict;
GRANT INSERT(actor) ON TABLE afterword.ledger TO afterword_eraser;
GRANT INSERT(action) ON TABLE afterword.ledger TO afterword_operator;
GRANT INSERT(action) ON TABLE afterword.ledger TO afterword_worker;
GRANT INSERT(action) ON TABLE afterword.ledger TO afterword_verdict;
GRANT INSERT(action) ON TABLE afterword.ledger TO afterword_eraser;
GRANT INSERT(detail) ON TABLE afterword.ledger TO afterword_operator;
GRANT INSERT(detail) ON TABLE afterword.ledger TO afterword_worker;
GRANT INSERT(detail) ON TABLE afterword.ledger TO afterword_verdict;
GRANT INSERT(detail) ON TABLE afterword.ledger TO afterword_eraser;
GRANT INSERT(payload_hash) ON TABLE afterword.ledger TO afterword_operator;
GRANT INSERT(payload_hash) ON TABLE afterword.ledger TO afterword_worker;
GRANT INSERT(payload_hash) ON TABLE afterword.ledger TO afterword_verdict;
GRANT INSERT(payload_hash) ON TABLE afterword.ledger TO afterword_eraser;
GRANT SELECT ON TABLE afterword.memory_moves TO afterword_worker;
GRANT SELECT ON TABLE afterword.memory_moves TO afterword_operator;
GRANT SELECT ON TABLE afterword.migrations TO afterword_reviewer;
GRANT SELECT ON TABLE afterword.migrations TO afterword_operator;
GRANT SELECT ON TABLE afterword.migrations TO afterword_worker;
GRANT SELECT,INSERT ON TABLE afterword.model_calls TO afterword_worker;
GRANT SELECT,INSERT ON TABLE afterword.model_calls TO afterword_operator;
GRANT UPDATE(answered_by) ON TABLE afterword.model_calls TO afterword_worker;
GRANT UPDATE(answered_by) ON TABLE afterword.model_calls TO afterword_operator;
GRANT UPDATE(input_tokens) ON TABLE afterword.model_calls TO afterword_worker;
GRANT UPDATE(input_tokens) ON TABLE afterword.model_calls TO afterword_operator;
GRANT UPDATE(output_tokens) ON TABLE afterword.model_calls TO afterword_worker;
GRANT UPDATE(output_tokens) ON TABLE afterword.model_calls TO afterword_operator;
GRANT UPDATE(cost) ON TABLE afterword.model_calls TO afterword_worker;
GRANT UPDATE(cost) ON TABLE afterword.model_calls TO afterword_operator;
GRANT UPDATE(latency_seconds) ON TABLE afterword.model_calls TO afterword_worker;
GRANT UPDATE(latency_seconds) ON TABLE afterword.model_calls TO afterword_operator;
GRANT UPDATE(outcome) ON TABLE afterword.model_calls TO afterword_worker;
GRANT UPDATE(outcome) ON TABLE afterword.model_calls TO afterword_operator;
GRANT UPDATE(settled_at) ON TABLE afterword.model_calls TO afterword_worker;
GRANT UPDATE(settled_at) ON TABLE afterword.model_calls TO afterword_operator;
GRANT SELECT ON TABLE afterword.namespaces TO afterword_worker;
GRANT SELECT ON TABLE afterword.namespaces TO afterword_verdict;
GRANT SELECT,INSERT ON TABLE afterword.namespaces TO afterword_operator;
GRANT SELECT ON TABLE afterword.namespaces TO afterword_recall;
GRANT UPDATE(scope_kind) ON TABLE afterword.namespaces TO afterword_operator;
GRANT UPDATE(scope_value) ON TABLE afterword.namespaces TO afterword_operator;
GRANT UPDATE(path) ON TABLE afterword.namespaces TO afterword_operator;
GRANT UPDATE(title) ON TABLE afterword.namespaces TO afterword_operator;
GRANT UPDATE(description) ON TABLE afterword.namespaces TO afterword_operator;
GRANT UPDATE(preamble) ON TABLE afterword.namespaces TO afterword_operator;
GRANT UPDATE(agents) ON TABLE afterword.namespaces TO afterword_operator;
GRANT SELECT,INSERT ON TABLE afterword.occurrences TO afterword_worker;
GRANT SELECT ON TABLE afterword.occurrences TO afterword_operator;
GRANT SELECT ON TABLE afterword.occurrences TO afterword_verdict;
GRANT UPDATE(undone_at) ON TABLE afterword.occurrences TO afterword_verdict;
GRANT UPDATE(undone_by) ON TABLE afterword.occurrences TO afterword_verdict;
GRANT SELECT,INSERT,UPDATE ON TABLE afterword.org_search TO afterword_worker;
GRANT SELECT ON TABLE afterword.org_search TO afterword_recall;
GRANT SELECT ON TABLE afterword.org_search TO afterword_operator;
GRANT SELECT ON TABLE afterword.orgs TO afterword_worker;
GRANT SELECT ON TABLE afterword.orgs TO afterword_verdict;
GRANT SELECT ON TABLE afterword.orgs TO afterword_operator;
GRANT SELECT ON TABLE afterword.orgs TO afterword_eraser;
GRANT INSERT(name) ON TABLE afterword.orgs TO afterword_operator;
GRANT INSERT(settings),UPDATE(settings) ON TABLE afterword.orgs TO afterword_operator;
GRANT INSERT(actor),UPDATE(actor) ON TABLE afterword.orgs TO afterword_operator;
GRANT INSERT(reason),UPDATE(reason) ON TABLE afterword.orgs TO afterword_operator;
GRANT SELECT ON TABLE afterword.outcomes TO afterword_worker;
GRANT INSERT ON TABLE afterword.outcomes TO afterword_verdict;
GRANT MAINTAIN ON TABLE afterword.outcomes TO afterword_operator;
GRANT DELETE ON TABLE afterword.outcomes TO afterword_eraser;
GRANT SELECT(id) ON TABLE afterword.outcomes TO afterword_eraser;
GRANT SELECT(org_id) ON TABLE afterword.outcomes TO afterword_eraser;
GRANT SELECT(memory_id) ON TABLE afterword.outcomes TO afterword_eraser;
GRANT UPDATE(comment) ON TABLE afterword.outcomes TO afterword_eraser;
GRANT SELECT(at) ON TABLE afterword.outcomes TO afterword_eraser;
GRANT SELECT(expires_at),UPDATE(expires_at) ON TABLE afterword.outcomes TO afterword_eraser;
GRANT SELECT ON SEQUENCE afterword.outcomes_lost TO afterword_worker;
GRANT USAGE ON SEQUENCE afterword.outcomes_lost TO afterword_verdict;
GRANT SELECT,INSERT,UPDATE ON TABLE afterword.pass_cursors TO afterword_worker;
GRANT SELECT ON TABLE afterword.pass_cursors TO afterword_operator;
GRANT SELECT ON TABLE afterword.recalls TO afterword_worker;
GRANT SELECT,INSERT ON TABLE afterword.recalls TO afterword_recall;
GRANT SELECT ON TABLE afterword.recalls TO afterword_reviewer;
GRANT SELECT ON TABLE afterword.recalls TO afterword_operator;
GRANT DELETE ON TABLE afterword.recalls TO afterword_eraser;
GRANT SELECT(id) ON TABLE afterword.recalls TO afterword_eraser;
GRANT SELECT(org_id) ON TABLE afterword.recalls TO afterword_eraser;
GRANT SELECT(at) ON TABLE afterword.recalls TO afterword_eraser;
GRANT SELECT(hits) ON TABLE afterword.recalls TO afterword_eraser;
GRANT UPDATE(excluded) ON TABLE afterword.recalls TO afterword_recall;
GRANT UPDATE(block_hash) ON TABLE afterword.recalls TO afterword_recall;
GRANT UPDATE(shown) ON TABLE afterword.recalls TO afterword_recall;
GRANT UPDATE(rendered_at) ON TABLE afterword.recalls TO afterword_recall;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE afterword.rejected_events TO afterword_worker;
GRANT SELECT,MAINTAIN ON TABLE afterword.rejected_events TO afterword_operator;
GRANT DELETE ON TABLE afterword.rejected_events TO afterword_eraser;
GRANT SELECT(id) ON TABLE afterword.rejected_events TO afterword_eraser;
GRANT SELECT(purge_after) ON TABLE afterword.rejected_events TO afterword_eraser;
GRANT SELECT,INSERT,UPDATE ON TABLE afterword.reviews TO afterword_worker;
GRANT SELECT,UPDATE ON TABLE afterword.reviews TO afterword_verdict;
GRANT SELECT ON TABLE afterword.reviews TO afterword_reviewer;
GRANT UPDATE ON TABLE afterword.reviews TO afterword_eraser;
GRANT MAINTAIN ON TABLE afterword.reviews TO afterword_operator;
GRANT SELECT(id) ON TABLE afterword.reviews TO afterword_operator;
GRANT INSERT(id) ON TABLE afterword.reviews TO afterword_verdict;
GRANT SELECT(id),INSERT(id) ON TABLE afterword.reviews TO afterword_eraser;
GRANT SELECT(org_id) ON TABLE afterword.reviews TO afterword_operator;
GRANT INSERT(org_id) ON TABLE afterword.reviews TO afterword_verdict;
GRANT SELECT(org_id),INSERT(org_id) ON TABLE afterword.reviews TO afterword_eraser;
GRANT SELECT(memory_id) ON TABLE afterword.reviews TO afterword_operator;
GRANT INSERT(memory_id) ON TABLE afterword.reviews TO afterword_verdict;
GRANT SELECT(memory_id),INSERT(memory_id) ON TABLE afterword.reviews TO afterword_eraser;
GRANT SELECT(drop_id) ON TABLE afterword.reviews TO afterword_operator;
GRANT SELECT(drop_id) ON TABLE afterword.reviews TO afterword_eraser;
GRANT SELECT(kind) ON TABLE afterword.reviews TO afterword_operator;
GRANT INSERT(kind) ON TABLE afterword.reviews TO afterword_verdict;
GRANT SELECT(kind),INSERT(kind) ON TABLE afterword.reviews TO afterword_eraser;
GRANT SELECT(reasons) ON TABLE afterword.reviews TO afterword_operator;
GRANT INSERT(reasons) ON TABLE afterword.reviews TO afterword_verdict;
GRANT INSERT(reasons) ON TABLE afterword.reviews TO afterword_eraser;
GRANT SELECT(opened_at) ON TABLE afterword.reviews TO afterword_operator;
GRANT SELECT(closed_at) ON TABLE afterword.reviews TO afterword_operator;
GRANT SELECT(closed_at) ON TABLE afterword.reviews TO afterword_eraser;
GRANT SELECT(decision) ON TABLE afterword.reviews TO afterword_operator;
GRANT SELECT(decision) ON TABLE afterword.reviews TO afterword_eraser;
GRANT SELECT(decided_by) ON TABLE afterword.reviews TO afterword_operator;
GRANT SELECT(cites) ON TABLE afterword.reviews TO afterword_operator;
GRANT SELECT,INSERT,UPDATE ON TABLE afterword.runs TO afterword_worker;
GRANT SELECT,INSERT ON TABLE afterword.runs TO afterword_verdict;
GRANT SELECT,MAINTAIN ON TABLE afterword.runs TO afterword_operator;
GRANT SELECT,UPDATE ON TABLE afterword.runs TO afterword_eraser;
GRANT SELECT(id) ON TABLE afterword.runs TO afterword_recall;
GRANT SELECT(id) ON TABLE afterword.runs TO afterword_reviewer;
GRANT SELECT(org_id) ON TABLE afterword.runs TO afterword_reviewer;
GRANT SELECT(kind) ON TABLE afterword.runs TO afterword_reviewer;
GRANT SELECT(state) ON TABLE afterword.runs TO afterword_reviewer;
GRANT SELECT(session) ON TABLE afterword.runs TO afterword_recall;
GRANT SELECT(project) ON TABLE afterword.runs TO afterword_reviewer;
GRANT SELECT(memory_id) ON TABLE afterword.runs TO afterword_reviewer;
GRANT SELECT(created_at) ON TABLE afterword.runs TO afterword_reviewer;
GRANT SELECT(state_at) ON TABLE afterword.runs TO afterword_reviewer;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE afterword.transcripts TO afterword_worker;
GRANT DELETE ON TABLE afterword.transcripts TO afterword_eraser;
GRANT MAINTAIN ON TABLE afterword.transcripts TO afterword_operator;
GRANT SELECT(run_id) ON TABLE afterword.transcripts TO afterword_eraser;
GRANT SELECT(org_id) ON TABLE afterword.transcripts TO afterword_eraser;
GRANT SELECT(purge_after),UPDATE(purge_after) ON TABLE afterword.transcripts TO afterword_eraser;
GRANT SELECT ON TABLE afterword.past_date TO afterword_worker;
GRANT SELECT ON TABLE afterword.past_date TO afterword_operator;
GRANT SELECT,INSERT,DELETE ON TABLE afterword.payloads TO afterword_worker;
GRANT DELETE ON TABLE afterword.payloads TO afterword_eraser;
GRANT MAINTAIN ON TABLE afterword.payloads TO afterword_operator;
GRANT SELECT(org_id) ON TABLE afterword.payloads TO afterword_eraser;
GRANT SELECT(entry_id) ON TABLE afterword.payloads TO afterword_eraser;
GRANT UPDATE(detectors) ON TABLE afterword.payloads TO afterword_worker;
GRANT SELECT ON TABLE afterword.promptable TO afterword_agent;
GRANT SELECT ON TABLE afterword.reclassifications TO afterword_operator;
GRANT SELECT ON TABLE afterword.reclassifications TO afterword_worker;
GRANT INSERT(id) ON TABLE afterword.reclassifications TO afterword_operator;
GRANT INSERT(kind) ON TABLE afterword.reclassifications TO afterword_operator;
GRANT INSERT(org_id) ON TABLE afterword.reclassifications TO afterword_operator;
GRANT INSERT(since) ON TABLE afterword.reclassifications TO afterword_operator;
GRANT INSERT(dry_run) ON TABLE afterword.reclassifications TO afterword_operator;
GRANT INSERT(actor) ON TABLE afterword.reclassifications TO afterword_operator;
GRANT INSERT(reason) ON TABLE afterword.reclassifications TO afterword_operator;
GRANT INSERT(rate_per_second) ON TABLE afterword.reclassifications TO afterword_operator;
GRANT UPDATE(status) ON TABLE afterword.reclassifications TO afterword_worker;
GRANT UPDATE(store) ON TABLE afterword.reclassifications TO afterword_worker;
GRANT UPDATE(after) ON TABLE afterword.reclassifications TO afterword_worker;
GRANT UPDATE(passes) ON TABLE afterword.reclassifications TO afterword_worker;
GRANT UPDATE(counts) ON TABLE afterword.reclassifications TO afterword_worker;
GRANT UPDATE(detectors) ON TABLE afterword.reclassifications TO afterword_worker;
GRANT UPDATE(looked_at) ON TABLE afterword.reclassifications TO afterword_worker;
GRANT UPDATE(finished_at) ON TABLE afterword.reclassifications TO afterword_worker;
GRANT UPDATE(plan_digest) ON TABLE afterword.reclassifications TO afterword_worker;
GRANT INSERT(plan_id) ON TABLE afterword.reclassifications TO afterword_operator;
GRANT INSERT(planned_by) ON TABLE afterword.reclassifications TO afterword_operator;
GRANT INSERT(confirmed_digest) ON TABLE afterword.reclassifications TO afterword_operator;
GRANT SELECT ON TABLE afterword.reclassified TO afterword_operator;
GRANT SELECT,INSERT ON TABLE afterword.reclassified TO afterword_worker;
GRANT SELECT,INSERT ON TABLE afterword.replayed_runs TO afterword_worker;
GRANT SELECT ON TABLE afterword.replayed_runs TO afterword_operator;
GRANT SELECT,UPDATE ON TABLE afterword.replays TO afterword_worker;
GRANT SELECT,INSERT ON TABLE afterword.replays TO afterword_operator;
GRANT SELECT ON TABLE afterword.retention_defaults TO afterword_eraser;
GRANT SELECT ON TABLE afterword.retention_defaults TO afterword_worker;
GRANT SELECT ON TABLE afterword.retention_defaults TO afterword_operator;
GRANT SELECT ON TABLE afterword.retention_defaults TO afterword_verdict;
GRANT SELECT ON TABLE afterword.run_entries TO afterword_worker;
GRANT SELECT ON TABLE afterword.run_entries TO afterword_operator;
GRANT SELECT ON TABLE afterword.run_moves TO afterword_worker;
GRANT SELECT ON TABLE afterword.run_moves TO afterword_operator;
GRANT SELECT,DELETE ON TABLE afterword.run_subjects TO afterword_eraser;
GRANT SELECT,INSERT,DELETE ON TABLE afterword.run_subjects TO afterword_worker;
GRANT MAINTAIN ON TABLE afterword.run_subjects TO afterword_operator;
GRANT SELECT,INSERT ON TABLE afterword.seals TO afterword_worker;
GRANT SELECT ON TABLE afterword.seals TO afterword_operator;
GRANT SELECT ON TABLE afterword.spaces TO afterword_worker;
GRANT SELECT,INSERT ON TABLE afterword.spaces TO afterword_operator;
GRANT SELECT ON TABLE afterword.stamps TO afterword_worker;
GRANT SELECT ON TABLE afterword.stamps TO afterword_recall;
GRANT SELECT ON TABLE afterword.stamps TO afterword_operator;
GRANT SELECT ON TABLE afterword.stamps TO afterword_eraser;
GRANT SELECT ON TABLE afterword.stamps TO afterword_verdict;
GRANT UPDATE(indexed) ON TABLE afterword.stamps TO afterword_worker;
