-- Blocked jobs. Arguments: ids (JSON). Returns: the lock columns, due, place.
-- The transaction has the write lock of the whole file already.
SELECT /*lock_columns*/, due, place FROM windlass_jobs
WHERE id IN (SELECT value FROM json_each(:ids)) AND state = 'blocked'
