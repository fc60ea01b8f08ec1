"""Facts that are read from the text of the program that mypy checks."""
