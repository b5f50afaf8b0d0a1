-- Brings a job up to date, unless history has a later line of it already.
-- Arguments by position: as `renewal` in record.py.
UPDATE windlass_history
SET task = ?, queue = ?, state = ?, attempt = ?, fence = ?, waited = ?, created_at = ?,
    ended_at = ?, duration = ?, labels = ?, error = ?, record = ?
WHERE id = ?
  AND (fence < ? OR ended_at < ? OR (fence = ? AND (waited < ? OR (waited = ? AND ended_at < ?))))
