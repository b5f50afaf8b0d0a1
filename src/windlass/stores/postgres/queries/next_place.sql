-- Reserves places at the end of the line. Arguments: number. Returns: the last of them.
SELECT (nextval('windlass_places') << 20) + :number::bigint
