-- Reserves a fence. Returns: that fence, greater than any before.
UPDATE windlass_counts SET number = number + 1
WHERE queue = '' AND state = 'fence'
RETURNING number
