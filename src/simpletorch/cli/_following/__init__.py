"""Following the programs of a command line: which they are, in how many processes, and what is said meanwhile."""
