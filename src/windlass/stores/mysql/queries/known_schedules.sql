-- Those of these schedules that there are, held against schedulers. Arguments: ids (names).
-- Returns: name.
SELECT CONVERT(name USING utf8mb4) FROM windlass_schedules WHERE name IN :ids FOR UPDATE
