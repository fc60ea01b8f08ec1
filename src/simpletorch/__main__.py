"""``python -m simpletorch``: the command line, with the interpreter that is named."""

from simpletorch.cli import program

if __name__ == "__main__":
    program()
