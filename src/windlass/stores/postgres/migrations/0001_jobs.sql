-- The first schema. Live jobs and finished ones have a table each, so that what a claim looks
-- at stays small. Every index of the live ones is partial: a job pays only for the states that
-- it passes through, and each change of state writes the primary key and one or two others.
-- Names compare byte by byte (COLLATE "C"), as every store does it.

CREATE TABLE windlass_jobs (
  place       bigint  NOT NULL,                 -- position in line; below 0 for released jobs
  rank        bigint  NOT NULL,                 -- 100 - priority
  due         bigint  NOT NULL,
  keep        bigint  NOT NULL,                 -- milliseconds to keep the job once it is finished
  created_at  bigint  NOT NULL,
  fence       bigint  NOT NULL DEFAULT 0,
  started_at  bigint,
  lease_until bigint,
  attempt     integer NOT NULL DEFAULT 0,
  slot        smallint,                         -- of its lane: 1 if it has one, 0 if it waits for one
  awaited     boolean NOT NULL DEFAULT false,   -- set once another job waits for this one
  brief       boolean NOT NULL DEFAULT false,   -- its unique key goes when it is first claimed
  id          text    COLLATE "C" NOT NULL,
  queue       text    COLLATE "C" NOT NULL,
  state       text    COLLATE "C" NOT NULL,
  worker      text    COLLATE "C",
  unique_key  text    COLLATE "C",
  spec        bytea   NOT NULL,
  result      bytea,
  error       text,
  progress    text,
  checkpoint  bytea,
  awaits      text    COLLATE "C",              -- the signal that the job is parked for
  mail        bytea,                            -- the signals that came, MessagePack
  lane        text    COLLATE "C",
  grp         text    COLLATE "C",              -- the group that it takes turns for
  CONSTRAINT windlass_jobs_pkey PRIMARY KEY (id)
) WITH (
  -- By number alone: dead rows are in the way of a claim whether many jobs wait or few. No
  -- truncation, for that would lock everybody out.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 50000, vacuum_truncate = off
);

-- A key that is held for a time, whatever becomes of the job, has a row of its own here, in a state
-- that no job has: so one index says who has a key. There `worker` is the job that holds it, `due`
-- the end of its time.
CREATE UNIQUE INDEX windlass_jobs_unique ON windlass_jobs (unique_key)
  WHERE unique_key IS NOT NULL;

CREATE INDEX windlass_jobs_window ON windlass_jobs (worker)
  WHERE state = 'window';

CREATE INDEX windlass_jobs_window_end ON windlass_jobs (due)
  WHERE state = 'window';

CREATE INDEX windlass_jobs_ready ON windlass_jobs (queue, rank, place)
  WHERE state = 'pending';

CREATE INDEX windlass_jobs_scheduled ON windlass_jobs (queue, due, place)
  WHERE state = 'scheduled';

CREATE INDEX windlass_jobs_retry ON windlass_jobs (queue, due, place)
  WHERE state = 'retry';

CREATE INDEX windlass_jobs_lease ON windlass_jobs (lease_until)
  WHERE state = 'active';

-- By fence alone: the jobs of one claim are few enough to be sorted when they are listed.
CREATE INDEX windlass_jobs_active ON windlass_jobs (fence)
  WHERE state = 'active';

CREATE INDEX windlass_jobs_blocked ON windlass_jobs (id)
  WHERE state = 'blocked';

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

CREATE TABLE windlass_finished (
  place       bigint  NOT NULL,
  rank        bigint  NOT NULL,
  due         bigint  NOT NULL,
  keep        bigint  NOT NULL,
  created_at  bigint  NOT NULL,
  fence       bigint  NOT NULL,
  finished_at bigint  NOT NULL,
  expires_at  bigint,                           -- NULL: until someone deletes it
  started_at  bigint,
  attempt     integer NOT NULL,
  brief       boolean NOT NULL DEFAULT false,
  id          text    COLLATE "C" NOT NULL,
  queue       text    COLLATE "C" NOT NULL,
  state       text    COLLATE "C" NOT NULL,
  worker      text    COLLATE "C",
  unique_key  text    COLLATE "C",
  spec        bytea   NOT NULL,
  result      bytea,
  error       text,
  progress    text,
  checkpoint  bytea,
  mail        bytea,
  CONSTRAINT windlass_finished_pkey PRIMARY KEY (id)
) WITH (vacuum_truncate = off);

CREATE INDEX windlass_finished_state ON windlass_finished (state, finished_at, place);

CREATE INDEX windlass_finished_expiry ON windlass_finished (expires_at)
  WHERE expires_at IS NOT NULL;

