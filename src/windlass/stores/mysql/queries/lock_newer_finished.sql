-- A finished job that is there though this transaction does not see it, held until the commit.
-- Arguments: ids. Returns: the lock columns.
SELECT /*finished_lock_columns*/ FROM windlass_finished FORCE INDEX (windlass_finished_id)
WHERE id IN :ids FOR UPDATE
