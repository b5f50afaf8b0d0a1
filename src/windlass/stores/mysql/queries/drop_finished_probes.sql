-- Takes probes of finished jobs back. Arguments: numbers (JSON).
DELETE finished
FROM JSON_TABLE(:numbers, '$[*]' COLUMNS (number BIGINT PATH '$')) AS wanted
STRAIGHT_JOIN windlass_finished AS finished FORCE INDEX (PRIMARY)
WHERE finished.state = 'completed' AND finished.finished_at = 0
  AND finished.number = wanted.number
