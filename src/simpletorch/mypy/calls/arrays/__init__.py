"""Calls that take or give arrays: of NumPy, and what jaxtyping notes of others."""
