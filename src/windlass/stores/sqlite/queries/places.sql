-- Where jobs stand in line. Arguments: ids (JSON). Returns: id, place.
SELECT id, place FROM windlass_jobs WHERE id IN (SELECT value FROM json_each(:ids))
