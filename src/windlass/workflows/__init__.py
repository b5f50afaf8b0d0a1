"""Jobs that combine: who waits for whom, and whose result goes where. Pure."""
