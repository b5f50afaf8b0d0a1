-- Adds to counts of buckets. Arguments by position, as arrays: queue, step, at, name, number, until.
INSERT INTO windlass_stats AS s (queue, step, at, name, number, until)
SELECT * FROM unnest(?::text[], ?::bigint[], ?::bigint[], ?::text[], ?::bigint[], ?::bigint[])
ON CONFLICT (queue, step, at, name) DO UPDATE SET number = s.number + excluded.number
