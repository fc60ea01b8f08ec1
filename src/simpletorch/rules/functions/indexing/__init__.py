"""Elements by number or mask, read and written."""
