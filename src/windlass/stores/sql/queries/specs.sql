-- The specs of picked jobs. Arguments: refs (JSON). Returns: number, spec.
SELECT number, spec FROM windlass_jobs WHERE number IN (SELECT value FROM json_each(:refs))
