-- Gives waiting jobs another priority; NULL leaves the place.
-- Arguments by position, as arrays: rank, place, id.
UPDATE windlass_jobs AS j SET rank = g.rank, place = coalesce(g.place, j.place)
FROM unnest(?::bigint[], ?::bigint[], ?::text[]) AS g (rank, place, id)
WHERE j.id = g.id
