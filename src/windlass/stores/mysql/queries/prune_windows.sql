-- Drops windows that are over. Arguments: now, limit.
-- They are looked for without a lock, which a query within a DELETE or a SET would take, and dropped
-- by their keys, not by the index of times (hence the + 0): so a window that is being taken right
-- now is not waited for.
SELECT JSON_ARRAYAGG(CONVERT(unique_key USING utf8mb4))
FROM (
  SELECT unique_key FROM windlass_windows FORCE INDEX (windlass_windows_until)
  WHERE until <= :now
  ORDER BY until
  LIMIT :limit
) AS past
INTO @past;
DELETE windows
FROM JSON_TABLE(
  COALESCE(@past, '[]'), '$[*]'
  COLUMNS (unique_key VARCHAR(256) CHARACTER SET utf8mb4 PATH '$')
) AS past
STRAIGHT_JOIN windlass_windows AS windows
WHERE windows.unique_key = past.unique_key AND windows.until + 0 <= :now
