-- Another embedding space takes over: filled beside the one in use, switched to, and the old one dropped.

-- What can be found by vector in the current space and could not be in this one.
CREATE FUNCTION stamp_gap(stamp integer) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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

-- From here on recall, and whoever embeds, use this space. Refused while a memory could no longer be found by vector, and
-- while nobody knows what a cosine is worth in it, unless that is wanted. False when it is so already.
CREATE FUNCTION switch_stamp(stamp integer, uncalibrated boolean DEFAULT false) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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

-- Its vectors, what is known of them, and its table; the ledger keeps that there was one.
CREATE FUNCTION drop_stamp(stamp integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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

CREATE POLICY dropped_with_its_stamp ON org_search TO afterword_owner USING (true);
GRANT SELECT ON stamps TO afterword_verdict;
GRANT CREATE ON SCHEMA afterword TO afterword_verdict;
ALTER FUNCTION stamp_gap(integer) OWNER TO afterword_verdict;
REVOKE CREATE ON SCHEMA afterword FROM afterword_verdict;
REVOKE ALL ON FUNCTION stamp_gap(integer), switch_stamp(integer, boolean), drop_stamp(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION stamp_gap(integer), switch_stamp(integer, boolean), drop_stamp(integer) TO afterword_operator;
GRANT EXECUTE ON FUNCTION stamp_gap(integer) TO afterword_owner;
