"""What the operator wrote: YAML, settings, and where they lie."""
