-- Reserves places at the end of the line. Arguments: number. Returns: the last of them.
UPDATE windlass_counts SET number = number + :number
WHERE queue = '' AND state = 'place'
RETURNING number
