"""The embedded store: one SQLite file, nothing to install."""
