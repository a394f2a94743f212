-- name: add
SELECT record_outcome(%(kind)s, %(score)s::real, %(eval_run)s, %(memory)s, %(agent)s, %(workflow)s, %(namespace)s, %(comment)s) AS id

-- name: lose
SELECT lose_outcome() AS lost

-- name: lost
SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS lost FROM outcomes_lost
