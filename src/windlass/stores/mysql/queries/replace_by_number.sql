-- As `replace`, without the turns. Arguments by position: as `to_replace` in rows.py, but for the
-- number of the job in the place of its id.
UPDATE windlass_jobs
SET state = ?, spec = ?, `rank` = ?, place = COALESCE(?, place), created_at = ?, due = ?, keep = ?,
    unique_key = ?, attempt = 0, worker = NULL, started_at = NULL, lease_until = NULL, error = NULL,
    progress = NULL, checkpoint = NULL, awaits = NULL, mail = NULL, lane = NULL, slot = NULL,
    grp = NULL, lost = 0
WHERE number = ?
