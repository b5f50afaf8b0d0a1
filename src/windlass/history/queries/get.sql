-- One job. Arguments: id. Returns: id, task, queue, state, created_at, record.
SELECT id, task, queue, state, created_at, record FROM windlass_history WHERE id = :id
