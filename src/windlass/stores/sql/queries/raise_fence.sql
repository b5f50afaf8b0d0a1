-- Lets the next fence be above one that came from another store. Arguments: fence.
UPDATE windlass_counts SET number = :fence
WHERE queue = '' AND state = 'fence' AND number < :fence
