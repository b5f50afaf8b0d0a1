-- Those of these jobs that have a slot of a lane. Arguments: refs (JSON). Returns: number.
SELECT number FROM windlass_jobs
WHERE number IN (SELECT value FROM json_each(:refs)) AND slot IS NOT NULL
