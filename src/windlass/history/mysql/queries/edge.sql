-- The last job that a page may look at; none if there are fewer. In three parts, for a comparison
-- of pairs would not go by the index: those that have the first key, the last one, and the rest.
-- Marks: by (the column sorted by), scope (a condition on another one), past and short (the
-- comparisons of this direction), order.
-- Arguments: key and id (of the job before, which is left out), stop and last (of the last job
-- of all), skip, window; task, queue or state, if that is the scope. Returns: key, id.
SELECT sorted, CONVERT(id USING utf8mb4) FROM (
  (SELECT /*by*/ AS sorted, id FROM windlass_history
   WHERE /*scope*/ /*by*/ = :key AND id /*past*/ :id AND (:key <> :stop OR id /*short*/= :last)
   ORDER BY id /*order*/ LIMIT :window)
  UNION ALL
  (SELECT /*by*/ AS sorted, id FROM windlass_history
   WHERE /*scope*/ /*by*/ /*past*/ :key AND /*by*/ /*short*/ :stop
   ORDER BY /*by*/ /*order*/, id /*order*/ LIMIT :window)
  UNION ALL
  (SELECT /*by*/ AS sorted, id FROM windlass_history
   WHERE /*scope*/ :key <> :stop AND /*by*/ = :stop AND id /*short*/= :last
   ORDER BY id /*order*/ LIMIT :window)
) AS page
ORDER BY sorted /*order*/, page.id /*order*/
LIMIT 1 OFFSET :skip
