-- Keeps the signals that came for live jobs. Arguments by position, as arrays: mail, id.
UPDATE windlass_jobs AS j SET mail = g.mail
FROM unnest(?::bytea[], ?::text[]) AS g (mail, id)
WHERE j.id = g.id
