-- Removes a job. Arguments by position: id.
DELETE FROM windlass_jobs WHERE id = ?
