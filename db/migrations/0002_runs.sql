-- Runs: the state machine of pipeline/states.py, with the queue it is worked from.

CREATE TABLE run_entries (kind text NOT NULL, state text NOT NULL, PRIMARY KEY (kind, state));
INSERT INTO run_entries VALUES
  ('session', 'received'), ('proposal', 'received'), ('proposal', 'extracted'), ('note', 'received'),
  ('verdict', 'extracted'), ('verdict', 'redacted'), ('reextract', 'received');

CREATE TABLE run_moves (from_state text NOT NULL, to_state text NOT NULL, PRIMARY KEY (from_state, to_state));
INSERT INTO run_moves VALUES
  ('received', 'extracted'), ('received', 'skipped'), ('received', 'dead_letter'),
  ('extracted', 'redacted'), ('extracted', 'dead_letter'),
  ('redacted', 'embedded'), ('redacted', 'dead_letter'),
  ('embedded', 'consolidated'), ('embedded', 'dead_letter'),
  ('dead_letter', 'received'), ('dead_letter', 'extracted'), ('dead_letter', 'redacted'), ('dead_letter', 'embedded');

CREATE TABLE runs (
  id uuid PRIMARY KEY,
  org_id integer NOT NULL REFERENCES orgs,
  kind text NOT NULL CHECK (kind IN ('session', 'proposal', 'note', 'verdict', 'reextract')),
  state text NOT NULL
    CHECK (state IN ('received', 'extracted', 'redacted', 'embedded', 'consolidated', 'skipped', 'dead_letter')),
  event_key text NOT NULL,
  content_hash bytea NOT NULL,
  session text NOT NULL,
  agent text NOT NULL,
  project text,
  user_id text,
  event jsonb NOT NULL,
  ended_at timestamptz NOT NULL,
  turns integer NOT NULL DEFAULT 0,
  first_own integer NOT NULL DEFAULT 0 CHECK (first_own >= 0),
  -- A verdict is about a memory, or restores a drop.
  memory_id uuid,
  drop_id uuid CHECK (num_nonnulls(memory_id, drop_id) = (kind = 'verdict')::integer),
  -- The queue: a leased run is due again when its lease ends; a finished one is never due.
  due_at timestamptz DEFAULT now()
    CHECK ((due_at IS NULL) = (state IN ('consolidated', 'skipped', 'dead_letter'))),
  lease uuid CHECK (lease IS NULL OR due_at IS NOT NULL),
  attempts smallint NOT NULL DEFAULT 0,
  lease_losses smallint NOT NULL DEFAULT 0,
  replays smallint NOT NULL DEFAULT 0,
  replay_id uuid,
  died_in text CHECK ((died_in IS NOT NULL) = (state = 'dead_letter')),
  error_code text CHECK ((state = 'dead_letter') <= (error_code IS NOT NULL)),
  error_detail text,
  skip_reason text CHECK ((skip_reason IS NOT NULL) = (state = 'skipped')),
  actor text NOT NULL DEFAULT session_user,
  reason text,
  created_at timestamptz NOT NULL DEFAULT now(),
  state_at timestamptz NOT NULL DEFAULT now(),
  -- What the sender said of it is gone, and its key with it, whose hash stays so that it is not taken in again.
  erased_at timestamptz
);
ALTER TABLE runs
  ALTER COLUMN event SET STATISTICS 0, ALTER COLUMN event_key SET STATISTICS 0,
  ALTER COLUMN content_hash SET STATISTICS 0, ALTER COLUMN session SET STATISTICS 0,
  ALTER COLUMN agent SET STATISTICS 0, ALTER COLUMN project SET STATISTICS 0,
  ALTER COLUMN user_id SET STATISTICS 0, ALTER COLUMN error_detail SET STATISTICS 0;
CREATE INDEX runs_due ON runs (state, org_id, due_at) WHERE due_at IS NOT NULL;
-- A lease that is still written on a due run was lost, though nobody has counted it yet.
CREATE INDEX runs_suspect ON runs (state, due_at)
  WHERE due_at IS NOT NULL AND lease_losses + (lease IS NOT NULL)::integer >= 2;
-- Two keys, so that no sender can take the place of a verdict by naming its event like one.
CREATE UNIQUE INDEX runs_event ON runs (org_id, event_key) WHERE kind <> 'verdict';
CREATE UNIQUE INDEX runs_verdict ON runs (org_id, event_key) WHERE kind = 'verdict';
CREATE INDEX runs_dead ON runs (org_id, error_code, state_at) WHERE state = 'dead_letter';
CREATE INDEX runs_session ON runs (org_id, session);
CREATE INDEX runs_finished ON runs (state) WHERE due_at IS NULL;
CREATE INDEX runs_recent ON runs (created_at);
CREATE INDEX runs_about ON runs (memory_id) WHERE memory_id IS NOT NULL;

