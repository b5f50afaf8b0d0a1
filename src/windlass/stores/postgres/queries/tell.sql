-- Tells who may wait that queues may have jobs. Arguments: queues (array).
-- Commits that notify wait for each other in the whole server, until the disk has them: so this one
-- does not wait for the disk.
SELECT set_config('synchronous_commit', 'off', true), pg_notify('windlass', queue)
FROM unnest(:queues::text[]) AS n (queue)
