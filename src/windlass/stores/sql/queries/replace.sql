-- Lets a waiting job be another one, as if it had come now; NULL leaves its place.
-- Arguments by position: as `to_replace` in rows.py.
UPDATE windlass_jobs
SET state = ?, spec = ?, rank = ?, place = coalesce(?, place), created_at = ?, due = ?, keep = ?,
    unique_key = ?, attempt = 0, worker = NULL, started_at = NULL, lease_until = NULL,
    result = NULL, error = NULL, progress = NULL, checkpoint = NULL, awaits = NULL, mail = NULL,
    lane = NULL, slot = NULL, grp = NULL, lost = 0
WHERE id = ?
