"""``python -m simpletorch``: the command line, with the interpreter that is named."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the folder of the program: its inspect.py or random.py isn't the one that simpletorch needs
    from simpletorch.cli import program

    program()
