"""Matrices: products, factors, solutions."""
