-- The oldest lines of the journal. Arguments: limit. Returns: line, at, ran, the job's columns.
SELECT line, at, ran, /*journal_columns*/ FROM windlass_journal ORDER BY line LIMIT :limit
