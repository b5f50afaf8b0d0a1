-- Forgets lanes that nobody is in, but for those that another transaction has.
-- Arguments: now, limit.
DELETE FROM windlass_lanes WHERE (queue, name) IN (
  SELECT queue, name FROM windlass_lanes
  WHERE idle_at IS NOT NULL AND idle_at <= :now::bigint
  ORDER BY idle_at
  LIMIT :limit::bigint
  FOR UPDATE SKIP LOCKED
)
