-- The first schema. A job is one row with its record last, so that a search reads past none;
-- each index is an order that a listing can be in, or a filter with the order by time.

CREATE TABLE windlass_history (
  id         TEXT    NOT NULL PRIMARY KEY,
  task       TEXT    NOT NULL,
  queue      TEXT    NOT NULL,
  state      TEXT    NOT NULL,
  attempt    INTEGER NOT NULL,
  fence      INTEGER NOT NULL,
  waited     INTEGER NOT NULL,             -- 1 if the job ended while it waited
  created_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,
  duration   INTEGER NOT NULL,             -- milliseconds of the last attempt
  labels     TEXT    NOT NULL,             -- a word for each
  error      TEXT    NOT NULL,             -- as it can be searched
  record     BLOB    NOT NULL              -- the job
);

CREATE INDEX windlass_history_ended    ON windlass_history (ended_at, id);
CREATE INDEX windlass_history_created  ON windlass_history (created_at, id);
CREATE INDEX windlass_history_duration ON windlass_history (duration, id);
CREATE INDEX windlass_history_attempt  ON windlass_history (attempt, id);
CREATE INDEX windlass_history_task     ON windlass_history (task, ended_at, id);
CREATE INDEX windlass_history_queue    ON windlass_history (queue, ended_at, id);
CREATE INDEX windlass_history_state    ON windlass_history (state, ended_at, id);

-- The end is part of the key: a job of this id in another store can have had the same fence.
CREATE TABLE windlass_attempts (
  job        TEXT    NOT NULL,
  ended_at   INTEGER NOT NULL,
  fence      INTEGER NOT NULL,
  attempt    INTEGER NOT NULL,
  state      TEXT    NOT NULL,
  started_at INTEGER,
  worker     TEXT,
  error      TEXT,
  PRIMARY KEY (job, ended_at, fence)
) WITHOUT ROWID;

CREATE TABLE windlass_history_count (
  number INTEGER NOT NULL
);

INSERT INTO windlass_history_count (number) VALUES (0);
