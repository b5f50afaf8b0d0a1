-- Closes the edges of a parent that has ended, up to one of them.
-- Arguments by position: parent, serial (the last one).
DELETE FROM windlass_edges WHERE parent = ? AND serial <= ?
