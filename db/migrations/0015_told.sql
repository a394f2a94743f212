-- What became of what a bearer handed in: by the run's id, or by the key of its event. Of others' runs nothing is told.
CREATE FUNCTION run_told(key text) RETURNS TABLE (
  id uuid, kind text, session text, state text, state_at timestamptz, recallable boolean, ended boolean,
  error_code text, skip_reason text, memories jsonb
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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
END $$;
REVOKE ALL ON FUNCTION run_told(text) FROM PUBLIC;
GRANT CREATE ON SCHEMA afterword TO afterword_verdict;
ALTER FUNCTION run_told(text) OWNER TO afterword_verdict;
REVOKE CREATE ON SCHEMA afterword FROM afterword_verdict;
GRANT EXECUTE ON FUNCTION run_told(text) TO afterword_agent, afterword_reviewer, afterword_operator;
