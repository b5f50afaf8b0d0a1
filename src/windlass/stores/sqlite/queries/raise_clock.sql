-- Lets the clock of a queue go up to the last place of what was handed out.
-- Arguments: queue, refs (JSON).
INSERT INTO windlass_clocks (queue, place)
SELECT :queue, max(place) FROM windlass_jobs
WHERE number IN (SELECT value FROM json_each(:refs)) AND grp IS NOT NULL
ON CONFLICT (queue) DO UPDATE SET place = max(place, excluded.place)
