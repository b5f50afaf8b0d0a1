-- The first schema. Every index serves one query of the hot path or one listing, and is
-- partial, so that a job only pays for the states that it passes through. Their conditions
-- are single comparisons: SQLite evaluates each of them for each row that it writes, and an
-- IN list there would double the cost of finishing a job.

CREATE TABLE windlass_jobs (
  number      INTEGER PRIMARY KEY,
  id          TEXT    NOT NULL,
  queue       TEXT    NOT NULL,
  state       TEXT    NOT NULL,
  rank        INTEGER NOT NULL,             -- 100 - priority
  place       INTEGER NOT NULL,             -- position in line; below 0 for released jobs
  due         INTEGER NOT NULL,
  attempt     INTEGER NOT NULL DEFAULT 0,
  fence       INTEGER NOT NULL DEFAULT 0,
  keep        INTEGER NOT NULL,             -- milliseconds to keep the job once it is finished
  created_at  INTEGER NOT NULL,
  started_at  INTEGER,
  finished_at INTEGER,
  lease_until INTEGER,
  expires_at  INTEGER,
  worker      TEXT,
  unique_key  TEXT,
  spec        BLOB    NOT NULL,
  result      BLOB,
  error       TEXT,
  progress    TEXT,
  checkpoint  BLOB,                         -- what an attempt left for the next one
  awaits      TEXT,                         -- the signal that the job is parked for
  mail        BLOB,                         -- the signals that came, MessagePack
  lane        TEXT,
  slot        INTEGER,                      -- of its lane: 1 if it has one, 0 if it waits for one
  grp         TEXT                          -- the group that it takes turns for
);

CREATE UNIQUE INDEX windlass_jobs_id ON windlass_jobs (id);

CREATE UNIQUE INDEX windlass_jobs_unique ON windlass_jobs (unique_key)
  WHERE unique_key IS NOT NULL AND finished_at IS NULL;

CREATE INDEX windlass_jobs_ready ON windlass_jobs (queue, rank, place)
  WHERE state = 'pending';

CREATE INDEX windlass_jobs_scheduled ON windlass_jobs (queue, due, place)
  WHERE state = 'scheduled';

CREATE INDEX windlass_jobs_retry ON windlass_jobs (queue, due, place)
  WHERE state = 'retry';

CREATE INDEX windlass_jobs_lease ON windlass_jobs (lease_until)
  WHERE lease_until IS NOT NULL;

-- By fence alone: the jobs of one claim are few enough to be sorted when they are listed.
CREATE INDEX windlass_jobs_active ON windlass_jobs (fence)
  WHERE state = 'active';

CREATE INDEX windlass_jobs_blocked ON windlass_jobs (id)
  WHERE state = 'blocked';

CREATE INDEX windlass_jobs_finished ON windlass_jobs (state, finished_at, place)
  WHERE finished_at IS NOT NULL;

CREATE INDEX windlass_jobs_expiry ON windlass_jobs (expires_at)
  WHERE expires_at IS NOT NULL;

CREATE INDEX windlass_jobs_slots ON windlass_jobs (queue, lane, state)
  WHERE slot = 1;

-- Who waits in a lane, by priority and in the order of their coming.
CREATE INDEX windlass_jobs_lane ON windlass_jobs (queue, lane, rank, place)
  WHERE slot = 0;

CREATE INDEX windlass_jobs_lane_order ON windlass_jobs (queue, lane, place)
  WHERE slot = 0;

-- Where groups stand in line: pending, or waiting in their lane.
CREATE INDEX windlass_jobs_group ON windlass_jobs (queue, grp, place)
  WHERE grp IS NOT NULL AND (state = 'pending' OR slot = 0);

CREATE INDEX windlass_jobs_turns ON windlass_jobs (queue, place)
  WHERE grp IS NOT NULL AND (state = 'pending' OR slot = 0);

-- How many jobs each queue has in each state. The store's own counters are here too, under
-- the one name that no queue can have: a table of their own would be one more page to write
-- in every transaction.
CREATE TABLE windlass_counts (
  queue  TEXT    NOT NULL,
  state  TEXT    NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (queue, state)
) WITHOUT ROWID;

