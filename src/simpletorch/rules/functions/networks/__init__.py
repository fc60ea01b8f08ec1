"""What `torch.nn.functional` has for networks; `rules.layers` has the layers under the same file names."""
