"""Finished jobs, kept in an SQL database of its own for search."""
