-- Notes jobs in the journal, as they stand. Arguments: ids (JSON), at, ran (1 or 0).
INSERT INTO windlass_journal (at, ran, /*stored_columns*/)
SELECT :at, :ran, /*stored_columns*/ FROM windlass_jobs
WHERE id IN (SELECT value FROM json_each(:ids))
