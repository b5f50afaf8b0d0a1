-- Jobs of a queue whose time has come, earliest first, but for those that another transaction
-- has. Arguments: queue, now, limit. Returns: due, place, id, state.
SELECT * FROM (
  SELECT due, place, id, state FROM windlass_jobs
  WHERE state = 'scheduled' AND queue = :queue::text AND due <= :now::bigint
  ORDER BY due, place LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
) AS scheduled
UNION ALL
SELECT * FROM (
  SELECT due, place, id, state FROM windlass_jobs
  WHERE state = 'retry' AND queue = :queue::text AND due <= :now::bigint
  ORDER BY due, place LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
) AS retry
ORDER BY due, place
LIMIT :limit::bigint
