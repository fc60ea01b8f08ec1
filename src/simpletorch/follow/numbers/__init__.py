"""What is known of numbers: what integer tensors hold, and places that are chosen by chance."""
