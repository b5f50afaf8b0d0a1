-- Lets the clock of a queue go up to the last place of what was handed out. Arguments: queue, refs.
-- Whoever gives out places, perhaps in a transaction that stays open, holds the row: then it is left
-- to the next claim, and this one does not wait.
SET @free = NULL;
SELECT queue INTO @free FROM windlass_clocks FORCE INDEX (PRIMARY)
WHERE queue = :queue
FOR UPDATE SKIP LOCKED;
UPDATE windlass_clocks AS clocks FORCE INDEX (PRIMARY)
SET clocks.place = GREATEST(clocks.place, COALESCE((
  SELECT MAX(jobs.place) - 4611684918915760128
  FROM windlass_jobs AS jobs FORCE INDEX (PRIMARY)
  WHERE jobs.number IN :refs AND jobs.grp IS NOT NULL
), 0))
WHERE clocks.queue = @free
