-- Frees the keys that jobs hold for a time. Arguments: ids (JSON).
DELETE FROM windlass_jobs
WHERE state = 'window' AND worker = ANY (ARRAY(SELECT json_array_elements_text(:ids::json) COLLATE "C"))
