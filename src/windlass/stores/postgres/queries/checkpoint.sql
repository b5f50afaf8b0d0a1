-- Keeps what attempts leave for the next one. Arguments by position, as arrays: checkpoint, id.
UPDATE windlass_jobs AS j SET checkpoint = g.checkpoint
FROM unnest(?::bytea[], ?::text[]) AS g (checkpoint, id)
WHERE j.id = g.id
