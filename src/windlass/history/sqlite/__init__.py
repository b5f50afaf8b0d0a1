"""History in a SQLite file: its schema."""
