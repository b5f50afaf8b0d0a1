-- How many jobs there are. Returns: the number.
SELECT number FROM windlass_history_count
