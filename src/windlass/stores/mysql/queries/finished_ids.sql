-- Which of these ids are of finished jobs, held against other writers. Arguments: ids. Returns: id.
-- The condition on the fence, which always holds, keeps MySQL from scanning the index instead: that
-- has all else that is asked for, and a scan waits for rows of open transactions.
SELECT CONVERT(id USING utf8mb4) FROM windlass_finished FORCE INDEX (windlass_finished_id)
WHERE id IN :ids AND fence >= 0 FOR UPDATE
