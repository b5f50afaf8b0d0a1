-- The jobs that match, from one job up to another. Marks: as in edge.sql; filters (filters.sql).
-- Arguments: key and id (of the job before, which is left out), stop and last (of the last job),
-- limit, those of the filters; state, if that is the scope.
-- Returns: key, id, task, queue, state, created_at, record.
SELECT /*by*/, id, task, queue, state, created_at, record FROM windlass_history
WHERE /*scope*/ (/*by*/, id) /*past*/ (:key, :id) AND (/*by*/, id) /*short*/= (:stop, :last)
  AND /*filters*/
ORDER BY /*by*/ /*order*/, id /*order*/
LIMIT :limit
