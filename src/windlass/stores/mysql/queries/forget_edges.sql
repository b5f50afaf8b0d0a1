-- Drops the edges to a job that waits no longer. Arguments by position: child.
DELETE FROM windlass_edges WHERE child IN (/*each*/?/*each*/)
