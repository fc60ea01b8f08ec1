"""Annotations and generic classes."""
