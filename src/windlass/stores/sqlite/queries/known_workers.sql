-- Those of these workers that are on the list. Arguments: ids (JSON), now. Returns: id, expires_at.
SELECT id, expires_at FROM windlass_workers
WHERE id IN (SELECT value FROM json_each(:ids)) AND expires_at > :now
