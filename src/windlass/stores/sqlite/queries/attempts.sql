-- What was kept of the attempts of jobs. Arguments: ids (JSON), now. Returns: record.
SELECT record FROM windlass_logs
WHERE job IN (SELECT value FROM json_each(:ids)) AND until > :now
