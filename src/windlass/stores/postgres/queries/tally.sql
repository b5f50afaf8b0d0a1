-- Adds to counts, later. Arguments by position, as arrays: queue, state, number (may be negative).
INSERT INTO windlass_deltas (queue, state, number)
SELECT * FROM unnest(?::text[], ?::text[], ?::bigint[])