-- How many jobs each queue has in each state: the sum of both tables. Whoever changes a count
-- adds a delta, and locks nothing: a transaction of a user's that enqueues and stays open must
-- not be in anyone's way. From time to time deltas are folded into the counts.
CREATE TABLE windlass_counts (
  queue  text   COLLATE "C" NOT NULL,
  state  text   COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  CONSTRAINT windlass_counts_pkey PRIMARY KEY (queue, state)
) WITH (fillfactor = 50);

CREATE TABLE windlass_deltas (
  queue  text   COLLATE "C" NOT NULL,
  state  text   COLLATE "C" NOT NULL,
  number bigint NOT NULL
) WITH (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off
);

-- Under the one name that no queue can have: whether the journal is kept.
INSERT INTO windlass_counts (queue, state, number) VALUES ('', 'journal', 0);

-- What has ended and was not handed over yet, while the journal is kept. A line is never given
-- again, so that whoever trims late takes nothing that came since.
CREATE TABLE windlass_journal (
  line        bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at          bigint  NOT NULL,
  ran         bigint  NOT NULL,                 -- 1 if an attempt ended, 0 if only the job
  place       bigint  NOT NULL,
  rank        bigint  NOT NULL,
  due         bigint  NOT NULL,
  created_at  bigint  NOT NULL,
  fence       bigint  NOT NULL,
  started_at  bigint,
  finished_at bigint,
  attempt     integer NOT NULL,
  id          text    COLLATE "C" NOT NULL,
  queue       text    COLLATE "C" NOT NULL,
  state       text    COLLATE "C" NOT NULL,
  worker      text    COLLATE "C",
  unique_key  text    COLLATE "C",
  spec        bytea   NOT NULL,
  result      bytea,
  error       text,
  progress    text,
  checkpoint  bytea,
  awaits      text    COLLATE "C",
  mail        bytea
);

-- Numbers that only grow, and that nobody waits for. Not cached: a number that is taken later
-- must be greater.
CREATE SEQUENCE windlass_places CACHE 1;

CREATE SEQUENCE windlass_fences CACHE 1;

-- Who waits for whom: from the insert of the dependent until the parent has ended. The serials of
-- one parent are in the order in which its dependents came.
CREATE TABLE windlass_edges (
  serial bigint  NOT NULL,
  anyway integer NOT NULL,                      -- 1 if the dependent runs however the parent ends
  parent text    COLLATE "C" NOT NULL,
  child  text    COLLATE "C" NOT NULL,
  CONSTRAINT windlass_edges_pkey PRIMARY KEY (parent, serial),
  CONSTRAINT windlass_edges_child UNIQUE (child, parent)
);

-- Lanes that have jobs, and those whose rate still counts. Who settles a lane has its row.
CREATE TABLE windlass_lanes (
  idle_at bigint,                               -- from when on it can be forgotten, if nobody is in it
  queue   text  COLLATE "C" NOT NULL,
  name    text  COLLATE "C" NOT NULL,
  limits  bytea NOT NULL,                       -- MessagePack, of the job that came last
  state   bytea NOT NULL,                       -- MessagePack
  CONSTRAINT windlass_lanes_pkey PRIMARY KEY (queue, name)
) WITH (fillfactor = 50);

CREATE INDEX windlass_lanes_idle ON windlass_lanes (idle_at)
  WHERE idle_at IS NOT NULL;

-- The place of the grouped job of each queue that was handed out last.
CREATE TABLE windlass_clocks (
  queue text   COLLATE "C" NOT NULL,
  place bigint NOT NULL,
  CONSTRAINT windlass_clocks_pkey PRIMARY KEY (queue)
) WITH (fillfactor = 50);

-- Jobs that have ended and not all of whose dependents were seen to.
CREATE TABLE windlass_owed (
  note   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  until  bigint NOT NULL,                       -- the last edge that it concerns
  parent text   COLLATE "C" NOT NULL,
  why    text                                   -- of its orphans; NULL if it was completed
);

CREATE INDEX windlass_owed_parent ON windlass_owed (parent);

CREATE TABLE windlass_schedules (
  name       text    COLLATE "C" PRIMARY KEY,
  definition bytea   NOT NULL,
  paused     integer NOT NULL,
  last       bigint  NOT NULL,
  job        text    COLLATE "C" NOT NULL       -- of the last tick that made one, or ''
);

CREATE TABLE windlass_paused (
  queue text COLLATE "C" PRIMARY KEY
);

CREATE TABLE windlass_workers (
  id         text   COLLATE "C" PRIMARY KEY,
  info       text   NOT NULL,
  seen_at    bigint NOT NULL,
  expires_at bigint NOT NULL
);

CREATE TABLE windlass_terms (
  role       text   COLLATE "C" PRIMARY KEY,
  holder     text   COLLATE "C" NOT NULL,
  term       bigint NOT NULL,
  expires_at bigint NOT NULL
);
