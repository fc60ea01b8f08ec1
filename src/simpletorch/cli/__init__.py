"""The command line, ``simpletorch COMMAND``; `_commands` has the commands and their arguments."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from simpletorch._distribution import framework_missing, version
from simpletorch.cli._commands import COMMANDS, EXIT_CODES, WithTable

__all__ = ["main", "program"]

_RUNS_A_PROGRAM: Final = "run"
"""What follows the file there is the program's own, a ``--`` as well."""
_TAKES_OTHERS: Final = frozenset({"check", "follow", "watch"})
"""Commands that pass the arguments after ``--`` on."""


_FIRST_STEPS: Final = """\
PyTorch with shapes in the types.

  simpletorch follow train.py     find the lines where shapes don't fit, without running the program
  simpletorch check               the same for all programs below this folder, and run mypy with the plugin
  simpletorch run train.py        run it, and explain the error that ends it
  simpletorch summary net.py:Net  shapes, parameters, memory and operations of each module
  simpletorch new my-net          make a project that trains, is checked, and is tested in CI

simpletorch --help lists all commands, simpletorch COMMAND --help the options of one."""


def program() -> NoReturn:
    """`main` as a process of its own; after mypy it ends as mypy's does, without freeing all objects one by one.

    Freeing what mypy knows of torch takes longer than a check.
    """
    code = 1
    try:
        code = main()
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:  # whoever was reading (``head``) has what it wanted
        os._exit(code)  # not sys.exit: Python would flush again, and complain
    if "mypy.build" in sys.modules:
        os._exit(code)
    sys.exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 when all is well, 1 when something was found, 2 for wrong usage."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words:
        print(_FIRST_STEPS)
        return 0
    split = "--" in words and words[0] != _RUNS_A_PROGRAM
    ours, theirs = (words[: words.index("--")], words[words.index("--") + 1 :]) if split else (words, [])
    parser, commands = _parsers()
    if ours and not ours[0].startswith("-") and ours[0] not in commands:
        parser.error(_no_command(ours[0]))
    arguments, unknown = parser.parse_known_args(ours)
    if unknown:
        commands[arguments.command].error(_unknown(commands[arguments.command], arguments.command, unknown))
    if theirs and arguments.command not in _TAKES_OTHERS:
        commands[arguments.command].error(
            "it takes no arguments after --; check (for mypy), follow and watch (for the program) do"
        )
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ✔ must not end the command
    arguments.words, arguments.theirs, arguments.parser = words, theirs, parser
    try:
        return int(arguments.run(arguments))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130  # what a shell gives for SIGINT
    except BrokenPipeError:
        raise
    except ModuleNotFoundError as error:
        missing = framework_missing(error)
        return _own_mistake(arguments, error) if missing is None else _said(arguments, missing)
    except Exception as error:
        return _own_mistake(arguments, error)


def _own_mistake(arguments: argparse.Namespace, error: Exception) -> int:
    """Say that simpletorch itself has failed: to people with the way there, to tools in the output they wait for."""
    traceback.print_exception(error)
    return _said(
        arguments,
        f"internal error, please report it with what 'simpletorch env' says: {type(error).__name__}: {error}",
    )


def _said(arguments: argparse.Namespace, sentence: str) -> int:
    from simpletorch.cli._output import Output, could_not, said_by

    outputs = getattr(arguments, "outputs", None)
    return could_not(
        arguments.command, sentence, said_by(outputs) if outputs else Output(getattr(arguments, "output", "text"))
    )


def _no_command(word: str) -> str:
    if word.endswith((".py", ".ipynb")):
        return f"{word} is no command; did you mean: simpletorch follow {word}"
    from simpletorch.cli._output import did_you_mean

    return f"there is no command {word}; {did_you_mean(word, COMMANDS) or 'simpletorch --help lists them'}"


def _unknown(parser: argparse.ArgumentParser, command: str, words: Sequence[str]) -> str:
    from simpletorch.cli._completion import actions
    from simpletorch.cli._output import did_you_mean

    options = [option for action in actions(parser) for option in action.option_strings]
    meant = next(filter(None, (did_you_mean(word.partition("=")[0], options) for word in words)), "")
    said = f"unrecognized arguments: {' '.join(words)}{'; ' if meant else ''}{meant}"
    return f"{said} (put mypy's own after --)" if command == "check" and not meant else said


class _Version(argparse.Action):
    """argparse's own wants the version even if it isn't asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *others: Any) -> NoReturn:
        print(f"simpletorch {version()}")
        parser.exit()


def _parsers() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser of the command line, and that of each command."""
    parser = argparse.ArgumentParser(
        prog="simpletorch",
        description="PyTorch with shapes in the types.",
        epilog=EXIT_CODES,
        formatter_class=WithTable,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parsers = {}
    for name, command in COMMANDS.items():
        parsers[name] = commands.add_parser(name, help=command.__doc__, allow_abbrev=False)
        parsers[name].set_defaults(run=command(parsers[name]))
    return parser, parsers
