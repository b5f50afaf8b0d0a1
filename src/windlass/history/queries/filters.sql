-- The conditions of a search, which stand for /*filters*/ in find.sql.
-- Arguments: task, queue, error ('' for any), states, since, until, labels (a pattern),
-- min_duration, max_duration.
-- The + 0 keeps engines from going by the index of a column that only narrows: the one that is
-- sorted by has to lead.
(:task = '' OR task = :task)
  AND (:queue = '' OR queue = :queue)
  AND replace(:states, state, '') <> :states
  AND ended_at + 0 >= :since AND ended_at + 0 < :until
  AND duration + 0 >= :min_duration AND duration + 0 <= :max_duration
  AND labels LIKE :labels
  AND (:error = '' OR replace(error, :error, '') <> error)
