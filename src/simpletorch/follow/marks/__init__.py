"""Marks are facts that a tensor carries beside its type: its memory layout, its gradient, its batch dimension."""
