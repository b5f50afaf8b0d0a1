"""Upkeep that one process does for all: rescuing lost jobs, ticking schedules, pruning."""
