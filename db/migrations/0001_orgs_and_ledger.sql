-- Tenants, the table of tokens, and the ledger every decision is written to.

CREATE TABLE orgs (
  id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  name text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9_.-]{0,99}$'),
  -- Of these words only: what no reader knows would refuse the org's every run.
  settings jsonb NOT NULL DEFAULT '{}' CHECK (settings
    - '{extraction,languages,required_classes,waived_classes,activatable_classes,retention,
        budget_tokens_a_day,budget_usd_a_day,endpoint_classes,turns,consolidation}'::text[] = '{}'
    AND settings -> 'languages' IS DISTINCT FROM '[]'),
  actor text NOT NULL DEFAULT session_user,
  reason text,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE spaces (
  org_id integer NOT NULL REFERENCES orgs,
  name text NOT NULL CHECK (name <> ''),
  tier text NOT NULL CHECK (tier IN ('semantic', 'episodic')),
  PRIMARY KEY (org_id, name)
);

-- The manifest: a memory outside it is never handed to an agent. For rules: whom they are for, the file they stand in in a
-- digest, what heads it, and which agents it is for, all where none is named.
CREATE TABLE namespaces (
  org_id integer NOT NULL REFERENCES orgs,
  name text NOT NULL CHECK (name <> ''),
  scope_kind text NOT NULL DEFAULT 'org'
    CHECK (scope_kind IN ('org', 'user', 'agent', 'project', 'workflow', 'object')),
  scope_value text CONSTRAINT namespace_scope_complete CHECK ((scope_value IS NULL) = (scope_kind = 'org')),
  path text NOT NULL DEFAULT '',
  title text NOT NULL DEFAULT '',
  description text NOT NULL DEFAULT '',
  preamble text NOT NULL DEFAULT '' CHECK (length(preamble) <= 4000),
  agents text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (org_id, name)
);

-- What a token entitles to. Only the SHA-256 of a token is stored, and only the owner reads it.
CREATE TABLE tokens (
  id uuid PRIMARY KEY,
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  org_id integer NOT NULL REFERENCES orgs,
  role text NOT NULL CHECK (role IN ('agent', 'reviewer', 'operator')),
  actor text NOT NULL,
  agent text,
  user_id text,
  project text,
  workflow text,
  agent_role text,
  tiers text[] NOT NULL DEFAULT '{}' CHECK (tiers <@ '{episodic,semantic,procedural}'),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  last_used_at timestamptz,
  replaced_by uuid,
  CONSTRAINT only_agents_recall CHECK (role = 'agent' OR tiers = '{}'),
  CONSTRAINT a_validator_is_given_nothing CHECK (agent_role <> 'validator' OR tiers = '{}')
);
ALTER TABLE tokens ALTER COLUMN user_id SET STATISTICS 0;
CREATE INDEX tokens_expire ON tokens (expires_at);

-- The grant of this transaction: the token of `afterword.token`, if it is alive and made for this login.
-- Setting any other variable by hand changes nothing, since nothing else is read.
CREATE FUNCTION current_grant() RETURNS tokens
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
  SELECT t FROM tokens t
  WHERE t.hash = sha256(convert_to(current_setting('afterword.token', true), 'UTF8'))
    AND t.revoked_at IS NULL AND t.expires_at > now()
    AND session_user = 'afterword_' || t.role
$$;

CREATE FUNCTION ledger_hash(
  id bigint, transaction xid8, org_id integer, subject_kind text, subject_id text,
  at timestamptz, actor text, action text, detail jsonb, payload_hash bytea
) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog AS $$
  SELECT sha256(convert_to(concat_ws(E'\x1f',
    id, transaction, coalesce(org_id::text, ''), subject_kind, subject_id,
    (extract(epoch FROM at - timestamptz '1970-01-01 00:00:00+00') * 1000000)::bigint,
    actor, action, detail::text, coalesce(encode(payload_hash, 'hex'), '')), 'UTF8'))
$$;

-- Append-only; no content. Id, transaction, time and hash are the database's own: nobody may write them.
CREATE TABLE ledger (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  transaction xid8 NOT NULL DEFAULT pg_current_xact_id(),
  org_id integer,
  subject_kind text NOT NULL,
  subject_id text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor text NOT NULL,
  action text NOT NULL,
  detail jsonb NOT NULL DEFAULT '{}',
  payload_hash bytea,
  hash bytea NOT NULL GENERATED ALWAYS AS (
    ledger_hash(id, transaction, org_id, subject_kind, subject_id, at, actor, action, detail, payload_hash)) STORED,
  -- The separator of the hashed text stands in no field, so that no two entries share a text.
  CONSTRAINT ledger_unambiguous CHECK (strpos(subject_kind || subject_id || actor || action, E'\x1f') = 0)
);
CREATE INDEX ledger_subject ON ledger (subject_id, id);
CREATE INDEX ledger_order ON ledger (transaction, id);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- What an org's governance decides is on record, whoever writes it.
CREATE FUNCTION org_decided() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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
CREATE TRIGGER orgs_decided AFTER INSERT OR UPDATE ON orgs FOR EACH ROW EXECUTE FUNCTION org_decided();

-- A seal covers every entry whose transaction lies in [previous.below, below), in (transaction, id) order.
-- Each follows another one: two sealers at once cannot both follow the same.
CREATE TABLE seals (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  previous bigint UNIQUE NULLS NOT DISTINCT REFERENCES seals,
  below xid8 NOT NULL UNIQUE,
  entries bigint NOT NULL CHECK (entries > 0),
  total bigint NOT NULL,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TRIGGER seals_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON seals
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Content that a ledger entry stands for: hashed under a key that dies with it.
CREATE TABLE payloads (
  org_id integer NOT NULL REFERENCES orgs,
  entry_id bigint NOT NULL REFERENCES ledger,
  key bytea NOT NULL CHECK (length(key) = 32),
  content jsonb NOT NULL,
  PRIMARY KEY (org_id, entry_id)
);
ALTER TABLE payloads ALTER COLUMN content SET STATISTICS 0, ALTER COLUMN key SET STATISTICS 0;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA afterword FROM PUBLIC;
GRANT EXECUTE ON FUNCTION current_grant() TO afterword_agent, afterword_reviewer, afterword_operator, afterword_worker;
