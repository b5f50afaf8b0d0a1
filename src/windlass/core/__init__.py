"""What Windlass decides, as pure code: no I/O, no event loop, no clock of its own."""
