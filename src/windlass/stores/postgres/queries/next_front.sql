-- Reserves places before all others, up to a million: that many lie between two numbers of the
-- sequence. Returns: the first of them.
SELECT -(nextval('windlass_places') << 20)
