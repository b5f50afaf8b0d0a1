-- As `lock_claimed`, but for those that another transaction has. Arguments: refs.
-- Returns: number, fence, queue, keep, awaited (1 or 0), slot.
SELECT number, fence, CONVERT(queue USING utf8mb4), keep, awaited, slot
FROM windlass_jobs FORCE INDEX (PRIMARY)
WHERE number IN :refs AND state = 'active'
FOR UPDATE SKIP LOCKED
