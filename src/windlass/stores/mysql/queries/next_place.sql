-- Reserves places at the end of the line, less than 2 ** 20. Arguments: number.
-- Returns: the last of them.
INSERT INTO windlass_deltas (queue, state, number) VALUES ('', '', 0);
SELECT CAST(LAST_INSERT_ID() * 1048576 AS SIGNED) + :number
