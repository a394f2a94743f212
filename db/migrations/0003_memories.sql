-- Memories, the reviews that hold them, drops, and embeddings by stamp.

CREATE TABLE memory_moves (from_status text NOT NULL, to_status text NOT NULL, PRIMARY KEY (from_status, to_status));
INSERT INTO memory_moves VALUES
  ('pending', 'active'), ('pending', 'rejected'), ('pending', 'superseded'), ('pending', 'tombstoned'),
  ('active', 'superseded'), ('active', 'tombstoned');

CREATE FUNCTION is_personal(classes text[]) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT NOT classes <@ '{secret,cc,iban,detector_unavailable}'::text[]  -- a class nobody thought of is personal
$$;

-- What the indexes of words hold: each lexeme with its org before it. Beside the org as a column of its own, every look-up
-- of a word would go through all that the org has.
CREATE FUNCTION org_words(org_id integer, lexemes tsvector) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY(SELECT org_id::text || ' ' || lexeme FROM unnest(tsvector_to_array(lexemes)) lexeme);

CREATE TABLE memories (
  id uuid PRIMARY KEY,
  org_id integer NOT NULL REFERENCES orgs,
  run_id uuid NOT NULL REFERENCES runs,
  tier text NOT NULL CHECK (tier IN ('episodic', 'semantic', 'procedural')),
  kind text NOT NULL CHECK (kind IN ('fact', 'preference', 'rule', 'turn')),
  status text NOT NULL CHECK (status IN ('pending', 'active', 'rejected', 'superseded', 'tombstoned')),
  namespace text NOT NULL DEFAULT 'default',
  scope_kind text NOT NULL CHECK (scope_kind IN ('org', 'user', 'agent', 'project', 'workflow', 'object')),
  scope_value text CONSTRAINT scope_complete CHECK ((scope_value IS NULL) = (scope_kind = 'org')),
  content text NOT NULL,
  content_hash bytea NOT NULL CHECK (length(content_hash) = 32),
  rationale text NOT NULL,
  evidence jsonb NOT NULL,
  classes text[] NOT NULL DEFAULT '{}',
  hold_reasons text[] NOT NULL DEFAULT '{}',
  subject_type text,
  subject_id text,
  author_kind text NOT NULL CHECK (author_kind IN ('person', 'agent', 'system')),
  author text NOT NULL,
  provenance jsonb NOT NULL,
  confidence real,
  high_stakes boolean NOT NULL,
  importance smallint NOT NULL CHECK (importance BETWEEN 1 AND 5),
  observed_at timestamptz NOT NULL,
  valid_from timestamptz NOT NULL,
  valid_to timestamptz CHECK (valid_to IS NULL OR status IN ('superseded', 'tombstoned')),
  expires_at timestamptz NOT NULL,
  last_used_at timestamptz,
  occurrences integer NOT NULL DEFAULT 1 CHECK (occurrences > 0),
  revision integer NOT NULL DEFAULT 1,
  replaces uuid[] NOT NULL DEFAULT '{}',
  superseded_by uuid REFERENCES memories DEFERRABLE INITIALLY DEFERRED,
  previous_hash bytea,
  purge_after timestamptz,
  erased_at timestamptz,
  review_id uuid,
  held boolean GENERATED ALWAYS AS (CASE WHEN status = 'pending' THEN true END) STORED,
  live boolean GENERATED ALWAYS AS (CASE WHEN status IN ('pending', 'active') THEN true END) STORED,
  actor text NOT NULL DEFAULT session_user,
  reason text,
  created_at timestamptz NOT NULL DEFAULT now(),
  status_at timestamptz NOT NULL DEFAULT now(),
  lexemes tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED,
  FOREIGN KEY (org_id, namespace) REFERENCES namespaces,
  CONSTRAINT pending_has_review CHECK ((status = 'pending') = (review_id IS NOT NULL)),
  CONSTRAINT superseded_by_something CHECK ((status = 'superseded') <= (superseded_by IS NOT NULL)),
  CONSTRAINT subject_complete CHECK ((subject_type IS NULL) = (subject_id IS NULL)),
  CONSTRAINT personal_names_its_subject
    CHECK (status <> 'active' OR subject_type IS NOT NULL OR erased_at IS NOT NULL OR NOT is_personal(classes)),
  CONSTRAINT erased_is_empty CHECK (erased_at IS NULL OR (content = '' AND rationale = '' AND evidence = '[]'
    AND subject_id IS NULL AND previous_hash IS NULL)),
  CONSTRAINT memories_held UNIQUE (id, held),
  CONSTRAINT memories_live UNIQUE (id, live)
);
ALTER TABLE memories
  ALTER COLUMN content SET STATISTICS 0, ALTER COLUMN rationale SET STATISTICS 0,
  ALTER COLUMN evidence SET STATISTICS 0, ALTER COLUMN lexemes SET STATISTICS 0,
  ALTER COLUMN subject_id SET STATISTICS 0, ALTER COLUMN subject_type SET STATISTICS 0,
  ALTER COLUMN scope_value SET STATISTICS 0, ALTER COLUMN author SET STATISTICS 0,
  ALTER COLUMN content_hash SET STATISTICS 0, ALTER COLUMN previous_hash SET STATISTICS 0;

