"""What is asked or called once: answers of rules, calls of modules."""
