"""A workspace in layers: the real one below, read only, and what a sandbox changes above; this package is that."""
