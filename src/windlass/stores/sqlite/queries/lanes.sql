-- Lanes of a queue. Arguments: queue, names (JSON). Returns: name, limits, state, idle_at.
-- The transaction has the write lock of the whole file already.
SELECT name, limits, state, idle_at FROM windlass_lanes
WHERE queue = :queue AND name IN (SELECT value FROM json_each(:names))
