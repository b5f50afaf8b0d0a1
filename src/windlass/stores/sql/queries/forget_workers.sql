-- Drops workers that were not heard of in time. Arguments: now.
DELETE FROM windlass_workers WHERE expires_at <= :now
