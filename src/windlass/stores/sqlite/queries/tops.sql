-- The last place that groups have taken, from each of these places up to so many after it.
-- Arguments: queue, starts (JSON), slot. Returns: place, or NULL.
SELECT (
  SELECT max(place) FROM windlass_jobs
  WHERE queue = :queue AND place >= value AND place < value + :slot
    AND grp IS NOT NULL AND (state = 'pending' OR slot = 0)
)
FROM json_each(:starts)
