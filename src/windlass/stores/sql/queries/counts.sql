-- Returns: queue, state, number for every count above zero.
SELECT queue, state, number FROM windlass_counts WHERE number > 0 AND queue <> ''
