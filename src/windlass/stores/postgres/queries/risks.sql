-- What could cost jobs as the server is set up. Arguments: none. Returns: sentences.
SELECT format('PostgreSQL has %s=off: %s', name, CASE name
  WHEN 'synchronous_commit'
    THEN 'a crash of the server can lose the last jobs that were accepted; set it to on.'
  ELSE 'a power failure can destroy the database; set it to on.'
END)
FROM pg_settings
WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off'
ORDER BY name
