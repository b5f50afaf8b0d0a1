-- Switches the journal, for all processes. Arguments: on (1 or 0).
UPDATE windlass_counts SET number = :on WHERE queue = '' AND state = 'journal'
