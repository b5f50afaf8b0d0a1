-- Notes jobs in the journal, as they stand. Arguments: ids, at, ran (1 or 0).
INSERT INTO windlass_journal
  (at, ran, id, spec, queue, state, `rank`, created_at, due, attempt, fence, lease_until, worker,
   unique_key, started_at, finished_at, result, error, number, progress, checkpoint, awaits, mail,
   place, lost)
SELECT :at, :ran, id, spec, queue, state, `rank`, created_at, due, attempt, fence, lease_until,
  worker, unique_key, started_at, NULL, NULL, error, number, progress, checkpoint, awaits, mail,
  place, lost
FROM windlass_jobs WHERE id IN :ids
UNION ALL
SELECT :at, :ran, id, spec, queue, state, `rank`, created_at, due, attempt, fence, NULL,
  worker, unique_key, started_at, finished_at, result, error, number, progress, checkpoint, NULL,
  mail, number, lost
FROM windlass_finished WHERE id IN :ids
