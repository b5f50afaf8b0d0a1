-- The jobs that match, from one job up to another, in three parts as in edge.sql.
-- Marks: as in edge.sql; filters (filters.sql).
-- Arguments: key and id (of the job before, which is left out), stop and last (of the last job),
-- limit, those of the filters; state, if that is the scope.
-- Returns: key, id, task, queue, state, created_at, record.
SELECT page.sorted, CONVERT(h.id USING utf8mb4), CONVERT(h.task USING utf8mb4),
       CONVERT(h.queue USING utf8mb4), h.state, h.created_at, h.record
FROM (
  (SELECT /*by*/ AS sorted, id FROM windlass_history
   WHERE /*scope*/ /*by*/ = :key AND id /*past*/ :id AND (:key <> :stop OR id /*short*/= :last)
     AND /*filters*/
   ORDER BY id /*order*/ LIMIT :limit)
  UNION ALL
  (SELECT /*by*/ AS sorted, id FROM windlass_history
   WHERE /*scope*/ /*by*/ /*past*/ :key AND /*by*/ /*short*/ :stop
     AND /*filters*/
   ORDER BY /*by*/ /*order*/, id /*order*/ LIMIT :limit)
  UNION ALL
  (SELECT /*by*/ AS sorted, id FROM windlass_history
   WHERE /*scope*/ :key <> :stop AND /*by*/ = :stop AND id /*short*/= :last
     AND /*filters*/
   ORDER BY id /*order*/ LIMIT :limit)
) AS page
JOIN windlass_history AS h ON h.id = page.id
ORDER BY page.sorted /*order*/, page.id /*order*/
LIMIT :limit
