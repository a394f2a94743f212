-- Tokens through their life: looked up and noted at a door, listed, replaced by a successor, taken back.

-- Whom the token of this transaction stands for. That it was used is noted once a minute, by whoever comes first.
CREATE FUNCTION use_grant() RETURNS TABLE (
  id uuid, org text, spaces text[], role text, actor text, agent text, user_id text, project text, workflow text,
  agent_role text, tiers text[], expires_at timestamptz
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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

-- What tokens an org has, or all orgs where none is named; never the hash.
CREATE FUNCTION tokens_made(org integer) RETURNS TABLE (
  id uuid, org text, role text, actor text, agent text, user_id text, project text, workflow text, agent_role text,
  tiers text[], created_at timestamptz, expires_at timestamptz, last_used_at timestamptz, revoked_at timestamptz,
  replaced_by uuid
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
  SELECT t.id, o.name, t.role, t.actor, t.agent, t.user_id, t.project, t.workflow, t.agent_role, t.tiers, t.created_at,
    t.expires_at, t.last_used_at, t.revoked_at, t.replaced_by
  FROM tokens t JOIN orgs o ON o.id = t.org_id WHERE tokens_made.org IS NULL OR t.org_id = tokens_made.org
  ORDER BY t.id
$$;

CREATE FUNCTION living_token(token uuid) RETURNS tokens LANGUAGE plpgsql VOLATILE
SET search_path = afterword, pg_temp AS $$
DECLARE
  t tokens;
BEGIN
  SELECT x.* INTO t FROM tokens x WHERE x.id = living_token.token FOR UPDATE;
  IF t.id IS NULL THEN
    RAISE EXCEPTION 'no such token' USING ERRCODE = 'no_data_found';
  END IF;
  RETURN t;
END $$;

-- From its commit on the token opens nothing.
CREATE FUNCTION revoke_token(token uuid, revoked_by text) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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

-- A successor with the same grant, which lives as long as this one was to; this one ends after `overlap` at the latest.
CREATE FUNCTION rotate_token(token uuid, hash bytea, overlap interval, rotated_by text) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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

CREATE POLICY grants_name_spaces ON spaces FOR SELECT TO afterword_owner USING (true);
REVOKE ALL ON FUNCTION use_grant(), tokens_made(integer), living_token(uuid), revoke_token(uuid, text),
  rotate_token(uuid, bytea, interval, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION use_grant() TO afterword_agent, afterword_reviewer, afterword_operator;
GRANT EXECUTE ON FUNCTION tokens_made(integer), revoke_token(uuid, text), rotate_token(uuid, bytea, interval, text)
  TO afterword_operator;
