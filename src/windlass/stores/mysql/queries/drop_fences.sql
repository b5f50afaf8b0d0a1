-- Drops rows of the counter behind fences, which stays. Arguments: limit.
DELETE FROM windlass_fences ORDER BY number LIMIT :limit
