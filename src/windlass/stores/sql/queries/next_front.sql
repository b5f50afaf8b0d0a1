-- Reserves places before all others. Arguments: number. Returns: the first of them.
UPDATE windlass_counts SET number = number - :number
WHERE queue = '' AND state = 'front'
RETURNING number
