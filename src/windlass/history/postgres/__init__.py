"""History in PostgreSQL: its schema, and queries for many rows at once."""
