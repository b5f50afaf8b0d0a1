-- When the next job of a queue is due. Arguments: queue. Returns one row: two times or NULL.
SELECT
  (SELECT step FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
   WHERE state = 'scheduled' AND line = :queue ORDER BY step LIMIT 1),
  (SELECT step FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
   WHERE state = 'retry' AND line = :queue ORDER BY step LIMIT 1)
