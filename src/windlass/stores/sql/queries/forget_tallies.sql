-- Forgets which tally of a worker was taken, some time after. Arguments: before.
DELETE FROM windlass_tallies WHERE at < :before
