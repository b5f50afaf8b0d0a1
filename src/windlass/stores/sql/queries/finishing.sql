-- What has to be known before jobs end. Returns one row: whether the journal is kept, and whether
-- any job waits for another (1 or 0 each).
SELECT number, EXISTS (SELECT 1 FROM windlass_edges) FROM windlass_counts
WHERE queue = '' AND state = 'journal'
