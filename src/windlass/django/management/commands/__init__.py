"""The command that `manage.py` has for Windlass."""