-- Whether an id lies in a share: the same for whoever asks, and no choice of the one who writes the row.
CREATE FUNCTION in_share(id uuid, basis_points integer) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog AS $$
  SELECT ('x' || substr(encode(sha256(uuid_send(id)), 'hex'), 1, 8))::bit(32)::bigint % 10000 < basis_points
$$;

-- A decision to keep something out; only ever of what no detector objected to. The whole candidate is kept, so that it
-- can be judged and restored; a share of them, never none, is opened for review by the row's own id.
CREATE TABLE drops (
  id uuid PRIMARY KEY,
  org_id integer NOT NULL REFERENCES orgs,
  run_id uuid NOT NULL REFERENCES runs,
  rule text NOT NULL CHECK (rule IN ('confidence_below')),
  confidence double precision,
  threshold double precision,
  kind text NOT NULL CHECK (kind IN ('fact', 'preference')),
  content text NOT NULL,
  rationale text NOT NULL,
  evidence jsonb NOT NULL,
  classes text[] NOT NULL DEFAULT '{}' CHECK (cardinality(classes) = 0),
  subject_type text,
  subject_id text,
  scope_kind text NOT NULL CHECK (scope_kind IN ('org', 'user', 'agent', 'project', 'workflow', 'object')),
  scope_value text,
  author_kind text NOT NULL CHECK (author_kind IN ('person', 'agent', 'system')),
  author text NOT NULL,
  importance smallint NOT NULL CHECK (importance BETWEEN 1 AND 5),
  observed_at timestamptz NOT NULL,
  lifetime_days integer NOT NULL CHECK (lifetime_days > 0),
  provenance jsonb NOT NULL CONSTRAINT drop_is_attributed
    CHECK (provenance ?& '{provider,model,prompt_revision,rules_revision}'::text[]),
  review_share integer NOT NULL CONSTRAINT some_drops_are_reviewed CHECK (review_share BETWEEN 1 AND 10000),
  sampled boolean NOT NULL GENERATED ALWAYS AS (in_share(id, review_share)) STORED,
  at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  restored_at timestamptz,
  restored_by text,
  erased_at timestamptz,
  CONSTRAINT stated_below_threshold CHECK ((rule = 'confidence_below') <= coalesce(confidence < threshold, false)),
  CONSTRAINT drop_subject_complete CHECK ((subject_type IS NULL) = (subject_id IS NULL)),
  CONSTRAINT erased_drop_is_empty CHECK (erased_at IS NULL OR (content = '' AND rationale = '' AND evidence = '[]'
    AND subject_id IS NULL AND author = '')),
  CONSTRAINT restored_by_somebody CHECK ((restored_at IS NULL) = (restored_by IS NULL))
);
ALTER TABLE drops
  ALTER COLUMN content SET STATISTICS 0, ALTER COLUMN rationale SET STATISTICS 0,
  ALTER COLUMN evidence SET STATISTICS 0, ALTER COLUMN subject_type SET STATISTICS 0,
  ALTER COLUMN subject_id SET STATISTICS 0, ALTER COLUMN scope_value SET STATISTICS 0,
  ALTER COLUMN author SET STATISTICS 0;
CREATE INDEX drops_run ON drops (run_id);
CREATE INDEX drops_at ON drops (org_id, at);
CREATE INDEX drops_expire ON drops (expires_at) WHERE erased_at IS NULL;
ALTER TABLE runs ADD FOREIGN KEY (drop_id) REFERENCES drops;

