-- What is past its date: found in one place (the view past_date) and purged by one function, whoever asks for it.

-- How long each class of data is kept by default (pipeline/retention.py, compared by a test), and what an org may change.
CREATE TABLE retention_defaults (
  name text PRIMARY KEY,
  days integer NOT NULL CHECK (days > 0),
  by_org boolean NOT NULL
);
INSERT INTO retention_defaults VALUES
  ('facts', 90, true), ('preferences', 365, true), ('rules', 365, true), ('turns', 30, true),
  ('transcripts', 30, true), ('drops', 90, true), ('outcomes', 30, true), ('recalls', 365, true), ('rejected_events', 14, false),
  ('tokens', 1, false);

-- An org keeps for 30 days at least: what must go sooner is erased, by name and on record. Ten years is a typing error.
ALTER TABLE orgs
  ADD CONSTRAINT retention_is_known CHECK (
    jsonb_typeof(coalesce(settings -> 'retention', '{}')) = 'object'
    AND coalesce(settings -> 'retention', '{}')
      - '{facts,preferences,rules,turns,transcripts,drops,recalls,outcomes}'::text[] = '{}'),
  ADD CONSTRAINT retention_floor CHECK (NOT jsonb_path_exists(settings,
    'strict $.retention.* ? (@.type() != "number" || @ < 30 || @ > 3650 || @.floor() != @)', silent => true));

