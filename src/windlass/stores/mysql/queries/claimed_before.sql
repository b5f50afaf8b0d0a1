-- Jobs of one claim that are still held. Arguments: fence. Locked: if the claim is being committed
-- right now, this waits for it.
SELECT /*columns*/ FROM windlass_jobs FORCE INDEX (windlass_jobs_order)
WHERE state = 'active'
  AND line >= LPAD(HEX(:fence), 16, '0') AND line < LPAD(HEX(:fence + 1), 16, '0')
ORDER BY place
FOR UPDATE
