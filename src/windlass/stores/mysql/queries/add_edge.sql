-- Lets a job wait for another, which is marked: that is how who completes it knows.
-- Arguments by position: parent, serial, child, anyway (1 or 0).
UPDATE windlass_jobs SET awaited = 1 WHERE id IN (/*each*/?1/*each*/) AND awaited = 0;
INSERT INTO windlass_edges (parent, serial, child, anyway) VALUES /*each*/(?, ?, ?, ?)/*each*/
ON DUPLICATE KEY UPDATE anyway = anyway
