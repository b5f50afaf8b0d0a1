-- Lets the next fence be above one that came from another store. Arguments: fence.
-- Far above it: fences that are taken at this moment must not be given again.
SELECT setval('windlass_fences', :fence::bigint + 1000000)
WHERE (SELECT last_value FROM windlass_fences) < :fence::bigint
