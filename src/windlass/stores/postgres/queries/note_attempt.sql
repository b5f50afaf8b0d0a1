-- Keeps the records of attempts, in the place of those before.
-- Arguments by position, as arrays: job, fence, until, record.
INSERT INTO windlass_logs (job, fence, until, record)
SELECT * FROM unnest(?::text[], ?::bigint[], ?::bigint[], ?::bytea[])
ON CONFLICT (job, fence) DO UPDATE SET until = excluded.until, record = excluded.record
