-- The oldest changes of counts that nobody else adds up right now. Arguments: limit.
-- Returns: serial, queue, state, number.
SELECT serial, queue, state, number FROM windlass_deltas
ORDER BY serial
LIMIT :limit
FOR UPDATE SKIP LOCKED
