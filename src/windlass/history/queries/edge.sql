-- The last job that a page may look at; none if there are fewer.
-- Marks: by (the column sorted by), scope (a condition on another one), past and short (the
-- comparisons of this direction), order.
-- Arguments: key and id (of the job before, which is left out), stop and last (of the last job
-- of all), skip; task, queue or state, if that is the scope. Returns: key, id.
SELECT /*by*/, id FROM windlass_history
WHERE /*scope*/ (/*by*/, id) /*past*/ (:key, :id) AND (/*by*/, id) /*short*/= (:stop, :last)
ORDER BY /*by*/ /*order*/, id /*order*/
LIMIT 1 OFFSET :skip
