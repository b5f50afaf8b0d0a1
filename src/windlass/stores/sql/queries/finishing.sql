-- What has to be known before jobs end. Returns one row: whether the journal is kept, whether
-- any job waits for another, and whether there are lanes (1 or 0 each).
SELECT number, EXISTS (SELECT 1 FROM windlass_edges), EXISTS (SELECT 1 FROM windlass_lanes)
FROM windlass_counts
WHERE queue = '' AND state = 'journal'
