-- Keeps the number of jobs as a sum. Arguments: number (added, or removed if below 0).
UPDATE windlass_history_count SET number = number + :number
