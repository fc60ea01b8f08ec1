"""Python: what is built in, and its library."""
