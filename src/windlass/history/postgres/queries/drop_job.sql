-- Drops jobs that have not ended once more since. Arguments by position, as arrays: id, ended_at.
DELETE FROM windlass_history AS h USING unnest(?::text[], ?::bigint[]) AS g (id, ended_at)
WHERE h.id = g.id AND h.ended_at = g.ended_at
