-- What could cost jobs as the file is. Arguments: none. Returns: sentences.
SELECT 'The file is not in WAL mode (' || journal_mode || '): readers and writers wait for each other; '
       || 'put it on a local disk.'
FROM pragma_journal_mode WHERE journal_mode <> 'wal'
