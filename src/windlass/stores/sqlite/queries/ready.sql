-- Whether a queue that is not paused has pending jobs, and when its next one is due.
-- Arguments: queues (JSON). Returns one row: pending (0 or 1), next due time or NULL.
SELECT
  max(EXISTS (SELECT 1 FROM windlass_jobs WHERE state = 'pending' AND queue = wanted.value)),
  min((
    SELECT min(due) FROM windlass_jobs WHERE state = 'scheduled' AND queue = wanted.value
  )),
  min((
    SELECT min(due) FROM windlass_jobs WHERE state = 'retry' AND queue = wanted.value
  ))
FROM json_each(:queues) AS wanted
WHERE wanted.value NOT IN (SELECT queue FROM windlass_paused)
