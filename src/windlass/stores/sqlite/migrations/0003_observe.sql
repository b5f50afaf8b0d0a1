-- What attempts came to, what workers counted, and orders to workers. New tables, which nobody who
-- does not know them needs.
-- compatible: yes

CREATE TABLE windlass_logs (
  job    TEXT    NOT NULL,
  fence  INTEGER NOT NULL,
  until  INTEGER NOT NULL,                  -- the moment from which on it can be dropped
  record BLOB    NOT NULL,                  -- MessagePack
  PRIMARY KEY (job, fence)
);

CREATE INDEX windlass_logs_until ON windlass_logs (until);

-- Sums by name, in buckets of time; the queue '' is all together.
CREATE TABLE windlass_stats (
  queue  TEXT    NOT NULL,
  step   INTEGER NOT NULL,                  -- how long a bucket is, in milliseconds
  at     INTEGER NOT NULL,                  -- when it begins
  name   TEXT    NOT NULL,
  number INTEGER NOT NULL,
  until  INTEGER NOT NULL,
  PRIMARY KEY (queue, step, at, name)
) WITHOUT ROWID;

CREATE INDEX windlass_stats_until ON windlass_stats (until);

-- The last call of each worker that was added up, so that none counts twice.
CREATE TABLE windlass_tallies (
  worker TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  at     INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE windlass_orders (
  worker     TEXT PRIMARY KEY,
  said       TEXT    NOT NULL,
  expires_at INTEGER NOT NULL               -- as that of the worker
) WITHOUT ROWID;
