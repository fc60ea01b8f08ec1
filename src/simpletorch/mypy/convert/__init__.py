"""Between mypy's types and the values that rules understand."""
