-- Notes jobs in the journal, as they stand. Arguments: ids (JSON), at, ran (1 or 0).
WITH wanted AS MATERIALIZED (
  SELECT json_array_elements_text(:ids::json) COLLATE "C" AS id
), standing AS (
  SELECT id, spec, queue, state, rank, place, created_at, started_at, due, unique_key, attempt,
         fence, worker, error, progress, result, checkpoint, awaits, mail,
         NULL::bigint AS finished_at, lost
  FROM windlass_jobs WHERE id = ANY (ARRAY(SELECT id FROM wanted))
  UNION ALL
  SELECT id, spec, queue, state, rank, place, created_at, started_at, due, unique_key, attempt,
         fence, worker, error, progress, result, checkpoint, NULL, mail, finished_at, lost
  FROM windlass_finished WHERE id = ANY (ARRAY(SELECT id FROM wanted))
)
INSERT INTO windlass_journal
  (at, ran, id, spec, queue, state, rank, place, created_at, started_at, due, unique_key, attempt,
   fence, worker, error, progress, result, checkpoint, awaits, mail, finished_at, lost)
SELECT :at::bigint, :ran::bigint, s.* FROM standing AS s
