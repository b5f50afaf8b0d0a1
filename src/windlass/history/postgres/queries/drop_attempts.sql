-- Drops the attempts of jobs that are not there. Arguments by position, as arrays: id, id.
DELETE FROM windlass_attempts AS a USING unnest(?::text[], ?::text[]) AS g (job, id)
WHERE a.job = g.job AND NOT EXISTS (SELECT 1 FROM windlass_history AS h WHERE h.id = g.id)
