-- name: due
SELECT d.store, o.name AS org, count(*) FILTER (WHERE NOT d.held) AS due, count(*) FILTER (WHERE d.held) AS held,
  min(d.since) FILTER (WHERE NOT d.held) AS since
FROM past_date d LEFT JOIN orgs o ON o.id = d.org_id
WHERE %(org)s::integer IS NULL OR d.org_id = %(org)s GROUP BY 1, 2 ORDER BY 1, 2

-- name: overdue
SELECT store, extract(epoch FROM now() - min(since))::float AS seconds FROM past_date WHERE NOT held GROUP BY store

-- name: purge
SELECT p.store, o.name AS org, p.rows FROM purge_due(%(actor)s, %(org)s, %(max_rows)s) p
LEFT JOIN orgs o ON o.id = p.org_id

-- name: shortened
SELECT detail FROM ledger WHERE org_id = %(org)s AND action = 'retention_applied' ORDER BY id DESC LIMIT 1
