"""The results of calls and attributes."""
