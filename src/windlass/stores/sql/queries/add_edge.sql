-- Lets a job wait for another. Arguments by position: parent, serial, child, anyway (1 or 0).
INSERT INTO windlass_edges (parent, serial, child, anyway) VALUES (?, ?, ?, ?)
ON CONFLICT (child, parent) DO NOTHING
