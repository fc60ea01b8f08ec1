"""The files of a program: found, read, imported, and the comments that silence."""
