-- Drops the edges to jobs that wait no longer. Arguments by position, as an array: child.
DELETE FROM windlass_edges WHERE child IN (SELECT unnest(?::text[]))
