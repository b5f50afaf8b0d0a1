-- Drops orders to workers that were not heard of in time. Arguments: now.
DELETE FROM windlass_orders WHERE expires_at <= :now
