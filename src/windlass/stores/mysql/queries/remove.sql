-- Removes live jobs by number. Arguments: numbers (JSON).
-- A join, for a DELETE takes no hint: it would scan a small table, and wait for rows of
-- transactions that are open.
DELETE jobs
FROM JSON_TABLE(:numbers, '$[*]' COLUMNS (number BIGINT PATH '$')) AS wanted
STRAIGHT_JOIN windlass_jobs AS jobs
WHERE jobs.number = wanted.number
