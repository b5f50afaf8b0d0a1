-- Lets a job wait for another, which is marked already.
-- Arguments by position: parent, serial, child, anyway (1 or 0).
INSERT INTO windlass_edges (parent, serial, child, anyway) VALUES /*each*/(?, ?, ?, ?)/*each*/
ON DUPLICATE KEY UPDATE anyway = anyway
