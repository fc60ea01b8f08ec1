"""The basis of every rule: values, dtypes, mismatches, the table of rules and the border around them."""
