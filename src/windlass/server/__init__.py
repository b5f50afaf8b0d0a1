"""The HTTP and gRPC APIs. Open `server.py` first: its parts, and how it starts and stops."""
