"""Many elements to one, or in order."""
