-- What agents read, and the record of what was handed out.

CREATE TABLE recalls (
  id uuid PRIMARY KEY,
  org_id integer NOT NULL REFERENCES orgs,
  token_id uuid NOT NULL,
  actor text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  mode text NOT NULL CHECK (mode IN ('hybrid', 'lexical', 'newest')),
  as_of timestamptz,
  hits jsonb NOT NULL,
  excluded jsonb NOT NULL,
  block_hash bytea CHECK (length(block_hash) = 32),
  rendered_at timestamptz
);
ALTER TABLE recalls ALTER COLUMN hits SET STATISTICS 0;
CREATE INDEX recalls_at ON recalls (org_id, at);

CREATE VIEW promptable WITH (security_barrier) AS
SELECT m.id, m.tier, m.kind, m.namespace, m.scope_kind, m.scope_value, m.content, m.author_kind, m.author,
       m.subject_type, m.subject_id, m.importance, m.occurrences, m.observed_at, m.valid_from, m.expires_at
FROM memories m
WHERE m.org_id = (SELECT org_id FROM current_grant())
  AND m.status = 'active' AND (m.kind = 'rule' OR m.expires_at > now()) AND m.erased_at IS NULL
  AND m.tier = ANY (SELECT unnest(tiers) FROM current_grant())
  AND (m.scope_kind = 'org'
    OR (m.scope_kind = 'user' AND m.scope_value = (SELECT user_id FROM current_grant()))
    OR (m.scope_kind = 'agent' AND m.scope_value = (SELECT agent FROM current_grant()))
    OR (m.scope_kind = 'project' AND m.scope_value = (SELECT project FROM current_grant()))
    OR (m.scope_kind = 'workflow' AND m.scope_value = (SELECT workflow FROM current_grant())));

-- Any of the query's lexemes; ranking decides how many matter.
CREATE FUNCTION any_lexeme(query text) RETURNS tsquery LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog AS $$
  SELECT replace(plainto_tsquery('english', query)::text, ' & ', ' | ')::tsquery
$$;

-- Loads the extension's library, so that its settings are known to the function below.
SELECT '[1]'::public.vector;

