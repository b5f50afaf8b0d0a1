-- Accepts a job at the place that was reserved last, unless its id exists.
-- Arguments by position: as `to_insert` in rows.py; the place is not used.
INSERT INTO windlass_jobs
  (id, spec, queue, state, rank, place, created_at, due, keep, unique_key)
SELECT ?1, ?2, ?3, ?4, ?5, number, ?7, ?8, ?9, ?10 FROM windlass_counts
WHERE queue = '' AND state = 'place'
ON CONFLICT DO NOTHING
