-- The signals that came for live jobs, and the one each is parked for. Arguments: ids (JSON).
-- Returns: id, awaits, mail.
SELECT id, awaits, mail FROM windlass_jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json) COLLATE "C"))
