"""What rules of several families share: conditions, and readers of arguments."""
