-- What stands already is looked at again: by request, by the workers that detect, with every change on record.

-- The detector set that looked last, as the worker that writes says in its transaction.
ALTER TABLE memories ADD COLUMN detectors text DEFAULT current_setting('afterword.detectors', true);
ALTER TABLE drops ADD COLUMN detectors text DEFAULT current_setting('afterword.detectors', true);
ALTER TABLE transcripts ADD COLUMN detectors text;
ALTER TABLE payloads ADD COLUMN detectors text;

-- A request. rescan: today's detectors over what older ones stored; reevaluate: classifier and gate over memories,
-- which makes a plan; apply: a plan carried out, by another person than the one who had it made.
CREATE TABLE reclassifications (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('rescan', 'reevaluate', 'apply')),
  org_id integer REFERENCES orgs,
  since timestamptz,
  dry_run boolean NOT NULL DEFAULT false CHECK (NOT dry_run OR kind = 'rescan'),
  actor text NOT NULL CHECK (actor ~ '\S'),
  reason text NOT NULL CHECK (reason ~ '\S'),
  rate_per_second real NOT NULL CHECK (rate_per_second > 0 AND rate_per_second < 'Infinity'),
  requested_at timestamptz NOT NULL DEFAULT now(),
  status text NOT NULL DEFAULT 'requested' CHECK (status IN ('requested', 'running', 'finished', 'stopped')),
  -- How far it is: the store at hand, the key of its last row, and what became of the rows so far.
  store text NOT NULL DEFAULT 'memories',
  after text,
  passes smallint NOT NULL DEFAULT 0,
  counts jsonb NOT NULL DEFAULT '{}',
  detectors text,
  looked_at timestamptz,
  finished_at timestamptz CHECK ((finished_at IS NOT NULL) = (status IN ('finished', 'stopped'))),
  -- Of a finished plan: the digest of its rows in `reclassified`.
  plan_digest bytea CHECK (plan_digest IS NULL OR (kind = 'reevaluate' AND status = 'finished')),
  plan_id uuid UNIQUE,
  planned_by text,
  confirmed_digest bytea,
  CONSTRAINT an_application_confirms_a_plan
    CHECK (num_nonnulls(plan_id, planned_by, confirmed_digest) = CASE kind WHEN 'apply' THEN 3 ELSE 0 END),
  CONSTRAINT two_people CHECK (kind <> 'apply' OR lower(btrim(actor)) <> lower(btrim(planned_by))),
  CONSTRAINT reclassifications_plan UNIQUE (id, actor, plan_digest),
  CONSTRAINT the_plan_confirmed_is_the_plan
    FOREIGN KEY (plan_id, planned_by, confirmed_digest) REFERENCES reclassifications (id, actor, plan_digest)
);
CREATE INDEX reclassifications_open ON reclassifications (requested_at) WHERE finished_at IS NULL;

-- What became of a memory, or would: labels, never texts.
CREATE TABLE reclassified (
  reclassification_id uuid NOT NULL REFERENCES reclassifications,
  memory_id uuid NOT NULL REFERENCES memories,
  org_id integer NOT NULL REFERENCES orgs,
  revision integer NOT NULL,
  status text NOT NULL,
  move text NOT NULL CHECK (move IN ('note', 'hold', 'revise', 'release', 'erase')),
  classes_before text[] NOT NULL,
  classes text[] NOT NULL,
  reasons_before text[] NOT NULL,
  reasons text[] NOT NULL,
  PRIMARY KEY (reclassification_id, memory_id)
);

CREATE FUNCTION plan_digest(plan uuid) RETURNS bytea LANGUAGE sql STABLE SET search_path = afterword, pg_temp AS $$
  SELECT sha256(convert_to(coalesce(string_agg(concat_ws(' ', r.memory_id, r.revision, r.status, r.move,
    r.classes_before, r.classes, r.reasons_before, r.reasons), E'\n' ORDER BY r.memory_id), ''), 'UTF8'))
  FROM reclassified r WHERE r.reclassification_id = plan_digest.plan
$$;

CREATE FUNCTION reclassification_moved() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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
CREATE TRIGGER reclassifications_moved AFTER INSERT OR UPDATE ON reclassifications
  FOR EACH ROW EXECUTE FUNCTION reclassification_moved();
CREATE TRIGGER reclassifications_kept BEFORE DELETE OR TRUNCATE ON reclassifications
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER reclassified_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON reclassified
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- An operator asks; a worker carries out. Nobody who asks can write what is asked about.
DO $$
DECLARE
  t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['reclassifications', 'reclassified'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY workers_reach_all_orgs ON %I TO afterword_worker USING (true) WITH CHECK (true)', t);
    EXECUTE format('CREATE POLICY operators_read ON %I FOR SELECT TO afterword_operator USING (true)', t);
  END LOOP;
END $$;
CREATE POLICY operators_ask ON reclassifications FOR INSERT TO afterword_operator WITH CHECK (true);
-- The keys' own look-ups, made as the owner.
CREATE POLICY keys_look ON reclassifications FOR SELECT TO afterword_owner USING (true);
GRANT SELECT ON reclassifications, reclassified TO afterword_operator, afterword_worker;
GRANT INSERT (id, kind, org_id, since, dry_run, actor, reason, rate_per_second, plan_id, planned_by, confirmed_digest)
  ON reclassifications TO afterword_operator;
GRANT UPDATE (status, store, after, passes, counts, detectors, looked_at, finished_at, plan_digest)
  ON reclassifications TO afterword_worker;
GRANT INSERT ON reclassified TO afterword_worker;
GRANT UPDATE (detectors) ON drops, payloads TO afterword_worker;
GRANT DELETE ON payloads TO afterword_worker;
REVOKE ALL ON FUNCTION plan_digest(uuid), reclassification_moved() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION plan_digest(uuid) TO afterword_worker;
