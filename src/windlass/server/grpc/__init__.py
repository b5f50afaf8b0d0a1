"""The gRPC API. Open `rules.py` first: every method and who may call it; then `windlass.proto`."""
