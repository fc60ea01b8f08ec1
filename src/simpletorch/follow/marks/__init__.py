"""What a tensor carries beside its type: which stream computes it, its gradient, what its numbers are."""