CREATE TABLE reviews (
  id uuid PRIMARY KEY,
  org_id integer NOT NULL REFERENCES orgs,
  memory_id uuid,
  drop_id uuid REFERENCES drops,
  -- hold: a pending memory waits; retire: an active one would take the place of what it replaces; audit: a sample of
  -- what the gate let in; amend: an audit found it wrong, to be forgotten or corrected; drop: a sample of what was dropped;
  -- renew: a rule has stood for a year
  kind text NOT NULL CHECK (kind IN ('hold', 'retire', 'audit', 'amend', 'drop', 'renew')),
  reasons text[] NOT NULL CHECK (cardinality(reasons) > 0),
  opened_at timestamptz NOT NULL DEFAULT now(),
  closed_at timestamptz,
  decision text CHECK (decision IN ('approve', 'redirect', 'reject', 'correct', 'forget', 'restore', 'voided')),
  decided_by text,
  comment text,
  cites uuid REFERENCES memories,
  is_open boolean GENERATED ALWAYS AS (closed_at IS NULL) STORED,
  holds boolean GENERATED ALWAYS AS (CASE WHEN kind = 'hold' AND closed_at IS NULL THEN true END) STORED,
  waits boolean GENERATED ALWAYS AS (CASE WHEN closed_at IS NULL THEN true END) STORED,
  CHECK ((closed_at IS NULL) = (decision IS NULL) AND (decision IS NULL) = (decided_by IS NULL)),
  CONSTRAINT about_a_memory_or_a_drop
    CHECK ((kind = 'drop') = (drop_id IS NOT NULL) AND (kind = 'drop') = (memory_id IS NULL)),
  CONSTRAINT only_drops_are_restored CHECK (decision <> 'restore' OR kind = 'drop'),
  CONSTRAINT reviews_open UNIQUE (memory_id, id, is_open)
);
ALTER TABLE reviews ALTER COLUMN comment SET STATISTICS 0;

-- A pending memory has an open review, an open hold review has a pending memory, and no review of whatever kind stays
-- open beyond a terminal move: three keys, checked at commit.
ALTER TABLE memories ADD CONSTRAINT pending_review_is_open
  FOREIGN KEY (id, review_id, held) REFERENCES reviews (memory_id, id, is_open) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE reviews ADD CONSTRAINT open_hold_is_pending
  FOREIGN KEY (memory_id, holds) REFERENCES memories (id, held) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE reviews ADD CONSTRAINT open_review_is_live
  FOREIGN KEY (memory_id, waits) REFERENCES memories (id, live) DEFERRABLE INITIALLY DEFERRED;

CREATE INDEX memories_run ON memories (run_id);
CREATE INDEX memories_status ON memories (status);
CREATE INDEX memories_replaces ON memories USING gin (replaces) WHERE replaces <> '{}';
CREATE INDEX memories_search ON memories USING gin (org_words(org_id, lexemes)) WHERE status IN ('active', 'superseded');
CREATE INDEX memories_held_text ON memories USING gin (org_words(org_id, lexemes)) WHERE status = 'pending';
CREATE INDEX memories_newest ON memories (org_id, observed_at) WHERE status = 'active';
CREATE UNIQUE INDEX memories_once ON memories (run_id, content_hash) WHERE status IN ('pending', 'active');
CREATE INDEX memories_repeat ON memories (org_id, content_hash) WHERE status IN ('pending', 'active');
CREATE INDEX memories_rules ON memories (org_id, namespace, id)
  WHERE kind = 'rule' AND status = 'active' AND erased_at IS NULL;
CREATE INDEX memories_purge ON memories (purge_after) WHERE purge_after IS NOT NULL AND erased_at IS NULL;
CREATE INDEX memories_refused ON memories (org_id, content_hash) WHERE status IN ('rejected', 'tombstoned');
CREATE INDEX memories_refused_text ON memories USING gin (org_words(org_id, lexemes))
  WHERE status IN ('rejected', 'tombstoned');
ALTER INDEX memories_search ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX memories_held_text ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX memories_refused_text ALTER COLUMN 1 SET STATISTICS 0;
CREATE UNIQUE INDEX reviews_drop ON reviews (drop_id) WHERE drop_id IS NOT NULL;
CREATE INDEX reviews_memory ON reviews (memory_id);
CREATE INDEX reviews_sampled ON reviews (kind, decision) WHERE kind IN ('audit', 'drop');
CREATE INDEX reviews_inbox ON reviews (org_id, opened_at) WHERE closed_at IS NULL;

CREATE FUNCTION memory_inserted() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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

CREATE FUNCTION memory_moved() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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

CREATE TRIGGER memories_inserted AFTER INSERT ON memories
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION memory_inserted();
CREATE TRIGGER memories_moved AFTER UPDATE ON memories
  REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION memory_moved();
CREATE TRIGGER memories_kept BEFORE DELETE OR TRUNCATE ON memories FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- A review that opens beside an active memory or a drop, and every decision, whether or not the memory moves by it.
CREATE FUNCTION review_opened() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
BEGIN
  INSERT INTO ledger (org_id, subject_kind, subject_id, actor, action, detail)
  SELECT org_id, CASE WHEN drop_id IS NULL THEN 'memory' ELSE 'drop' END, coalesce(memory_id, drop_id)::text,
         session_user, 'review_opened', jsonb_build_object('review', id, 'kind', kind, 'reasons', reasons)
  FROM fresh WHERE kind <> 'hold';
  RETURN NULL;
