"""What `manage.py migrate` does for Windlass."""
