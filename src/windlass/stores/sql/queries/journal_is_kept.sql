-- Whether the journal is kept. Returns: 1 or 0.
SELECT number FROM windlass_counts WHERE queue = '' AND state = 'journal'