-- Reads and records in one call. The org is an ordinary predicate, so that the indexes are usable; the owner of
-- this function may read memories and insert into recalls, nothing else.
-- Fusion: weighted reciprocal ranks, k = 60 (Cormack, Clarke, Büttcher 2009).
CREATE FUNCTION recall(
  query text, vector public.vector DEFAULT NULL, stamp integer DEFAULT NULL, max_hits integer DEFAULT 5,
  as_of timestamptz DEFAULT NULL, vector_weight real DEFAULT 1, lexical_weight real DEFAULT 1
) RETURNS TABLE (
  recall_id uuid, mode text, excluded jsonb, memory_id uuid, tier text, kind text, status text, content text,
  author_kind text, author text, subject_type text, subject_id text, observed_at timestamptz,
  valid_from timestamptz, valid_to timestamptz, vector_score real, lexical_score real, combined_score real,
  vector_rank integer, lexical_rank integer, allowed text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = afterword, public, pg_temp
SET plan_cache_mode = force_custom_plan
SET hnsw.iterative_scan = 'relaxed_order'
SET hnsw.ef_search = 100
SET enable_sort = on
AS $$
#variable_conflict use_column
DECLARE
  g tokens := current_grant();
  tsq tsquery := any_lexeme(left(recall.query, 10000));
  by_vector boolean := recall.vector IS NOT NULL;
  search org_search := (SELECT s FROM org_search s WHERE s.org_id = g.org_id AND s.stamp = recall.stamp);
  indexed boolean := coalesce(search.ann, false);
  missing integer := coalesce(search.missing, 0);
  visible CONSTANT text := $v$
    m.erased_at IS NULL AND (m.kind = 'rule' OR m.expires_at > now()) AND m.tier = ANY ($2) AND CASE
      WHEN $3::timestamptz IS NULL THEN m.status = 'active'
      ELSE m.status IN ('active', 'superseded') AND m.valid_from <= $3
       AND coalesce(m.valid_to, 'infinity') > $3 END
    AND (m.scope_kind = 'org' OR (m.scope_kind = 'user' AND m.scope_value = $4)
      OR (m.scope_kind = 'agent' AND m.scope_value = $5) OR (m.scope_kind = 'project' AND m.scope_value = $6)
      OR (m.scope_kind = 'workflow' AND m.scope_value = $7)) $v$;
  vector_leg text := 'SELECT NULL::uuid AS id, NULL::real AS score, NULL::integer AS rank WHERE false';
BEGIN
  IF g.id IS NULL THEN
    RAISE EXCEPTION 'no grant: the token is unknown, expired, revoked or made for another door'
      USING ERRCODE = 'insufficient_privilege';
  ELSIF by_vector AND NOT EXISTS (SELECT FROM stamps s WHERE s.id = recall.stamp) THEN
    RAISE EXCEPTION 'a vector needs the stamp it belongs to; there is no stamp %', coalesce(recall.stamp::text, 'given')
      USING ERRCODE = 'invalid_parameter_value';
  ELSIF recall.max_hits NOT BETWEEN 1 AND 100 OR length(recall.query) > 10000 THEN
    RAISE EXCEPTION 'a recall asks for 1 to 100 hits, in at most 10,000 characters'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  -- Until statistics know how many rows are in the index the planner sorts them all instead. Undone on return.
  PERFORM set_config('enable_sort', CASE WHEN indexed THEN 'off' ELSE 'on' END, true);
  IF by_vector THEN
    vector_leg := format($v$
      SELECT x.id, x.score, row_number() OVER (ORDER BY x.score DESC)::integer AS rank FROM (
        SELECT m.id, (1 - (e.vector <=> $8))::real AS score
        FROM %I e JOIN memories m ON m.id = e.memory_id
        WHERE e.org_id = $1 %s AND %s
        ORDER BY e.vector <=> $8 LIMIT 50) x $v$,
      'embeddings_' || recall.stamp, CASE WHEN indexed THEN 'AND e.ann' ELSE '' END, visible);
  END IF;
  RETURN QUERY EXECUTE format($q$
    WITH by_vector AS MATERIALIZED (%1$s),
    by_lexeme AS MATERIALIZED (
      SELECT x.id, x.score, row_number() OVER (ORDER BY x.score DESC, x.id)::integer AS rank FROM (
        SELECT m.id, ts_rank_cd(m.lexemes, $9, 32)::real AS score FROM memories m
        WHERE m.org_id = $1 AND m.lexemes @@ $9 AND m.status IN ('active', 'superseded') AND %2$s
        ORDER BY 2 DESC, 1 LIMIT 50) x),
    fused AS (
      SELECT id, v.score AS vector_score, l.score AS lexical_score, v.rank AS vector_rank, l.rank AS lexical_rank,
             (coalesce($10 / (60 + v.rank), 0) + coalesce($11 / (60 + l.rank), 0))::real AS combined
      FROM by_vector v FULL JOIN by_lexeme l USING (id) ORDER BY combined DESC, id LIMIT $12),
    newest AS (
      SELECT m.id, NULL::real, NULL::real, NULL::integer, NULL::integer, 0::real FROM memories m
      WHERE m.org_id = $1 AND NOT EXISTS (SELECT FROM fused) AND m.status IN ('active', 'superseded') AND %2$s
      ORDER BY m.observed_at DESC, m.id LIMIT $12),
    chosen AS (SELECT * FROM fused UNION ALL SELECT * FROM newest),
    recorded AS (
      INSERT INTO recalls (id, org_id, token_id, actor, mode, as_of, hits, excluded)
      SELECT $13, $1, $14, $15,
        CASE WHEN NOT EXISTS (SELECT FROM fused) THEN 'newest' WHEN $16 THEN 'hybrid' ELSE 'lexical' END, $3,
        coalesce((SELECT jsonb_agg(jsonb_build_object('id', id, 'vector', vector_score, 'lexical', lexical_score,
          'combined', combined) ORDER BY combined DESC, id) FROM chosen), '[]'),
        CASE WHEN $16 AND $17 > 0 THEN jsonb_build_object('unembedded', $17) ELSE '{}' END
      RETURNING id, mode, excluded)
    SELECT r.id, r.mode, r.excluded, m.id, m.tier, m.kind, m.status, m.content, m.author_kind, m.author,
           m.subject_type, m.subject_id, m.observed_at, m.valid_from, m.valid_to, c.vector_score, c.lexical_score,
           c.combined, c.vector_rank, c.lexical_rank,
           m.scope_kind || coalesce('=' || m.scope_value, '') || ' in ' || m.namespace
    FROM recorded r LEFT JOIN chosen c ON true LEFT JOIN memories m ON m.id = c.id
    ORDER BY c.combined DESC, m.observed_at DESC, m.id $q$, vector_leg, visible)
  USING g.org_id, g.tiers, recall.as_of, g.user_id, g.agent, g.project, g.workflow, recall.vector, tsq,
        recall.vector_weight, recall.lexical_weight, recall.max_hits, uuidv7(), g.id, g.actor, by_vector, missing;
END $$;

-- What the model was shown, once the block is rendered: kept beside the recall, written once.
CREATE FUNCTION recall_rendered(recall_id uuid, block_hash bytea) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = afterword, pg_temp AS $$
BEGIN
  UPDATE recalls r SET block_hash = recall_rendered.block_hash, rendered_at = now()
  WHERE r.id = recall_rendered.recall_id AND r.token_id = (current_grant()).id AND r.block_hash IS NULL;
END $$;
