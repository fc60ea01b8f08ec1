"""The same elements in other dims."""
