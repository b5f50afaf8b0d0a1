-- Whole jobs by id. Arguments: ids (JSON).
SELECT /*columns*/ FROM windlass_jobs WHERE id IN (SELECT value FROM json_each(:ids))
