"""The HTTP API. Open `routes.py` first: every address, who may use it, and what answers."""
