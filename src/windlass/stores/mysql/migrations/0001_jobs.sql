-- The first schema. Live jobs have a table of their own, which stays small; a finished one moves
-- to another in the step that ends it. InnoDB has no partial indexes, and each index is paid for
-- by every job: one, `windlass_jobs_order`, serves claims, due times and all listings of live jobs.
--
-- Each statement can be run again: MySQL commits after every one, so that a migration which was
-- cut short is begun anew.
--
-- Names are bytes: they differ by case and by blanks at their ends, which no collation that both
-- MySQL and MariaDB have would tell apart.

CREATE TABLE IF NOT EXISTS windlass_jobs (
  number      BIGINT NOT NULL AUTO_INCREMENT,
  id          VARBINARY(512) NOT NULL,
  queue       VARBINARY(512) NOT NULL,
  state       ENUM('pending', 'active', 'scheduled', 'retry', 'blocked') NOT NULL,
  `rank`      SMALLINT NOT NULL,             -- 100 - priority
  place       BIGINT NOT NULL,               -- position in line; below 0 for released jobs
  due         BIGINT NOT NULL,
  attempt     INT NOT NULL DEFAULT 0,
  fence       BIGINT NOT NULL DEFAULT 0,
  keep        BIGINT NOT NULL,               -- milliseconds to keep the job once it is finished
  created_at  BIGINT NOT NULL,
  started_at  BIGINT,
  lease_until BIGINT,
  worker      VARCHAR(512),
  unique_key  VARBINARY(1024),
  asked       INT UNSIGNED NOT NULL DEFAULT 0,  -- how often the job was asked for again
  awaited     TINYINT NOT NULL DEFAULT 0,    -- 1 once another job waits for this one
  spec        LONGBLOB NOT NULL,
  error       LONGTEXT,
  progress    LONGTEXT,
  checkpoint  LONGBLOB,
  awaits      VARCHAR(512),                  -- the signal that the job is parked for
  mail        LONGBLOB,                      -- the signals that came, MessagePack
  lane        VARBINARY(1024),
  slot        TINYINT,                       -- of its lane: 1 if it has one, 0 if it waits for one
  grp         VARBINARY(1024),               -- the group that it takes turns for
  line        VARBINARY(528) GENERATED ALWAYS AS (
    CASE state
      WHEN 'active' THEN CONCAT(LPAD(HEX(fence), 16, '0'), id)
      WHEN 'blocked' THEN id
      ELSE queue
    END
  ) STORED,                                  -- what jobs of a state are in order of: this first,
  step        BIGINT GENERATED ALWAYS AS (
    CASE state WHEN 'pending' THEN `rank` WHEN 'active' THEN lease_until ELSE due END
  ) STORED,                                  -- then this, then their place
  PRIMARY KEY (number),
  UNIQUE KEY windlass_jobs_id (id),
  UNIQUE KEY windlass_jobs_unique (unique_key),
  KEY windlass_jobs_order (state, line, step, place)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- In the order in which they are listed, so that this needs no index.
CREATE TABLE IF NOT EXISTS windlass_finished (
  state       ENUM('completed', 'dead', 'cancelled') NOT NULL,
  finished_at BIGINT NOT NULL,
  number      BIGINT NOT NULL,
  id          VARBINARY(512) NOT NULL,
  queue       VARBINARY(512) NOT NULL,
  `rank`      SMALLINT NOT NULL,
  place       BIGINT NOT NULL,               -- where it stood in line
  due         BIGINT NOT NULL,
  attempt     INT NOT NULL,
  fence       BIGINT NOT NULL,
  keep        BIGINT NOT NULL,
  created_at  BIGINT NOT NULL,
  started_at  BIGINT,
  expires_at  BIGINT,
  worker      VARCHAR(512),
  unique_key  VARBINARY(1024),
  spec        LONGBLOB NOT NULL,
  result      LONGBLOB,
  error       LONGTEXT,
  progress    LONGTEXT,
  checkpoint  LONGBLOB,
  mail        LONGBLOB,
  PRIMARY KEY (state, finished_at, number),
  UNIQUE KEY windlass_finished_id (id),
  KEY windlass_finished_expiry (expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The counter behind fences, which no transaction locks and no rollback sets back; its rows are
-- of no use.
CREATE TABLE IF NOT EXISTS windlass_fences (
  number BIGINT NOT NULL AUTO_INCREMENT,
  PRIMARY KEY (number)
) ENGINE = InnoDB;

-- How many jobs each queue has in each state: a sum, and what is to be added to it. A change is
-- a new row, so that no transaction waits for another; they are added up from time to time.
-- Under the one name that no queue can have is whether the journal is kept.
CREATE TABLE IF NOT EXISTS windlass_counts (
  queue  VARBINARY(512) NOT NULL,
  state  VARBINARY(16) NOT NULL,
  number BIGINT NOT NULL,
  PRIMARY KEY (queue, state)
) ENGINE = InnoDB;

INSERT INTO windlass_counts (queue, state, number) VALUES ('', 'journal', 0)
ON DUPLICATE KEY UPDATE number = number;

-- The numbers of these rows only grow, which makes them good for another thing: places in line
-- are made of them.
CREATE TABLE IF NOT EXISTS windlass_deltas (
  serial BIGINT NOT NULL AUTO_INCREMENT,
  queue  VARBINARY(512) NOT NULL,
  state  VARBINARY(16) NOT NULL,
  number BIGINT NOT NULL,
  PRIMARY KEY (serial)
) ENGINE = InnoDB;

-- What has ended and was not handed over yet, while the journal is kept. A line is never given
-- again, so that whoever trims late takes nothing that came since.
CREATE TABLE IF NOT EXISTS windlass_journal (
  line        BIGINT NOT NULL AUTO_INCREMENT,
  at          BIGINT NOT NULL,
  ran         TINYINT NOT NULL,              -- 1 if an attempt ended, 0 if only the job
  id          VARBINARY(512) NOT NULL,
  queue       VARBINARY(512) NOT NULL,
  state       VARCHAR(16) NOT NULL,
  `rank`      SMALLINT NOT NULL,
  place       BIGINT NOT NULL,
  due         BIGINT NOT NULL,
  attempt     INT NOT NULL,
  fence       BIGINT NOT NULL,
  created_at  BIGINT NOT NULL,
  started_at  BIGINT,
  finished_at BIGINT,
  lease_until BIGINT,
  worker      VARCHAR(512),
  unique_key  VARBINARY(1024),
  spec        LONGBLOB NOT NULL,
  result      LONGBLOB,
  error       LONGTEXT,
  progress    LONGTEXT,
  checkpoint  LONGBLOB,
  awaits      VARCHAR(512),
  mail        LONGBLOB,
  number      BIGINT NOT NULL,
  PRIMARY KEY (line)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Who waits for whom: from the insert of the dependent until the parent has ended. The serials of
-- one parent are in the order in which its dependents came.
CREATE TABLE IF NOT EXISTS windlass_edges (
  parent VARBINARY(512) NOT NULL,
  serial BIGINT NOT NULL,
  child  VARBINARY(512) NOT NULL,
  anyway TINYINT NOT NULL,                   -- 1 if the dependent runs however the parent ends
  PRIMARY KEY (parent, serial),
  UNIQUE KEY windlass_edges_child (child, parent)
) ENGINE = InnoDB;

-- Lanes that have jobs, and those whose rate still counts.
CREATE TABLE IF NOT EXISTS windlass_lanes (
  queue   VARBINARY(512) NOT NULL,
  name    VARBINARY(1024) NOT NULL,
  limits  BLOB NOT NULL,                     -- MessagePack, of the job that came last
  state   BLOB NOT NULL,                     -- MessagePack
  idle_at BIGINT,                            -- from when on it can be forgotten, if nobody is in it
  PRIMARY KEY (queue, name),
  KEY windlass_lanes_idle (idle_at)
) ENGINE = InnoDB;

-- Where jobs of lanes and groups stand: those that have a slot or wait for one, and those of groups
-- that are in line. Told by the jobs themselves; here it costs no other job an index.
CREATE TABLE IF NOT EXISTS windlass_turns (
  id     VARBINARY(512) NOT NULL,
  queue  VARBINARY(512) NOT NULL,
  lane   VARBINARY(1024),
  stand  TINYINT,                            -- 0 waits for a slot, 1 has one and is pending, 2 has one
  grp    VARBINARY(1024),                    -- if it is pending or waits for a slot
  `rank` SMALLINT NOT NULL,
  place  BIGINT NOT NULL,
  bin    BIGINT GENERATED ALWAYS AS (place DIV 1024) STORED,
  PRIMARY KEY (id),
  KEY windlass_turns_lane (queue, lane, stand, `rank`, place),
  KEY windlass_turns_order (queue, lane, stand, place),
  KEY windlass_turns_group (queue, grp, place),
  KEY windlass_turns_place (queue, bin, place)
) ENGINE = InnoDB;

-- The place of the grouped job of each queue that was handed out last.
CREATE TABLE IF NOT EXISTS windlass_clocks (
  queue VARBINARY(512) NOT NULL,
  place BIGINT NOT NULL,
  PRIMARY KEY (queue)
) ENGINE = InnoDB;

-- Unique keys that are held for a time, whatever becomes of the job that took them.
CREATE TABLE IF NOT EXISTS windlass_windows (
  unique_key VARBINARY(1024) NOT NULL,
  job        VARBINARY(512) NOT NULL,
  until      BIGINT NOT NULL,
  PRIMARY KEY (unique_key),
  KEY windlass_windows_job (job),
  KEY windlass_windows_until (until)
) ENGINE = InnoDB;

-- Jobs that have ended and not all of whose dependents were seen to.
CREATE TABLE IF NOT EXISTS windlass_owed (
  note   BIGINT NOT NULL AUTO_INCREMENT,
  parent VARBINARY(512) NOT NULL,
  until  BIGINT NOT NULL,                    -- the last edge that it concerns
  why    LONGTEXT,                           -- of its orphans; NULL if it was completed
  PRIMARY KEY (note)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS windlass_schedules (
  name       VARBINARY(512) NOT NULL,
  definition LONGBLOB NOT NULL,
  paused     TINYINT NOT NULL,
  last       BIGINT NOT NULL,
  job        VARBINARY(512) NOT NULL,        -- of the last tick that made one, or ''
  PRIMARY KEY (name)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS windlass_paused (
  queue VARBINARY(512) NOT NULL,
  PRIMARY KEY (queue)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS windlass_workers (
  id         VARBINARY(512) NOT NULL,
  info       LONGTEXT NOT NULL,
  seen_at    BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS windlass_terms (
  role       VARBINARY(512) NOT NULL,
  holder     VARCHAR(512) NOT NULL,
  term       BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (role)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
