-- Drops a job that has not ended once more since. Arguments by position: id, ended_at.
DELETE FROM windlass_history WHERE id = ? AND ended_at = ?
