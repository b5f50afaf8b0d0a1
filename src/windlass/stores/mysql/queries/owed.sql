-- What is owed to dependents, longest ago first, but for what another transaction is at.
-- Arguments: limit. Returns: note, parent, until, why.
SELECT note, CONVERT(parent USING utf8mb4), until, why FROM windlass_owed
ORDER BY note
LIMIT :limit
FOR UPDATE SKIP LOCKED
