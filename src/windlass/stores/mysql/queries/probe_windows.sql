-- Puts rows where windows of these unique keys would be, unless there are some.
-- Arguments by position: unique_key.
INSERT INTO windlass_windows (unique_key, job, until) VALUES /*each*/(?, '', 0)/*each*/
ON DUPLICATE KEY UPDATE job = windlass_windows.job
