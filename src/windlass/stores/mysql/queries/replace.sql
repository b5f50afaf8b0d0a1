-- Lets a waiting job be another one, as if it had come now; NULL leaves its place.
-- Where it stood is forgotten. Arguments by position: as `to_replace` in rows.py.
UPDATE windlass_jobs
SET state = ?, spec = ?, `rank` = ?, place = COALESCE(?, place), created_at = ?, due = ?, keep = ?,
    unique_key = ?, attempt = 0, worker = NULL, started_at = NULL, lease_until = NULL, error = NULL,
    progress = NULL, checkpoint = NULL, awaits = NULL, mail = NULL, lane = NULL, slot = NULL,
    grp = NULL, lost = 0
WHERE id = ?;
DELETE FROM windlass_turns WHERE id = ?9
