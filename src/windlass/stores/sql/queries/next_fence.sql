-- Reserves a fence. Arguments: now. Returns: that fence, greater than any before, and not below the
-- time: so one that was given before the file was restored from an old copy is not given again.
UPDATE windlass_counts SET number = max(number + 1, :now * 1024)
WHERE queue = '' AND state = 'fence'
RETURNING number
