-- Ends the windows of jobs that were called off. Arguments: ids (JSON).
DELETE FROM windlass_windows WHERE job IN (SELECT value FROM json_each(:ids))
