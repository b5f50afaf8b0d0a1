-- The order that stands for a worker, from now on for as long as its entry.
-- Arguments: id, now, expires_at. Returns: said; no row if there is none.
UPDATE windlass_orders SET expires_at = :expires_at WHERE worker = :id AND expires_at > :now
RETURNING said
