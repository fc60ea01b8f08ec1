"""``python -m simpletorch.cli``."""

from simpletorch.cli import program

program()
