-- Jobs of a queue whose time has come and that nobody else moves, earliest first.
-- Arguments: queue, now, limit. Returns: due, place, id, state, slot,
-- special.
(SELECT due, place, CONVERT(id USING utf8mb4), state, slot, /*special*/
 FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
 WHERE state = 'scheduled' AND line = :queue AND step <= :now
 ORDER BY step, place LIMIT :limit FOR UPDATE SKIP LOCKED)
UNION ALL
(SELECT due, place, CONVERT(id USING utf8mb4), state, slot, /*special*/
 FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
 WHERE state = 'retry' AND line = :queue AND step <= :now
 ORDER BY step, place LIMIT :limit FOR UPDATE SKIP LOCKED)
ORDER BY 1, 2
LIMIT :limit
