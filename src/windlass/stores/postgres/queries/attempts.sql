-- What was kept of the attempts of jobs. Arguments: ids (JSON), now. Returns: record.
SELECT record FROM windlass_logs
WHERE job = ANY (ARRAY(SELECT json_array_elements_text(:ids::json) COLLATE "C")) AND until > :now
