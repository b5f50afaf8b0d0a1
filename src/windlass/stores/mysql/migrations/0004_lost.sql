-- How many workers were lost with a job. With a default, so that who does not know it needs not
-- write it. Only MariaDB can be asked to add a column unless it is there.
-- compatible: yes

SET @change = (
  SELECT IF(
    COUNT(*) = 0, 'ALTER TABLE windlass_jobs ADD COLUMN lost INT NOT NULL DEFAULT 0', 'DO 0'
  ) FROM information_schema.columns
  WHERE table_schema = DATABASE() AND table_name = 'windlass_jobs' AND column_name = 'lost'
);
PREPARE change_it FROM @change;
EXECUTE change_it;
DEALLOCATE PREPARE change_it;

SET @change = (
  SELECT IF(
    COUNT(*) = 0, 'ALTER TABLE windlass_finished ADD COLUMN lost INT NOT NULL DEFAULT 0', 'DO 0'
  ) FROM information_schema.columns
  WHERE table_schema = DATABASE() AND table_name = 'windlass_finished' AND column_name = 'lost'
);
PREPARE change_it FROM @change;
EXECUTE change_it;
DEALLOCATE PREPARE change_it;

SET @change = (
  SELECT IF(
    COUNT(*) = 0, 'ALTER TABLE windlass_journal ADD COLUMN lost INT NOT NULL DEFAULT 0', 'DO 0'
  ) FROM information_schema.columns
  WHERE table_schema = DATABASE() AND table_name = 'windlass_journal' AND column_name = 'lost'
);
PREPARE change_it FROM @change;
EXECUTE change_it;
DEALLOCATE PREPARE change_it;
