"""Rules of ``torch.nn``'s layers."""
