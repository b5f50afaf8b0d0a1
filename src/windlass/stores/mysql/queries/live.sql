-- What there is to know of live jobs, whoever has them. Arguments: ids, now.
-- Returns: the lock columns, and whether the lease has run out.
SELECT /*lock_columns*/, coalesce(lease_until <= :now, 0) FROM windlass_jobs WHERE id IN :ids
