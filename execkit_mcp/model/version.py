"""The version of this package, the only place where it is written in code."""

VERSION = "0.1.0"
