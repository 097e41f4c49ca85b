"""The shell session without input or output; this package is its protocol."""
