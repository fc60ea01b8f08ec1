"""The functions of `torch.nn.functional` for networks; `rules.layers` has the layers under the same file names."""
