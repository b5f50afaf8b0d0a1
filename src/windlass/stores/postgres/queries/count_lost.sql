-- Notes how many workers were lost with jobs. Arguments by position, as arrays: lost, id.
UPDATE windlass_jobs AS j SET lost = g.lost
FROM unnest(?::integer[], ?::text[]) AS g (lost, id)
WHERE j.id = g.id
