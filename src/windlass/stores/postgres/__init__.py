"""Jobs in PostgreSQL: two tables, one statement for each step of the hot path."""
