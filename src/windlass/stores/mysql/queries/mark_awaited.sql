-- Marks jobs that others wait for. Arguments: refs.
UPDATE windlass_jobs FORCE INDEX (PRIMARY) SET awaited = 1 WHERE number IN :refs
