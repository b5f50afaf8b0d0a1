-- What was kept of the attempts of jobs. Arguments: ids, now. Returns: record.
SELECT record FROM windlass_logs FORCE INDEX (PRIMARY) WHERE job IN :ids AND until > :now
