"""Rules of torch's functions, methods and operators, a folder for each field."""
