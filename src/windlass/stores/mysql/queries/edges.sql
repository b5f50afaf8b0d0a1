-- Open edges of jobs that have ended, job by job, held against others who see to them.
-- Arguments: ids, limit. Returns: parent, serial, child, anyway.
SELECT CONVERT(parent USING utf8mb4), serial, CONVERT(child USING utf8mb4), anyway
FROM windlass_edges FORCE INDEX (PRIMARY)
WHERE parent IN :ids
ORDER BY parent, serial
LIMIT :limit
FOR UPDATE
