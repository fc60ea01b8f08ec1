"""What is asked or called once: answers of rules, calls of modules, elements of comprehensions.

And what a call of unknown code makes unknown.
"""
