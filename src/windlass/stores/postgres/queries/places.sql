-- Where jobs stand in line. Arguments: ids (JSON). Returns: id, place.
WITH wanted AS MATERIALIZED (SELECT json_array_elements_text(:ids::json) COLLATE "C" AS id)
SELECT id, place FROM windlass_jobs WHERE id = ANY (ARRAY(SELECT id FROM wanted))
UNION ALL
SELECT id, place FROM windlass_finished WHERE id = ANY (ARRAY(SELECT id FROM wanted))
