-- name: roles
DO $$
DECLARE
  r text;
BEGIN
  FOREACH r IN ARRAY ARRAY['afterword_owner', 'afterword_recall', 'afterword_verdict', 'afterword_eraser'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = r) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS', r);
    END IF;
  END LOOP;
  FOREACH r IN ARRAY ARRAY['afterword_agent', 'afterword_reviewer', 'afterword_operator', 'afterword_worker'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = r) THEN
      EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOBYPASSRLS', r);
    END IF;
  END LOOP;
END $$;
GRANT afterword_recall, afterword_verdict, afterword_eraser TO afterword_owner;

-- name: closed
-- What every login could do with the disk, whatever it may see.
DO $$
BEGIN
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  REVOKE EXECUTE ON FUNCTION lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea), lo_put(oid, bigint, bytea),
    lo_open(oid, integer), lowrite(integer, bytea), lo_truncate(integer, integer), lo_truncate64(integer, bigint)
    FROM PUBLIC;
END $$;

-- name: database
CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;
CREATE EXTENSION IF NOT EXISTS btree_gin SCHEMA public;
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'afterword') THEN
    CREATE SCHEMA afterword AUTHORIZATION afterword_owner;
    CREATE TABLE afterword.migrations (
      version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now());
    ALTER TABLE afterword.migrations OWNER TO afterword_owner;
    GRANT SELECT ON afterword.migrations TO afterword_reviewer, afterword_operator, afterword_worker;
    GRANT USAGE ON SCHEMA afterword TO afterword_agent, afterword_reviewer, afterword_operator, afterword_worker;
  END IF;
END $$;

-- name: shipped_calibration
-- Of a stamp that has none yet for that side.
INSERT INTO afterword.calibrations (stamp, side, source, pairs, seed, p50, p90, p99, p999, mean, sd)
SELECT %(stamp)s, %(side)s, %(source)s, %(pairs)s, %(seed)s, %(p50)s, %(p90)s, %(p99)s, %(p999)s, %(mean)s, %(sd)s
WHERE NOT EXISTS (SELECT FROM afterword.calibrations WHERE stamp = %(stamp)s AND side = %(side)s)
