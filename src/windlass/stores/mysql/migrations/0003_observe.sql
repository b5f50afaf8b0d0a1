-- What attempts came to, what workers counted, and orders to workers. New tables, which nobody who
-- does not know them needs.
-- compatible: yes

CREATE TABLE IF NOT EXISTS windlass_logs (
  job    VARBINARY(512) NOT NULL,
  fence  BIGINT NOT NULL,
  until  BIGINT NOT NULL,                    -- the moment from which on it can be dropped
  record LONGBLOB NOT NULL,                  -- MessagePack
  PRIMARY KEY (job, fence),
  KEY windlass_logs_until (until)
) ENGINE = InnoDB;

-- Sums by name, in buckets of time, the queue '' is all together.
CREATE TABLE IF NOT EXISTS windlass_stats (
  queue  VARBINARY(512) NOT NULL,
  step   BIGINT NOT NULL,                    -- how long a bucket is, in milliseconds
  at     BIGINT NOT NULL,                    -- when it begins
  name   VARBINARY(128) NOT NULL,
  number BIGINT NOT NULL,
  until  BIGINT NOT NULL,
  PRIMARY KEY (queue, step, at, name),
  KEY windlass_stats_until (until)
) ENGINE = InnoDB;

-- The last call of each worker that was added up, so that none counts twice.
CREATE TABLE IF NOT EXISTS windlass_tallies (
  worker VARBINARY(512) NOT NULL,
  number BIGINT NOT NULL,
  at     BIGINT NOT NULL,
  PRIMARY KEY (worker)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS windlass_orders (
  worker     VARBINARY(512) NOT NULL,
  said       VARCHAR(16) NOT NULL,
  expires_at BIGINT NOT NULL,                -- as that of the worker
  PRIMARY KEY (worker)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
