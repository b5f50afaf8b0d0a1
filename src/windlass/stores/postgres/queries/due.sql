-- Jobs of a queue whose time has come, earliest first, but for those that another transaction
-- has. Arguments: queue, now, limit. Returns: due, place, id, state, slot, special.
-- The lanes that they are of are held first: who settles one has it, and wants those that wait.
WITH lanes AS MATERIALIZED (
  SELECT lane FROM (
    SELECT lane FROM windlass_jobs
    WHERE state = 'scheduled' AND queue = :queue::text AND due <= :now::bigint
    ORDER BY due, place LIMIT :limit::bigint
  ) AS scheduled WHERE lane IS NOT NULL
  UNION
  SELECT lane FROM (
    SELECT lane FROM windlass_jobs
    WHERE state = 'retry' AND queue = :queue::text AND due <= :now::bigint
    ORDER BY due, place LIMIT :limit::bigint
  ) AS retry WHERE lane IS NOT NULL
), held AS MATERIALIZED (
  SELECT count(*) AS number FROM (SELECT lane FROM lanes ORDER BY lane) AS n CROSS JOIN LATERAL (
    SELECT name FROM windlass_lanes WHERE queue = :queue::text AND name = n.lane FOR UPDATE
  ) AS l
)
SELECT * FROM (
  SELECT due, place, id, state, slot, /*special*/ FROM windlass_jobs
  WHERE state = 'scheduled' AND queue = :queue::text AND due <= :now::bigint
    AND (SELECT number FROM held) >= 0
  ORDER BY due, place LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
) AS scheduled
UNION ALL
SELECT * FROM (
  SELECT due, place, id, state, slot, /*special*/ FROM windlass_jobs
  WHERE state = 'retry' AND queue = :queue::text AND due <= :now::bigint
    AND (SELECT number FROM held) >= 0
  ORDER BY due, place LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
) AS retry
ORDER BY due, place
LIMIT :limit::bigint