-- Statement-level, so that a batch of moves is checked and recorded as a set.
CREATE FUNCTION run_inserted() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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

CREATE FUNCTION run_moved() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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

CREATE TRIGGER runs_inserted AFTER INSERT ON runs
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION run_inserted();
CREATE TRIGGER runs_moved AFTER UPDATE ON runs
  REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION run_moved();
CREATE TRIGGER runs_kept BEFORE DELETE OR TRUNCATE ON runs FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- zstd of the transcript's JSON; scrubbed before it came here.
CREATE TABLE transcripts (
  run_id uuid PRIMARY KEY REFERENCES runs,
  org_id integer NOT NULL REFERENCES orgs,
  body bytea NOT NULL,
  turns integer NOT NULL,
  purge_after timestamptz NOT NULL
);
ALTER TABLE transcripts ALTER COLUMN body SET STORAGE EXTERNAL, ALTER COLUMN body SET STATISTICS 0;
CREATE INDEX transcripts_purge ON transcripts (purge_after);

-- Candidates between extraction and redaction; the transaction that commits redaction deletes them.
CREATE TABLE envelopes (
  run_id uuid PRIMARY KEY REFERENCES runs,
  org_id integer NOT NULL REFERENCES orgs,
  body jsonb NOT NULL
);
ALTER TABLE envelopes ALTER COLUMN body SET STATISTICS 0;

-- What could not become a run: scrubbed, for operators, purged on a date, replayable after a fix.
CREATE TABLE rejected_events (
  id uuid PRIMARY KEY,
  entry_id text,
  reason text NOT NULL,
  detail text NOT NULL,
  body bytea NOT NULL,
  deliveries integer NOT NULL DEFAULT 1,
  at timestamptz NOT NULL DEFAULT now(),
  purge_after timestamptz NOT NULL,
  tried_at timestamptz,
  replayed_at timestamptz
);
ALTER TABLE rejected_events ALTER COLUMN body SET STATISTICS 0, ALTER COLUMN detail SET STATISTICS 0;
CREATE UNIQUE INDEX rejected_entry ON rejected_events (entry_id) WHERE entry_id IS NOT NULL;
CREATE INDEX rejected_reason ON rejected_events (reason, at);
CREATE INDEX rejected_purge ON rejected_events (purge_after);

-- A request that the replay worker carries out; nothing leaves dead letter without one.
CREATE TABLE replays (
  id uuid PRIMARY KEY,
  -- A row the worker cannot read would keep it from all others: each value must be a text, and be what it is read as.
  selector jsonb NOT NULL CONSTRAINT replays_selector CHECK (
    jsonb_typeof(selector) = 'object' AND selector - '{run,code,org,since,rejected}'::text[] = '{}'
    AND NOT jsonb_path_exists(selector, '$.* ? (@.type() != "string")')
    AND num_nulls((selector ->> 'run')::uuid, (selector ->> 'since')::timestamptz) >= 0),
  actor text NOT NULL,
  reason text NOT NULL CHECK (reason <> ''),
  rate_per_second real NOT NULL CHECK (rate_per_second > 0 AND rate_per_second < 'Infinity'),
  cap integer NOT NULL CHECK (cap > 0),
  force boolean NOT NULL DEFAULT false,
  requested_at timestamptz NOT NULL DEFAULT now(),
  status text NOT NULL DEFAULT 'requested' CHECK (status IN ('requested', 'running', 'finished', 'stopped')),
  rearmed integer NOT NULL DEFAULT 0,
  refused integer NOT NULL DEFAULT 0,
  died_again integer NOT NULL DEFAULT 0,
  last_at timestamptz,
  looked_at timestamptz,
  finished_at timestamptz CHECK ((finished_at IS NOT NULL) = (status IN ('finished', 'stopped')))
);
ALTER TABLE runs ADD FOREIGN KEY (replay_id) REFERENCES replays;
CREATE INDEX replays_open ON replays (requested_at) WHERE finished_at IS NULL;

CREATE TABLE replayed_runs (
  replay_id uuid NOT NULL REFERENCES replays,
  run_id uuid NOT NULL REFERENCES runs,
  code text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (replay_id, run_id)
);
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA afterword FROM PUBLIC;
