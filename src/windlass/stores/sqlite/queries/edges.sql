-- Open edges of jobs that have ended, job by job. Arguments: ids (JSON, sorted), limit.
-- Returns: parent, serial, child, anyway.
SELECT parent, serial, child, anyway FROM windlass_edges
WHERE parent IN (SELECT value FROM json_each(:ids))
ORDER BY parent, serial
LIMIT :limit
