-- Those of these schedules that there are. Arguments: ids (JSON, names). Returns: name.
SELECT name FROM windlass_schedules WHERE name IN (SELECT value FROM json_each(:ids))
