-- Removes a schedule. Arguments by position: name.
DELETE FROM windlass_schedules WHERE name = ?
