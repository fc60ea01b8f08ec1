"""PyTorch with shapes in the types."""
