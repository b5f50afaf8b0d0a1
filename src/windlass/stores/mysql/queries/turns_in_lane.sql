-- The first jobs that wait for a slot of a lane, by priority. Arguments: queue, lane, limit.
-- Returns: id.
SELECT CONVERT(id USING utf8mb4) FROM windlass_turns FORCE INDEX (windlass_turns_lane)
WHERE queue = :queue AND lane = :lane AND stand = 0
ORDER BY `rank`, place
LIMIT :limit
/*current*/
