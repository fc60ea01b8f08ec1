"""What every rule is made of: values, dtypes, mismatches, the table of rules and the border around them."""
