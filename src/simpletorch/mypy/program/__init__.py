"""What is read from the text of the program that mypy checks."""
