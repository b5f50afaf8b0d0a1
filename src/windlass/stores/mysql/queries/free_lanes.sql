-- Those of these lanes that no other transaction has. Arguments: queue, names. Returns: name.
SELECT CONVERT(name USING utf8mb4) FROM windlass_lanes FORCE INDEX (PRIMARY)
WHERE queue = :queue AND name IN :names
FOR UPDATE SKIP LOCKED
