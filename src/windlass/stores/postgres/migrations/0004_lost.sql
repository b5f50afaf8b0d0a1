-- How many workers were lost with a job. With a default, so that who does not know it needs not
-- write it.
-- compatible: yes

ALTER TABLE windlass_jobs ADD COLUMN lost integer NOT NULL DEFAULT 0;

ALTER TABLE windlass_finished ADD COLUMN lost integer NOT NULL DEFAULT 0;

ALTER TABLE windlass_journal ADD COLUMN lost integer NOT NULL DEFAULT 0;
