"""The command line: one module a command, found by name so that only the one that is used is imported."""
