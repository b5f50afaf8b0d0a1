-- Frees keys that were held for a time that is over, but for those that another transaction has.
-- Arguments: now, limit.
DELETE FROM windlass_jobs WHERE id = ANY (ARRAY(
  SELECT id FROM windlass_jobs WHERE state = 'window' AND due <= :now::bigint
  ORDER BY due LIMIT :limit::bigint FOR UPDATE SKIP LOCKED
))
