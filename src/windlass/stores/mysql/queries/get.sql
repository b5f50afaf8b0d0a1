-- Whole jobs by id. Arguments: ids.
SELECT /*columns*/ FROM windlass_jobs WHERE id IN :ids
UNION ALL
SELECT /*finished_columns*/ FROM windlass_finished WHERE id IN :ids
