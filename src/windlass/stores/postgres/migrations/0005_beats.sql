-- Leases in no index: a lease that is renewed is then a new version of its row beside the old one,
-- and nothing else. There is room for that in each page: jobs that lie together are not renewed at
-- once. What ran out is looked for among the active jobs. Nobody needs the index.
-- compatible: from 0001
-- concurrently: yes
DROP INDEX CONCURRENTLY IF EXISTS windlass_jobs_lease;

ALTER TABLE windlass_jobs SET (fillfactor = 80);
