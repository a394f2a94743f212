-- What an org wants of consolidation beyond counting what is said again; nothing of it is on by itself.
ALTER TABLE orgs ADD CONSTRAINT consolidation_is_known CHECK (
  coalesce(settings -> 'consolidation', '[]') <@ '["near_duplicates"]');

-- Near duplicates rest on the spread of unrelated pairs: without it, nobody knows what near is.
CREATE FUNCTION near_needs_calibration() RETURNS trigger LANGUAGE plpgsql SET search_path = afterword, pg_temp AS $$
BEGIN
  IF coalesce(NEW.settings -> 'consolidation', '[]') ? 'near_duplicates'
     AND (TG_OP = 'INSERT' OR NOT coalesce(OLD.settings -> 'consolidation', '[]') ? 'near_duplicates')
     AND NOT EXISTS (SELECT FROM calibrated c JOIN stamps s ON s.id = c.stamp AND s.is_current WHERE c.side = 'passage') THEN
    RAISE EXCEPTION 'near duplicates need a calibrated stamp' USING ERRCODE = 'check_violation',
      CONSTRAINT = 'near_needs_calibration';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER orgs_near BEFORE INSERT OR UPDATE ON orgs FOR EACH ROW EXECUTE FUNCTION near_needs_calibration();

-- A near duplicate that was counted and says something else: its text comes in again by the way of any other, and counts
-- no more for the one it was taken for. Repeating it answers with the same run.
CREATE FUNCTION restore_repeat(repeat uuid, comment text) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
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

REVOKE ALL ON FUNCTION near_needs_calibration(), restore_repeat(uuid, text) FROM PUBLIC;
CREATE POLICY verdicts_undo ON occurrences TO afterword_verdict USING (true) WITH CHECK (true);
GRANT SELECT, UPDATE (undone_at, undone_by) ON occurrences TO afterword_verdict;
GRANT CREATE ON SCHEMA afterword TO afterword_verdict;
ALTER FUNCTION restore_repeat(uuid, text) OWNER TO afterword_verdict;
REVOKE CREATE ON SCHEMA afterword FROM afterword_verdict;
GRANT EXECUTE ON FUNCTION restore_repeat(uuid, text) TO afterword_reviewer;
