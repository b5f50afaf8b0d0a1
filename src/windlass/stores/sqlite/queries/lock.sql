-- What operations must know of jobs. Arguments: ids (JSON). Returns: the lock columns.
-- The transaction has the write lock of the whole file already.
SELECT /*lock_columns*/ FROM windlass_jobs WHERE id IN (SELECT value FROM json_each(:ids))
