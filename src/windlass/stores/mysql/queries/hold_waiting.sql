-- Jobs that wait for a slot, by number, held until the commit. Arguments: numbers (JSON).
-- Returns: number, id, state, due.
SELECT number, CONVERT(id USING utf8mb4), state, due
FROM JSON_TABLE(:numbers, '$[*]' COLUMNS (wanted BIGINT PATH '$')) AS wanted
STRAIGHT_JOIN windlass_jobs FORCE INDEX (PRIMARY) ON number = wanted
FOR UPDATE
