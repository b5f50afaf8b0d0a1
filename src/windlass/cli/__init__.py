"""The command line: one file for each command, none of them imported before it is asked for."""
