-- Finished jobs as this transaction sees them, without a lock; those below 0 are its own probes.
-- Arguments: ids. Returns: state, finished_at, number, id.
SELECT state, finished_at, number, CONVERT(id USING utf8mb4)
FROM windlass_finished FORCE INDEX (windlass_finished_id)
WHERE id IN :ids
