-- Accepts jobs that nobody else can have. @now is the time and @place the place before theirs; both
-- are set before.
-- Arguments by position: id, spec, queue, state, rank, offset, delay, keep; /*each*/ marks what is
-- repeated per row.
INSERT INTO windlass_jobs
  (id, spec, queue, state, `rank`, place, created_at, due, keep)
VALUES /*each*/(?, ?, ?, ?, ?, @place + ?, @now, @now + ?, ?)/*each*/
