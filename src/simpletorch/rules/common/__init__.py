"""Shared parts of rules of several families: conditions, and readers of arguments."""
