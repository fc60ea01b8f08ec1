"""Which errors are reported, and which are dropped."""
