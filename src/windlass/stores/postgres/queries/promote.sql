-- Makes due jobs pending. Arguments by position, as arrays: place, id.
UPDATE windlass_jobs AS j SET state = 'pending', place = g.place
FROM unnest(?::bigint[], ?::text[]) AS g (place, id)
WHERE j.id = g.id
