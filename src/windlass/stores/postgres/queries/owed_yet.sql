-- As `owed`, and with what others are at: waits for them. Arguments: limit.
-- Returns: note, parent, until, why.
SELECT note, parent, until, why FROM windlass_owed ORDER BY note LIMIT :limit FOR UPDATE
