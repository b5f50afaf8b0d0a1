-- Removes a job. Arguments by position: id.
-- Joins, for a hint is not enough: a server may scan a small table all the same, and wait for rows
-- of open transactions.
DELETE jobs
FROM JSON_TABLE(
  JSON_ARRAY(/*each*/?/*each*/), '$[*]'
  COLUMNS (id VARCHAR(128) CHARACTER SET utf8mb4 PATH '$')
) AS wanted
STRAIGHT_JOIN windlass_jobs AS jobs
WHERE jobs.id = wanted.id;
DELETE finished
FROM JSON_TABLE(
  JSON_ARRAY(/*each*/?/*each*/), '$[*]'
  COLUMNS (id VARCHAR(128) CHARACTER SET utf8mb4 PATH '$')
) AS wanted
STRAIGHT_JOIN windlass_finished AS finished
WHERE finished.id = wanted.id
