"""PyTorch and torchvision."""
