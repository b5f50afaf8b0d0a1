-- Whole jobs by id. Arguments: ids (JSON).
WITH wanted AS MATERIALIZED (SELECT json_array_elements_text(:ids::json) COLLATE "C" AS id)
SELECT /*columns*/ FROM windlass_jobs WHERE id = ANY (ARRAY(SELECT id FROM wanted))
UNION ALL
SELECT /*finished_columns*/ FROM windlass_finished WHERE id = ANY (ARRAY(SELECT id FROM wanted))
