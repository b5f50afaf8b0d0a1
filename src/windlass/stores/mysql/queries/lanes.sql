-- Lanes of a queue, held until the commit. Arguments: queue, names.
-- Returns: name, limits, state, idle_at.
-- By its index however few rows there are: a scan would wait for those of open transactions.
SELECT CONVERT(name USING utf8mb4), limits, state, idle_at
FROM windlass_lanes FORCE INDEX (PRIMARY)
WHERE queue = :queue AND name IN :names
FOR UPDATE
