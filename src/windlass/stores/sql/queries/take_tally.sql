-- Notes which tally of a worker was taken last. Arguments: worker, number, now.
-- Returns: a row, unless this one or a later one was taken before.
INSERT INTO windlass_tallies (worker, number, at) VALUES (:worker, :number, :now)
ON CONFLICT (worker) DO UPDATE SET number = excluded.number, at = excluded.at
WHERE windlass_tallies.number < excluded.number
RETURNING number
