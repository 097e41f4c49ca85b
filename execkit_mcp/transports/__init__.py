"""How bytes reach a shell; this package is the transports."""
