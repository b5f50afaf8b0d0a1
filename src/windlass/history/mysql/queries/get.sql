-- One job. Arguments: id. Returns: id, task, queue, state, created_at, record.
SELECT CONVERT(id USING utf8mb4), CONVERT(task USING utf8mb4), CONVERT(queue USING utf8mb4), state,
       created_at, record
FROM windlass_history WHERE id = :id
