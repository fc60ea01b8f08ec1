"""The command line, ``simpletorch COMMAND``: the commands and their arguments."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main", "program"]


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
    split = "--" in words and words[:1] != ["follow"]  # what follows the file there is the program's own
    ours, theirs = (words[: words.index("--")], words[words.index("--") + 1 :]) if split else (words, [])
    arguments = _parser().parse_args(ours)
    if theirs and arguments.command != "check":
        print(f"simpletorch {arguments.command}: arguments after -- are mypy's, only check takes them", file=sys.stderr)
        return 2
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ✔ must not end the command
    try:
        return _dispatch(arguments, theirs)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130  # what a shell gives for SIGINT


def _dispatch(arguments: argparse.Namespace, mypy_arguments: Sequence[str]) -> int:
    # Each command imports what it needs when it runs: check must not wait for torch.
    if arguments.command == "check":
        from simpletorch.cli._check import check

        return check(
            arguments.paths,
            as_json=arguments.json,
            strict=arguments.strict,
            daemon=arguments.daemon,
            followed=not arguments.no_follow,
            mypy_arguments=mypy_arguments,
        )
    if arguments.command == "follow":
        from simpletorch.cli._follow import follow

        return follow(
            arguments.file,
            arguments.arguments,
            as_json=arguments.json,
            shapes=arguments.shapes,
            as_html=arguments.html,
            why=arguments.why,
            sizes=arguments.sizes,
        )
    if arguments.command == "summary":
        from simpletorch.cli._summary import summary

        return summary(
            arguments.model, arguments.input, depth=arguments.depth, as_html=arguments.html, as_types=arguments.types
        )
    if arguments.command == "env":
        from simpletorch.cli._env import env

        return env(as_json=arguments.json)
    if arguments.command == "ops":
        from simpletorch.cli._ops import ops

        return ops(arguments.pattern, as_json=arguments.json)
    if arguments.command == "language-server":
        from simpletorch.cli._language_server import language_server

        return language_server()
    from simpletorch.cli._demo import demo

    return demo()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="simpletorch", description="PyTorch with shapes in the types.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    follow = commands.add_parser(
        "follow",
        help="find the lines at which a program's shapes don't fit, without running it",
        usage="simpletorch follow [--shapes | --html | --json | --why LINE] [--sizes] FILE [ARGUMENT ...]",
        description="The program is run on shapes, as 'python FILE ARGUMENT ...' would run it, without running it: it "
        "needs no annotation. The exit code is 0 if no error was found, 1 if one was, 2 if there is no such program.",
    )
    kind = follow.add_mutually_exclusive_group()
    kind.add_argument("--shapes", action="store_true", help="the source, with each line's shapes beside it")
    kind.add_argument("--html", action="store_true", help="the same as a page of HTML")
    kind.add_argument("--json", action="store_true", help="one JSON document instead of text")
    kind.add_argument("--why", type=int, metavar="LINE", help="why something on this line isn't known")
    follow.add_argument(
        "--sizes", action="store_true", help="warn of sizes that a caller must choose equal, which nothing says"
    )
    follow.add_argument("file", metavar="FILE", help="the file that would be run")
    follow.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT", help="the program's own arguments")

    check = commands.add_parser(
        "check",
        help="check shapes, dtypes and devices with mypy",
        usage="simpletorch check [PATH ...] [--json] [--strict] [--daemon] [--no-follow] [-- MYPY ARGUMENT ...]",
        description="Programs are followed ('simpletorch follow'), and checked by mypy with simpletorch's plugin and "
        "good defaults. A mypy configuration that the project has is used, with the plugin added. The exit code is 0 "
        "if there is no error, 1 if there are errors, 2 if mypy could not run.",
    )
    check.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; the current folder by default")
    check.add_argument("--json", action="store_true", help="one JSON document instead of text")
    check.add_argument("--strict", action="store_true", help="mypy's --strict: everything has to be annotated")
    check.add_argument(
        "--daemon",
        action="store_true",
        help="keep mypy in memory between checks, which makes them faster; it ends after an hour without one",
    )

    check.add_argument("--no-follow", action="store_true", help="mypy alone: programs are not followed")

    summary = commands.add_parser(
        "summary",
        help="what each part of a model takes, gives, holds and costs",
        description="A table of a model's modules: input and output shapes, parameters, bytes, operations. "
        "Nothing is computed and no weights are allocated. The exit code is 0, 1 if the model can't be built or "
        "called, 2 if it isn't found.",
    )
    summary.add_argument(
        "model",
        metavar="MODULE:CLASS",
        help="a class, a function that builds a model, or a model, in a module or a file; arguments may follow: "
        "net.py:Net, simpletorch.vision.models:resnet18(num_classes=10)",
    )
    summary.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="SHAPE",
        help="the shape of an input, one for each: 'B 3 224 224', 'Int64[B, T]'; by default, forward's annotations",
    )
    summary.add_argument(
        "--depth", type=int, default=None, metavar="N", help="show N levels of submodules; all by default"
    )
    kind = summary.add_mutually_exclusive_group()
    kind.add_argument("--html", action="store_true", help="HTML instead of text")
    kind.add_argument(
        "--types", action="store_true", help="the model's repr with the types of its calls; calls nothing"
    )

    env = commands.add_parser("env", help="versions, devices and settings, for bug reports")
    env.add_argument("--json", action="store_true", help="one JSON document instead of a table")

    ops = commands.add_parser(
        "ops",
        help="the operations whose shapes are understood, with their rules",
        description="Every operation and module of torch whose result follows from the operands' shapes and dtypes.",
    )
    ops.add_argument("pattern", nargs="?", default="", metavar="PATTERN", help="only names that contain it: conv2d")
    ops.add_argument("--json", action="store_true", help="one JSON document instead of text")

    commands.add_parser(
        "language-server",
        help="shapes and mistakes in an editor, while you type (LSP over standard input and output)",
        description="An editor starts it and speaks the Language Server Protocol with it; docs/editors.md says how.",
    )
    commands.add_parser("demo", help="catch a shape bug, train on real images: the main points in a minute")
    return parser
