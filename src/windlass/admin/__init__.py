"""What people do with jobs, apart from how they ask: the command line and servers share it."""
