-- The first schema. Each index is an order that a listing can be in, or a filter with the order
-- by time. Texts sort by their bytes, as they do on every engine.

CREATE TABLE windlass_history (
  created_at bigint NOT NULL,
  ended_at   bigint NOT NULL,
  duration   bigint NOT NULL,                     -- milliseconds of the last attempt
  attempt    bigint NOT NULL,
  fence      bigint NOT NULL,
  waited     bigint NOT NULL,                     -- 1 if the job ended while it waited
  id         text   COLLATE "C" NOT NULL PRIMARY KEY,
  task       text   COLLATE "C" NOT NULL,
  queue      text   COLLATE "C" NOT NULL,
  state      text   COLLATE "C" NOT NULL,
  labels     text   COLLATE "C" NOT NULL,         -- a word for each
  error      text   COLLATE "C" NOT NULL,         -- as it can be searched
  record     bytea  NOT NULL                      -- the job
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
  ended_at   bigint NOT NULL,
  fence      bigint NOT NULL,
  attempt    bigint NOT NULL,
  started_at bigint,
  job        text   COLLATE "C" NOT NULL,
  state      text   COLLATE "C" NOT NULL,
  worker     text   COLLATE "C",
  error      text,
  PRIMARY KEY (job, ended_at, fence)
);

CREATE TABLE windlass_history_count (
  number bigint NOT NULL
);

INSERT INTO windlass_history_count (number) VALUES (0);
