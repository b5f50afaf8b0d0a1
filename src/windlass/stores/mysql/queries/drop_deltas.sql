-- Removes changes of counts that were added up. Arguments: serials (JSON).
-- A join, for a DELETE takes no hint: it would scan a small table, and wait for rows of
-- transactions that are open.
DELETE deltas
FROM JSON_TABLE(:serials, '$[*]' COLUMNS (serial BIGINT PATH '$')) AS wanted
STRAIGHT_JOIN windlass_deltas AS deltas
WHERE deltas.serial = wanted.serial
