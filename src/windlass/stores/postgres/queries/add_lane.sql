-- Makes lanes known. Arguments by position, as arrays: queue, name, limits, state, idle_at.
INSERT INTO windlass_lanes (queue, name, limits, state, idle_at)
SELECT * FROM unnest(?::text[], ?::text[], ?::bytea[], ?::bytea[], ?::bigint[])
ON CONFLICT (queue, name) DO NOTHING
