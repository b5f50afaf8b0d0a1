-- Lets the clock of a queue go up to the last place of what was handed out. Arguments: queue, refs.
INSERT INTO windlass_clocks (queue, place)
SELECT :queue, GREATEST(MAX(place) - 4611684918915760128, 0)
FROM windlass_jobs FORCE INDEX (PRIMARY)
WHERE number IN :refs AND grp IS NOT NULL
HAVING MAX(place) IS NOT NULL
ON DUPLICATE KEY UPDATE place = GREATEST(windlass_clocks.place, VALUES(place))
