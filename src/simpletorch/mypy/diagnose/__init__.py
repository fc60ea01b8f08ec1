"""What is said, and what isn't."""
