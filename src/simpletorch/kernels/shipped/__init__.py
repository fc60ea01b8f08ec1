"""The operators that come with simpletorch, a file each: reference, what runs on a GPU, gradient, and why it exists."""
