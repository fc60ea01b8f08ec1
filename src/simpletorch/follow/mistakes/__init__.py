"""Mistakes that are only said: each file knows some of them, and no tensor carries what it knows."""
