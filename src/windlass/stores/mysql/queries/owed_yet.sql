-- As `owed`, and with what others are at: waits for them. Arguments: limit.
-- Returns: note, parent, until, why.
SELECT note, CONVERT(parent USING utf8mb4), until, why FROM windlass_owed
ORDER BY note LIMIT :limit FOR UPDATE
