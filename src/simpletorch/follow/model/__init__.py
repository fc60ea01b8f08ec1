"""Python's data model: what a class says of its objects' attributes, of its subclasses, of names inside it."""
