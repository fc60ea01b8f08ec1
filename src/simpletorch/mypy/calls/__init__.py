"""What calls and attributes give."""
