"""Answers of follows that are kept on the disk, and given again while all that was looked up is as it was.

`kept.Question` is the way in. Nothing in here imports the interpreter before a program must be followed.
"""
