-- What operations must know of jobs, held against other writers. Arguments: ids (JSON).
-- Returns: the lock columns.
WITH wanted AS MATERIALIZED (SELECT json_array_elements_text(:ids::json) COLLATE "C" AS id)
SELECT * FROM (
  SELECT /*lock_columns*/ FROM windlass_jobs WHERE id = ANY (ARRAY(SELECT id FROM wanted))
  ORDER BY id FOR UPDATE
) AS live
UNION ALL
SELECT * FROM (
  SELECT /*finished_lock_columns*/ FROM windlass_finished WHERE id = ANY (ARRAY(SELECT id FROM wanted))
  ORDER BY id FOR UPDATE
) AS finished