END $$;

CREATE FUNCTION review_decided() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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

CREATE TRIGGER reviews_opened AFTER INSERT ON reviews
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION review_opened();
CREATE TRIGGER reviews_decided AFTER UPDATE ON reviews
  REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION review_decided();
CREATE TRIGGER reviews_kept BEFORE DELETE OR TRUNCATE ON reviews FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- A repeat of what is known is counted, once a run.
CREATE TABLE occurrences (
  memory_id uuid NOT NULL REFERENCES memories,
  repeat_id uuid NOT NULL REFERENCES memories,
  org_id integer NOT NULL REFERENCES orgs,
  similarity text NOT NULL CHECK (similarity IN ('exact', 'lexical', 'cosine')),
  score real,
  at timestamptz NOT NULL DEFAULT now(),
  undone_at timestamptz,
  undone_by text,
  PRIMARY KEY (repeat_id, memory_id),
  CONSTRAINT undone_by_somebody CHECK ((undone_at IS NULL) = (undone_by IS NULL))
);
CREATE INDEX occurrences_near ON occurrences (org_id, at) WHERE similarity = 'cosine';

-- One row a stamp; its vectors live in embeddings_<id>, made when the stamp is registered.
CREATE TABLE stamps (
  id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  provider text NOT NULL,
  model text NOT NULL,
  revision text NOT NULL,
  dimension integer NOT NULL CHECK (dimension BETWEEN 1 AND 16000),
  is_current boolean NOT NULL DEFAULT false,
  -- Vectors of orgs in its HNSW index, as housekeeping counted them.
  indexed bigint NOT NULL DEFAULT 0,
  registered_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (provider, model, revision, dimension)
);
CREATE UNIQUE INDEX stamps_one_current ON stamps (is_current) WHERE is_current;

-- Cosines of unrelated pairs under a stamp, by side: passage with passage for `similarity`, query with passage for
-- recall. Append only: the newest counts, and what was in force before can be told.
CREATE TABLE calibrations (
  stamp integer NOT NULL REFERENCES stamps,
  side text NOT NULL CHECK (side IN ('passage', 'query')),
  calibrated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  source text NOT NULL CHECK (source IN ('shipped', 'installation')),
  pairs integer NOT NULL CHECK (pairs > 0),
  seed integer NOT NULL,
  p50 real NOT NULL,
  p90 real NOT NULL CHECK (p90 >= p50),
  p99 real NOT NULL CHECK (p99 >= p90),
  p999 real NOT NULL CHECK (p999 >= p99 AND p999 < 1.0001),
  mean real NOT NULL,
  sd real NOT NULL CHECK (sd >= 0),
  PRIMARY KEY (stamp, side, calibrated_at)
);
CREATE VIEW calibrated WITH (security_invoker) AS
SELECT DISTINCT ON (stamp, side) * FROM calibrations ORDER BY stamp, side, calibrated_at DESC;

-- What waits for a person has no vector. An active memory never goes back to waiting, so that looking is enough.
CREATE FUNCTION refuse_waiting() RETURNS trigger LANGUAGE plpgsql SET search_path = afterword, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM fresh f JOIN memories m ON m.id = f.memory_id WHERE m.status = 'pending') THEN
    RAISE EXCEPTION 'a pending memory is never embedded' USING ERRCODE = 'check_violation', CONSTRAINT = 'embedded_active';
  END IF;
  RETURN NULL;
END $$;

-- Registering makes the stamp's table, so that comparing across stamps is impossible. halfvec above the 2,000
-- dimensions an HNSW index of `vector` can hold, or where it is asked for; exact search only above the 4,000 of `halfvec`.
CREATE FUNCTION register_stamp(
  provider text, model text, revision text, dimension integer, storage text DEFAULT NULL
) RETURNS integer
LANGUAGE plpgsql SET search_path = afterword, public, pg_temp AS $$
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

-- What housekeeping knows of an org's size in a stamp: decides between exact and indexed search.
CREATE TABLE org_search (
  org_id integer NOT NULL REFERENCES orgs,
  stamp integer NOT NULL REFERENCES stamps,
  ann boolean NOT NULL DEFAULT false,
  embedded integer NOT NULL DEFAULT 0,
  missing integer NOT NULL DEFAULT 0,
  counted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, stamp)
);
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA afterword FROM PUBLIC;
GRANT EXECUTE ON FUNCTION is_personal(text[]), in_share(uuid, integer) TO PUBLIC;
