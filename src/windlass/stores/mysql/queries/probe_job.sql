-- Puts a row where a live job of an id would be, unless there is one: whoever sees it afterwards
-- has put it there. Arguments by position: id.
INSERT INTO windlass_jobs (id, spec, queue, state, `rank`, place, created_at, due, keep)
VALUES /*each*/(?, '', '', 'blocked', 0, 0, 0, 0, 0)/*each*/
ON DUPLICATE KEY UPDATE number = windlass_jobs.number
