-- Lets others who restore wait until this transaction has ended.
SELECT number FROM windlass_counts WHERE queue = '' AND state = 'journal' FOR UPDATE
