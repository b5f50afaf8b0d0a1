-- Takes a live job back that was just stored. Arguments by position: id.
DELETE FROM windlass_jobs WHERE id = ?
