"""What is said to a shell; this package has one module for each dialect."""
