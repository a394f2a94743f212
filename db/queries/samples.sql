-- name: record
-- What people said about one stamp's candidates under this prompt and these rules. A candidate was right as it was
-- proposed where it was approved unchanged.
WITH judged AS (
  SELECT m.confidence < %(threshold)s AS below, r.decision IN ('reject', 'forget') AS refused
  FROM reviews r JOIN memories m ON m.id = r.memory_id
  WHERE r.kind IN ('hold', 'audit') AND r.decision IN ('approve', 'redirect', 'reject', 'correct', 'forget')
    AND m.provenance @> %(by)s
), dropped AS (
  SELECT r.decision, r.opened_at FROM reviews r JOIN drops d ON d.id = r.drop_id WHERE d.provenance @> %(by)s
)
SELECT (SELECT count(*) FROM judged) AS verdicts,
  (SELECT count(*) FROM judged WHERE below)
    + (SELECT count(*) FROM dropped WHERE decision IN ('approve', 'restore')) AS samples,
  (SELECT count(*) FROM judged WHERE below AND refused)
    + (SELECT count(*) FROM dropped WHERE decision = 'approve') AS right,
  (SELECT count(*) FROM dropped WHERE decision IS NULL AND opened_at < now() - make_interval(days => %(days)s))
    AS waiting,
  has_column_privilege('afterword_eraser', 'drops', 'content', 'UPDATE')
    AND EXISTS (SELECT FROM pg_proc p WHERE p.proname = 'erase' AND 'drops' = ANY (p.proargnames)
                AND pg_get_userbyid(p.proowner) = 'afterword_eraser') AS erasable

-- name: last_loaded
SELECT detail FROM ledger WHERE subject_kind = 'threshold' AND subject_id = %(stamp)s ORDER BY id DESC LIMIT 1

-- name: precision
-- Audits by the stamp, prompt and rules of what they look at. Anything but an approval says that it was wrong.
SELECT concat_ws('/', m.provenance ->> 'provider', m.provenance ->> 'model') AS stamp,
  m.provenance ->> 'prompt_revision' AS prompt_revision, m.provenance ->> 'rules_revision' AS rules_revision,
  count(*) FILTER (WHERE r.decision = 'approve') AS right,
  count(*) FILTER (WHERE r.decision IN ('reject', 'correct', 'forget')) AS wrong,
  count(*) FILTER (WHERE r.closed_at IS NULL) AS open
FROM reviews r JOIN memories m ON m.id = r.memory_id JOIN orgs o ON o.id = m.org_id
WHERE r.kind = 'audit' AND (%(org)s::text IS NULL OR o.name = %(org)s)
  AND (%(since)s::timestamptz IS NULL OR coalesce(r.closed_at, r.opened_at) >= %(since)s)
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3

-- name: trend
-- What people made of held candidates, by the week they decided in.
SELECT concat_ws('/', m.provenance ->> 'provider', m.provenance ->> 'model') AS stamp,
  date_trunc('week', r.closed_at)::date::text AS week, count(*) AS decided,
  count(*) FILTER (WHERE r.decision = 'approve' AND m.revision = 1) AS approved,
  count(*) FILTER (WHERE r.decision IN ('redirect', 'correct') OR (r.decision = 'approve' AND m.revision > 1)) AS changed,
  count(*) FILTER (WHERE r.decision IN ('reject', 'forget')) AS refused
FROM reviews r JOIN memories m ON m.id = r.memory_id JOIN orgs o ON o.id = m.org_id
WHERE r.kind = 'hold' AND r.decision IN ('approve', 'redirect', 'reject', 'correct', 'forget')
  AND (%(org)s::text IS NULL OR o.name = %(org)s) AND (%(since)s::timestamptz IS NULL OR r.closed_at >= %(since)s)
GROUP BY 1, 2 ORDER BY 1, 2

-- name: calibration
-- Stated confidence against verdict, in tenths. A drop that was found right counts as wrong: it should not have been kept.
WITH judged AS (
  SELECT m.provenance, m.org_id, m.confidence::double precision AS confidence,
    r.decision = 'approve' AND m.revision = 1 AS was_right, r.closed_at
  FROM reviews r JOIN memories m ON m.id = r.memory_id
  WHERE r.kind IN ('hold', 'audit') AND r.decision IN ('approve', 'redirect', 'reject', 'correct', 'forget')
  UNION ALL
  SELECT d.provenance, d.org_id, d.confidence, r.decision = 'restore', r.closed_at
  FROM reviews r JOIN drops d ON d.id = r.drop_id WHERE r.decision IN ('approve', 'restore')
)
SELECT concat_ws('/', j.provenance ->> 'provider', j.provenance ->> 'model') AS stamp,
  least(floor(j.confidence * 10)::integer, 9) AS tenth, count(*) AS judged, avg(j.confidence) AS stated,
  count(*) FILTER (WHERE j.was_right) AS right
FROM judged j JOIN orgs o ON o.id = j.org_id
WHERE j.confidence IS NOT NULL AND (%(org)s::text IS NULL OR o.name = %(org)s)
  AND (%(since)s::timestamptz IS NULL OR j.closed_at >= %(since)s)
GROUP BY 1, 2 ORDER BY 1, 2

-- name: drops
-- Without content, latest first.
SELECT d.id, o.name AS org, d.run_id, d.rule, d.confidence, d.threshold, d.kind,
  concat_ws('/', d.provenance ->> 'provider', d.provenance ->> 'model') AS stamp,
  d.provenance ->> 'prompt_revision' AS prompt_revision, d.provenance ->> 'rules_revision' AS rules_revision,
  CASE WHEN r.closed_at IS NOT NULL THEN r.decision WHEN r.id IS NOT NULL THEN 'open' END AS review,
  d.at, d.expires_at, d.restored_at, d.restored_by, d.erased_at
FROM drops d JOIN orgs o ON o.id = d.org_id LEFT JOIN reviews r ON r.drop_id = d.id
WHERE (%(org)s::text IS NULL OR o.name = %(org)s) AND (NOT %(open)s OR r.id IS NOT NULL AND r.closed_at IS NULL)
ORDER BY d.at DESC, d.id LIMIT %(limit)s
