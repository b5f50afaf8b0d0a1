-- The first schema. Names are bytes, for texts that differ in their last spaces are equal to
-- MySQL. Each index is an order that a listing can be in, or a filter with the order by time.

CREATE TABLE IF NOT EXISTS windlass_history (
  id         VARBINARY(512) NOT NULL,
  task       VARBINARY(512) NOT NULL,
  queue      VARBINARY(512) NOT NULL,
  state      VARCHAR(16) NOT NULL,
  attempt    BIGINT NOT NULL,
  fence      BIGINT NOT NULL,
  waited     BIGINT NOT NULL,              -- 1 if the job ended while it waited
  created_at BIGINT NOT NULL,
  ended_at   BIGINT NOT NULL,
  duration   BIGINT NOT NULL,              -- milliseconds of the last attempt
  labels     LONGTEXT NOT NULL,            -- a word for each
  error      LONGTEXT NOT NULL,            -- as it can be searched
  record     LONGBLOB NOT NULL,            -- the job
  PRIMARY KEY (id),
  KEY windlass_history_ended (ended_at, id),
  KEY windlass_history_created (created_at, id),
  KEY windlass_history_duration (duration, id),
  KEY windlass_history_attempt (attempt, id),
  KEY windlass_history_task (task, ended_at, id),
  KEY windlass_history_queue (queue, ended_at, id),
  KEY windlass_history_state (state, ended_at, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The end is part of the key: a job of this id in another store can have had the same fence.
CREATE TABLE IF NOT EXISTS windlass_attempts (
  job        VARBINARY(512) NOT NULL,
  ended_at   BIGINT NOT NULL,
  fence      BIGINT NOT NULL,
  attempt    BIGINT NOT NULL,
  state      VARCHAR(16) NOT NULL,
  started_at BIGINT,
  worker     VARCHAR(512),
  error      LONGTEXT,
  PRIMARY KEY (job, ended_at, fence)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS windlass_history_count (
  one    TINYINT NOT NULL PRIMARY KEY,
  number BIGINT NOT NULL
) ENGINE = InnoDB;

INSERT INTO windlass_history_count (one, number) VALUES (1, 0)
ON DUPLICATE KEY UPDATE number = number;
