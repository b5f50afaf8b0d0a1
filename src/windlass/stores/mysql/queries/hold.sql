-- Live jobs by number, held until the commit. Arguments: numbers (JSON).
-- Returns: number, the lock columns.
-- A join, so that each is looked up as one row: that locks no gap.
SELECT number, /*lock_columns*/
FROM JSON_TABLE(:numbers, '$[*]' COLUMNS (wanted BIGINT PATH '$')) AS wanted
STRAIGHT_JOIN windlass_jobs FORCE INDEX (PRIMARY) ON number = wanted
FOR UPDATE
