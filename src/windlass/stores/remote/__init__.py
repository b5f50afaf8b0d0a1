"""A store behind a server: each method of the contract is one request. Open `store.py` first."""
