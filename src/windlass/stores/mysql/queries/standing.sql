-- How many jobs of a lane have a slot, and how many of these are pending.
-- Arguments: queue, lane, limit (no more than this is counted). Returns: held, pending.
SELECT COUNT(*), CAST(COALESCE(SUM(stand = 1), 0) AS SIGNED)
FROM (
  SELECT stand FROM windlass_turns FORCE INDEX (windlass_turns_lane)
  WHERE queue = :queue AND lane = :lane AND stand IN (1, 2)
  ORDER BY stand
  LIMIT :limit
  /*current*/
) AS held
