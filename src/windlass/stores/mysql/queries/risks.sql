-- What could cost jobs as the server is set up. Arguments: none. Returns: sentences.
SELECT CONCAT(
  'The server has innodb_flush_log_at_trx_commit=', @@innodb_flush_log_at_trx_commit,
  ': a crash can lose the last jobs that were accepted; set it to 1.'
)
FROM DUAL WHERE @@innodb_flush_log_at_trx_commit <> 1
UNION ALL
SELECT 'The server has innodb_doublewrite off: a power failure can destroy tables; set it on.'
FROM DUAL WHERE CAST(@@innodb_doublewrite AS CHAR) IN ('OFF', '0')
