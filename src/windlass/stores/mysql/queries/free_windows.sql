-- Ends the windows of jobs that were called off. Arguments: ids.
-- A join, for a DELETE takes no hint: it would scan a small table, and wait for rows of
-- transactions that are open.
DELETE windows
FROM JSON_TABLE(
  JSON_ARRAY :ids, '$[*]' COLUMNS (id VARCHAR(128) CHARACTER SET utf8mb4 PATH '$')
) AS wanted
STRAIGHT_JOIN windlass_windows AS windows FORCE INDEX (windlass_windows_job)
WHERE windows.job = wanted.id
