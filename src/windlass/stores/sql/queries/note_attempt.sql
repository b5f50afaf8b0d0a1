-- Keeps the record of an attempt, in the place of the one before.
-- Arguments by position: job, fence, until, record.
INSERT INTO windlass_logs (job, fence, until, record) VALUES (?, ?, ?, ?)
ON CONFLICT (job, fence) DO UPDATE SET until = excluded.until, record = excluded.record