CREATE FUNCTION retention_days(org integer, name text) RETURNS integer LANGUAGE sql STABLE
SET search_path = afterword, pg_temp AS $$
  SELECT coalesce((SELECT (o.settings #>> ARRAY['retention', d.name])::integer FROM orgs o
                   WHERE d.by_org AND o.id = retention_days.org), d.days)
  FROM retention_defaults d WHERE d.name = retention_days.name
$$;

-- A date never moves later, whatever is restated; a rule's is that of its next review, which a person holds. The one thing
-- that use may lengthen is a fact about nobody, by a recall that is on record: to as long after it as a new one is kept,
-- and to twice that in all.
CREATE FUNCTION refuse_later() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = afterword, pg_temp AS $$
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
CREATE TRIGGER memories_kept_no_longer BEFORE UPDATE ON memories FOR EACH ROW
  WHEN (NEW.expires_at > OLD.expires_at) EXECUTE FUNCTION refuse_later();
CREATE TRIGGER transcripts_kept_no_longer BEFORE UPDATE ON transcripts FOR EACH ROW
  WHEN (NEW.purge_after > OLD.purge_after) EXECUTE FUNCTION refuse_later();
CREATE TRIGGER drops_kept_no_longer BEFORE UPDATE ON drops FOR EACH ROW
  WHEN (NEW.expires_at > OLD.expires_at) EXECUTE FUNCTION refuse_later();
CREATE TRIGGER outcomes_kept_no_longer BEFORE UPDATE ON outcomes FOR EACH ROW
  WHEN (NEW.expires_at > OLD.expires_at) EXECUTE FUNCTION refuse_later();
CREATE TRIGGER rejected_kept_no_longer BEFORE UPDATE ON rejected_events FOR EACH ROW
  WHEN (NEW.purge_after > OLD.purge_after) EXECUTE FUNCTION refuse_later();
ALTER TABLE memories ADD CONSTRAINT memories_end CHECK (kind = 'rule' OR expires_at <= created_at + interval '10 years');
CREATE INDEX memories_expire ON memories (expires_at) WHERE erased_at IS NULL;
CREATE INDEX memories_renew ON memories (expires_at)
  WHERE kind = 'rule' AND status = 'active' AND erased_at IS NULL;

CREATE FUNCTION renew_rule() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = afterword, pg_temp AS $$
BEGIN
  UPDATE memories SET expires_at = now() + make_interval(days => retention_days(NEW.org_id, 'rules'))
  WHERE id = NEW.memory_id;
  RETURN NULL;
END $$;
CREATE TRIGGER reviews_renew AFTER UPDATE ON reviews FOR EACH ROW
  WHEN (NEW.kind = 'renew' AND OLD.closed_at IS NULL AND NEW.decision = 'approve') EXECUTE FUNCTION renew_rule();

-- An org that shortens what it keeps shortens it for what it has; one that lengthens does so for what comes.
CREATE FUNCTION shorten() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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
CREATE TRIGGER orgs_shorten AFTER UPDATE ON orgs FOR EACH ROW
  WHEN (NEW.settings -> 'retention' IS DISTINCT FROM OLD.settings -> 'retention') EXECUTE FUNCTION shorten();

CREATE VIEW held_now AS
  SELECT h.row_id FROM held_rows h JOIN legal_holds l ON l.id = h.hold_id WHERE l.released_at IS NULL;

-- Everything whose time has come, and since when. What a legal hold keeps is seen here and passed over.
-- A memory can be recalled until it expires, and is emptied seven days later: a setting typed wrong is noticed by then.
CREATE VIEW past_date WITH (security_barrier) AS
  SELECT 'transcripts'::text AS store, t.org_id, t.run_id AS id, t.purge_after AS since, t.run_id IN (SELECT row_id FROM held_now) AS held
  FROM transcripts t WHERE t.purge_after <= now()
UNION ALL
  SELECT 'envelopes', e.org_id, e.run_id, r.state_at + make_interval(days => retention_days(e.org_id, 'transcripts')),
    e.run_id IN (SELECT row_id FROM held_now)
  FROM envelopes e JOIN runs r ON r.id = e.run_id
  WHERE r.state = 'dead_letter'
    AND r.state_at + make_interval(days => retention_days(e.org_id, 'transcripts')) <= now()
UNION ALL
  SELECT 'rejected_events', NULL, x.id, x.purge_after, x.id IN (SELECT row_id FROM held_now) FROM rejected_events x WHERE x.purge_after <= now()
UNION ALL
  SELECT 'drops', d.org_id, d.id, d.expires_at, d.run_id IN (SELECT row_id FROM held_now)
  FROM drops d WHERE d.expires_at <= now() AND d.erased_at IS NULL
UNION ALL
  SELECT 'expired', m.org_id, m.id, m.expires_at + interval '7 days', m.run_id IN (SELECT row_id FROM held_now)
  FROM memories m WHERE m.expires_at <= now() - interval '7 days' AND m.erased_at IS NULL
    AND NOT (m.kind = 'rule' AND m.status = 'active')
UNION ALL
  SELECT 'forgotten', m.org_id, m.id, m.purge_after, m.run_id IN (SELECT row_id FROM held_now)
  FROM memories m WHERE m.purge_after <= now() AND m.erased_at IS NULL
    AND (m.expires_at > now() - interval '7 days')
UNION ALL
  SELECT 'recalls', r.org_id, r.id, r.at + make_interval(days => o.days), false
  FROM (SELECT id, retention_days(id, 'recalls') AS days FROM orgs) o
  JOIN recalls r ON r.org_id = o.id AND r.at <= now() - make_interval(days => o.days)
UNION ALL
  SELECT 'outcomes', o.org_id, o.id, o.expires_at, EXISTS (
    SELECT FROM memories m WHERE m.id = o.memory_id AND m.run_id IN (SELECT row_id FROM held_now))
  FROM outcomes o WHERE o.expires_at <= now()
UNION ALL
  SELECT 'tokens', t.org_id, t.id, t.expires_at + interval '1 day', false
  FROM tokens t WHERE t.expires_at <= now() - interval '1 day'
UNION ALL
  SELECT 'renewals', m.org_id, m.id, m.expires_at, false
  FROM memories m WHERE m.expires_at <= now() AND m.erased_at IS NULL AND m.kind = 'rule' AND m.status = 'active'
    AND NOT EXISTS (SELECT FROM reviews r WHERE r.memory_id = m.id AND r.kind = 'renew' AND r.closed_at IS NULL);

-- All that a memory's text stands in goes at once; what was decided about it, and when, stays.
CREATE FUNCTION empty_memories(ids uuid[], actor text, reason text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = afterword, pg_temp AS $$
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
END $$;

-- At most so many of each store, oldest first, in one transaction; one purger at a time. Called again until it returns
-- nothing; a purger that is killed leaves what it had not committed to the next.
CREATE FUNCTION purge_due(actor text, org integer DEFAULT NULL, max_rows integer DEFAULT 500)
RETURNS TABLE (store text, org_id integer, rows bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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

CREATE FUNCTION purge_store(store text, ids uuid[], actor text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = afterword, pg_temp AS $$
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

-- Who may do what.
REVOKE ALL ON FUNCTION retention_days(integer, text), refuse_later(), renew_rule(), shorten(),
  empty_memories(uuid[], text, text), purge_due(text, integer, integer), purge_store(text, uuid[], text) FROM PUBLIC;
CREATE POLICY erasure ON recalls TO afterword_eraser USING (true) WITH CHECK (true);
-- Dates and kinds, and still no text.
GRANT SELECT (id, org_id, at, hits), DELETE ON recalls TO afterword_eraser;
GRANT SELECT (id, org_id, memory_id, at, expires_at), UPDATE (comment, expires_at), DELETE ON outcomes
  TO afterword_eraser;
GRANT SELECT (purge_after) ON transcripts, rejected_events TO afterword_eraser;
GRANT UPDATE (purge_after) ON transcripts TO afterword_eraser;
GRANT SELECT (id, expires_at) ON tokens TO afterword_eraser;
GRANT SELECT (at, expires_at, scope_kind) ON drops TO afterword_eraser;
GRANT SELECT (kind, drop_id, decision) ON reviews TO afterword_eraser;
GRANT SELECT (kind, created_at, expires_at, purge_after) ON memories TO afterword_eraser;
GRANT INSERT (id, org_id, memory_id, kind, reasons) ON reviews TO afterword_eraser;
GRANT SELECT ON retention_defaults TO afterword_eraser, afterword_worker, afterword_operator, afterword_verdict;
GRANT CREATE ON SCHEMA afterword TO afterword_eraser;
ALTER VIEW held_now OWNER TO afterword_eraser;
ALTER VIEW past_date OWNER TO afterword_eraser;
DO $$
DECLARE
  f text;
BEGIN
  FOREACH f IN ARRAY ARRAY['retention_days(integer, text)', 'refuse_later()', 'renew_rule()', 'shorten()',
      'empty_memories(uuid[], text, text)', 'purge_due(text, integer, integer)', 'purge_store(text, uuid[], text)'] LOOP
    EXECUTE 'ALTER FUNCTION ' || f || ' OWNER TO afterword_eraser';
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA afterword FROM afterword_eraser;
GRANT SELECT ON past_date TO afterword_worker, afterword_operator;
GRANT EXECUTE ON FUNCTION retention_days(integer, text) TO afterword_worker, afterword_operator, afterword_verdict;
GRANT EXECUTE ON FUNCTION purge_due(text, integer, integer) TO afterword_worker, afterword_operator;