INSERT INTO windlass_counts (queue, state, number)
VALUES ('', 'place', 0), ('', 'front', 0), ('', 'fence', 0), ('', 'journal', 0);

-- What has ended and was not handed over yet, while the journal is kept. A line is never given
-- again, so that whoever trims late takes nothing that came since.
CREATE TABLE windlass_journal (
  line        INTEGER PRIMARY KEY AUTOINCREMENT,
  at          INTEGER NOT NULL,
  ran         INTEGER NOT NULL,             -- 1 if an attempt ended, 0 if only the job
  id          TEXT    NOT NULL,
  queue       TEXT    NOT NULL,
  state       TEXT    NOT NULL,
  rank        INTEGER NOT NULL,
  place       INTEGER NOT NULL,
  due         INTEGER NOT NULL,
  attempt     INTEGER NOT NULL,
  fence       INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  started_at  INTEGER,
  finished_at INTEGER,
  lease_until INTEGER,
  worker      TEXT,
  unique_key  TEXT,
  spec        BLOB    NOT NULL,
  result      BLOB,
  error       TEXT,
  progress    TEXT,
  checkpoint  BLOB,
  awaits      TEXT,
  mail        BLOB,
  number      INTEGER NOT NULL
);

-- Who waits for whom: from the insert of the dependent until the parent has ended. The serials of
-- one parent are in the order in which its dependents came.
CREATE TABLE windlass_edges (
  parent TEXT    NOT NULL,
  serial INTEGER NOT NULL,
  child  TEXT    NOT NULL,
  anyway INTEGER NOT NULL,                  -- 1 if the dependent runs however the parent ends
  PRIMARY KEY (parent, serial)
) WITHOUT ROWID;

CREATE UNIQUE INDEX windlass_edges_child ON windlass_edges (child, parent);

-- Lanes that have jobs, and those whose rate still counts.
CREATE TABLE windlass_lanes (
  queue   TEXT NOT NULL,
  name    TEXT NOT NULL,
  limits  BLOB NOT NULL,                    -- MessagePack, of the job that came last
  state   BLOB NOT NULL,                    -- MessagePack
  idle_at INTEGER,                          -- from when on it can be forgotten, if nobody is in it
  PRIMARY KEY (queue, name)
) WITHOUT ROWID;

CREATE INDEX windlass_lanes_idle ON windlass_lanes (idle_at)
  WHERE idle_at IS NOT NULL;

-- The place of the grouped job of each queue that was handed out last.
CREATE TABLE windlass_clocks (
  queue TEXT PRIMARY KEY,
  place INTEGER NOT NULL
) WITHOUT ROWID;

-- Unique keys that are held for a time, whatever becomes of the job.
CREATE TABLE windlass_windows (
  unique_key TEXT PRIMARY KEY,
  job        TEXT    NOT NULL,
  until      INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX windlass_windows_job ON windlass_windows (job);

CREATE INDEX windlass_windows_until ON windlass_windows (until);

-- Jobs that have ended and not all of whose dependents were seen to.
CREATE TABLE windlass_owed (
  note   INTEGER PRIMARY KEY,
  parent TEXT    NOT NULL,
  until  INTEGER NOT NULL,                  -- the last edge that it concerns
  why    TEXT                               -- of its orphans; NULL if it was completed
);

CREATE TABLE windlass_schedules (
  name       TEXT PRIMARY KEY,
  definition BLOB    NOT NULL,
  paused     INTEGER NOT NULL,
  last       INTEGER NOT NULL,
  job        TEXT    NOT NULL               -- of the last tick that made one, or ''
) WITHOUT ROWID;

CREATE TABLE windlass_paused (
  queue TEXT PRIMARY KEY
) WITHOUT ROWID;

CREATE TABLE windlass_workers (
  id         TEXT PRIMARY KEY,
  info       TEXT    NOT NULL,
  seen_at    INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE windlass_terms (
  role       TEXT PRIMARY KEY,
  holder     TEXT    NOT NULL,
  term       INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
