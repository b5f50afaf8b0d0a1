-- The first jobs that wait for a slot of a lane, in the order of their coming.
-- Arguments: queue, lane, limit. Returns: id.
SELECT CONVERT(id USING utf8mb4) FROM windlass_turns FORCE INDEX (windlass_turns_order)
WHERE queue = :queue AND lane = :lane AND stand = 0
ORDER BY place
LIMIT :limit
/*current*/
