-- What was asked of models and what it cost: reserved before the call, settled after it, each in a transaction of its own,
-- so that no lost lease, killed worker or failed commit loses a cost. No content.

CREATE TABLE model_calls (
  id uuid PRIMARY KEY,
  org_id integer NOT NULL REFERENCES orgs,
  run_id uuid REFERENCES runs,
  purpose text NOT NULL CHECK (purpose IN (
    'extraction', 'trial', 'comparison', 'contribute', 'compaction', 'mining', 'amendment')),
  provider text NOT NULL,
  model text NOT NULL,
  answered_by text,
  endpoint_class text NOT NULL CHECK (endpoint_class IN ('local', 'private', 'cloud')),
  prompt_revision text NOT NULL,
  reserved_input integer NOT NULL CHECK (reserved_input >= 0),
  reserved_output integer NOT NULL CHECK (reserved_output >= 0),
  reserved_cost numeric(16, 8) CHECK (reserved_cost >= 0),
  input_tokens integer CHECK (input_tokens >= 0),
  output_tokens integer CHECK (output_tokens >= 0),
  cost numeric(16, 8) CHECK (cost >= 0),
  latency_seconds real,
  outcome text NOT NULL DEFAULT 'reserved'
    CHECK (outcome IN ('reserved', 'answered', 'refused', 'unavailable', 'timed_out', 'lost')),
  reserved_at timestamptz NOT NULL DEFAULT now(),
  settled_at timestamptz,
  -- What counts: what was used, where somebody said so; else what was reserved. An unknown price is NULL, never zero.
  tokens_counted bigint NOT NULL GENERATED ALWAYS AS
    (coalesce(input_tokens::bigint + output_tokens, reserved_input::bigint + reserved_output)) STORED,
  cost_counted numeric(16, 8) GENERATED ALWAYS AS
    (CASE WHEN input_tokens IS NULL THEN reserved_cost ELSE cost END) STORED,
  CONSTRAINT tokens_of_both_directions CHECK ((input_tokens IS NULL) = (output_tokens IS NULL)),
  CONSTRAINT a_cost_is_of_tokens CHECK (cost IS NULL OR input_tokens IS NOT NULL),
  CONSTRAINT settled_has_its_time CHECK ((outcome = 'reserved') = (settled_at IS NULL)),
  CONSTRAINT an_extraction_has_its_run CHECK (purpose <> 'extraction' OR run_id IS NOT NULL)
);
CREATE INDEX model_calls_day ON model_calls (org_id, reserved_at);
CREATE INDEX model_calls_run ON model_calls (run_id);
CREATE INDEX model_calls_open ON model_calls (reserved_at) WHERE outcome = 'reserved';

-- An org's day is UTC's.
CREATE FUNCTION budget_day(at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog AS $$
  SELECT date_trunc('day', at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
$$;

CREATE FUNCTION budget_left(org integer, OUT tokens bigint, OUT cost numeric, OUT tokens_a_day bigint, OUT cost_a_day numeric)
LANGUAGE sql STABLE SET search_path = afterword, pg_temp AS $$
  SELECT b.tokens - c.tokens, b.cost - c.cost, b.tokens, b.cost
  FROM (SELECT (o.settings ->> 'budget_tokens_a_day')::bigint AS tokens, (o.settings ->> 'budget_usd_a_day')::numeric AS cost
        FROM orgs o WHERE o.id = org) b,
       (SELECT coalesce(sum(m.tokens_counted), 0)::bigint AS tokens, coalesce(sum(m.cost_counted), 0) AS cost
        FROM model_calls m WHERE m.org_id = org AND m.reserved_at >= budget_day(now())) c
$$;

-- Whoever reserves, and however many at once: a call goes where the org lets its sessions go, to a local endpoint where it
-- decided nothing, and the calls of its day stay within its budget. One org's reservations take turns; an org without a
-- budget never waits.
CREATE FUNCTION admit_call() RETURNS trigger LANGUAGE plpgsql SET search_path = afterword, pg_temp AS $$
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
CREATE TRIGGER model_calls_admitted BEFORE INSERT ON model_calls FOR EACH ROW EXECUTE FUNCTION admit_call();

-- Settled once. What was given up for lost may still come back.
CREATE FUNCTION settle_once() RETURNS trigger LANGUAGE plpgsql SET search_path = afterword, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'a call is settled once' USING ERRCODE = 'check_violation', CONSTRAINT = 'settled_once';
END $$;
CREATE TRIGGER model_calls_settled_once BEFORE UPDATE ON model_calls FOR EACH ROW
  WHEN (OLD.outcome NOT IN ('reserved', 'lost')) EXECUTE FUNCTION settle_once();

-- Who raises a budget or admits an endpoint need not wait for the next day.
CREATE INDEX runs_not_admitted ON runs (org_id)
  WHERE state = 'received' AND reason IN ('over_budget', 'endpoint_not_allowed', 'model_unavailable');
CREATE POLICY admission_rearms ON runs TO afterword_owner
  USING (state = 'received' AND reason IN ('over_budget', 'endpoint_not_allowed')) WITH CHECK (state = 'received');
CREATE FUNCTION admission_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
BEGIN
  UPDATE runs SET due_at = now(), reason = NULL
  WHERE org_id = NEW.id AND state = 'received' AND reason IN ('over_budget', 'endpoint_not_allowed') AND lease IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER orgs_admit AFTER UPDATE ON orgs FOR EACH ROW
  WHEN (jsonb_build_array(NEW.settings -> 'budget_tokens_a_day', NEW.settings -> 'budget_usd_a_day',
                          NEW.settings -> 'endpoint_classes')
    <> jsonb_build_array(OLD.settings -> 'budget_tokens_a_day', OLD.settings -> 'budget_usd_a_day',
                         OLD.settings -> 'endpoint_classes'))
  EXECUTE FUNCTION admission_changed();
ALTER TABLE orgs ADD CONSTRAINT a_budget_is_a_number CHECK (
  coalesce(jsonb_typeof(settings -> 'budget_tokens_a_day'), 'null') IN ('number', 'null')
  AND coalesce(jsonb_typeof(settings -> 'budget_usd_a_day'), 'null') IN ('number', 'null')
  AND NOT jsonb_path_exists(settings, '$.* ? (@.type() == "number" && @ < 0)'));

ALTER TABLE model_calls ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY workers_reach_all_orgs ON model_calls TO afterword_worker USING (true) WITH CHECK (true);
CREATE POLICY operators_read ON model_calls FOR SELECT TO afterword_operator USING (true);
CREATE POLICY operators_ask ON model_calls FOR INSERT TO afterword_operator WITH CHECK (purpose <> 'extraction');
CREATE POLICY operators_settle ON model_calls FOR UPDATE TO afterword_operator
  USING (purpose <> 'extraction') WITH CHECK (purpose <> 'extraction');
GRANT SELECT, INSERT, UPDATE (answered_by, input_tokens, output_tokens, cost, latency_seconds, outcome, settled_at)
  ON model_calls TO afterword_worker, afterword_operator;
REVOKE ALL ON FUNCTION budget_left(integer), budget_day(timestamptz), admit_call(), settle_once(), admission_changed()
  FROM PUBLIC;
GRANT EXECUTE ON FUNCTION budget_left(integer), budget_day(timestamptz) TO afterword_worker, afterword_operator;
