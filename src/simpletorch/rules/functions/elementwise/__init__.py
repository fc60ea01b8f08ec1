"""One element of the result for each element of the operands."""
