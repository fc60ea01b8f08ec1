"""Which findings are shown: those that a baseline doesn't know, and those on lines that git says have changed."""
