"""Data files that a program reads: their sizes, read from headers and never executed."""
