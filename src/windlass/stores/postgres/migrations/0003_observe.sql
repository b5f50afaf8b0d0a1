-- What attempts came to, what workers counted, and orders to workers. New tables, which nobody who
-- does not know them needs.
-- compatible: yes

CREATE TABLE windlass_logs (
  fence  bigint NOT NULL,
  until  bigint NOT NULL,                       -- the moment from which on it can be dropped
  job    text   COLLATE "C" NOT NULL,
  record bytea  NOT NULL,                       -- MessagePack
  CONSTRAINT windlass_logs_pkey PRIMARY KEY (job, fence)
);

CREATE INDEX windlass_logs_until ON windlass_logs (until);

-- Sums by name, in buckets of time; the queue '' is all together. With room on each page, for a
-- row is changed often while its bucket is the present one.
CREATE TABLE windlass_stats (
  at     bigint NOT NULL,                       -- when the bucket begins
  until  bigint NOT NULL,
  number bigint NOT NULL,
  step   bigint NOT NULL,                       -- how long it is, in milliseconds
  queue  text   COLLATE "C" NOT NULL,
  name   text   COLLATE "C" NOT NULL,
  CONSTRAINT windlass_stats_pkey PRIMARY KEY (queue, step, at, name)
) WITH (fillfactor = 50);

CREATE INDEX windlass_stats_until ON windlass_stats (until);

-- The last call of each worker that was added up, so that none counts twice.
CREATE TABLE windlass_tallies (
  worker text   COLLATE "C" PRIMARY KEY,
  number bigint NOT NULL,
  at     bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE windlass_orders (
  worker     text   COLLATE "C" PRIMARY KEY,
  said       text   COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL                    -- as that of the worker
);
