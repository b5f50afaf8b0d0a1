-- Takes windows of these keys back that are of these jobs; '' stands for a probe.
-- Arguments: keys, ids. By their keys, not by the index of jobs (hence the CONCAT), which has gaps.
DELETE windows
FROM JSON_TABLE(
  JSON_ARRAY :keys, '$[*]' COLUMNS (unique_key VARCHAR(256) CHARACTER SET utf8mb4 PATH '$')
) AS wanted
STRAIGHT_JOIN windlass_windows AS windows FORCE INDEX (PRIMARY)
WHERE windows.unique_key = wanted.unique_key AND CONCAT(windows.job) IN :ids
