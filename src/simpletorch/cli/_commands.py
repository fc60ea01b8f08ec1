"""The commands: of each what it is for, its arguments, and what runs it.

A command is a function that gives its parser the arguments and returns what runs them. Its docstring is the line of the
help; its work is imported when it runs, because ``check`` must not wait for torch.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from argparse import _ActionsContainer

__all__ = ["COMMANDS", "EXIT_CODES", "Command", "Run", "WithTable"]

Run = Callable[[argparse.Namespace], int]
"""Runs a command with its arguments and returns its exit code."""
Command = Callable[[argparse.ArgumentParser], Run]


_JSON: Final[Any] = {"action": "store_const", "const": "json", "dest": "output", "default": "text"}


EXIT_CODES: Final = """\
exit codes:
  0  nothing was found (warnings don't count)
  1  errors were found
  2  the command itself failed: wrong usage, no such file, a configuration or revision that can't be read
"""


def _add_output(parser: _ActionsContainer) -> None:
    """Options for what a command gives to tools."""
    parser.add_argument(
        "--json",
        action="append_const",
        const="json",
        dest="outputs",
        help="one JSON document instead of text; it is one whatever fails",
    )
    parser.add_argument(
        "--output",
        action="append",
        type=_format,
        dest="outputs",
        metavar="FORMAT[=FILE]",
        help="text, json, github (annotations of a pull request), sarif (for code scanning), markdown (a job's "
        "summary) or badge (an SVG); with =FILE into a file, beside what is printed; may be given several times",
    )


def _format(word: str) -> str:
    """A format with or without a file, for `said_by`."""
    name, sign, file = word.partition("=")
    if name not in _FORMATS or (sign and (not file or name == "text")):
        known = ", ".join(_FORMATS)
        raise argparse.ArgumentTypeError(f"{word!r} is no format; write one of {known}, or FORMAT=FILE")
    return word


_FORMATS: Final = ("text", "json", "github", "sarif", "markdown", "badge")


def _add_choice(parser: argparse.ArgumentParser) -> None:
    """Options that `follow` and `check` have in common."""
    parser.formatter_class = WithTable
    parser.epilog = EXIT_CODES
    parser.add_argument("--baseline", metavar="FILE", help="known findings, which aren't shown and don't count")
    parser.add_argument("--write-baseline", action="store_true", help="make all present findings known, in --baseline")
    parser.add_argument(
        "--diff",
        metavar="BASE",
        help="only findings on lines that have changed since git's BASE (a branch, tag or commit), or whose calls have",
    )
    parser.add_argument("--no-data", action="store_true", help="do not read the sizes of data files")
    parser.add_argument("--no-cache", action="store_true", help="follow unchanged programs again, too")
    parser.add_argument(
        "-j", "--jobs", type=_jobs, metavar="N", help="processes that follow; as many as there are CPUs, at most 8"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print findings only")


class WithTable(argparse.HelpFormatter):
    """Keeps the lines of the table behind the options."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text is EXIT_CODES else super()._fill_text(text, width, indent)


def _jobs(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is no number of processes; write 1 or more")
    return int(word)


def _chosen(given: argparse.Namespace) -> dict[str, Any]:
    """The options of `_add_choice` and `_add_output`, as the commands take them."""
    from simpletorch.cli._output import said_by

    return {
        "output": said_by(given.outputs),
        "narrowing": {"baseline": given.baseline, "writes": given.write_baseline, "diff": given.diff},
        "data": not given.no_data,
        "cache": not given.no_cache,
        "jobs": given.jobs,
        "quiet": given.quiet,
    }


def _add_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """All that stands behind the file."""
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT", help=what).required = False


def _follow(parser: argparse.ArgumentParser) -> Run:
    """find the lines at which a program's shapes don't fit, without running it"""
    parser.usage = (
        "simpletorch follow [--shapes | --html | --json | --output FORMAT | --why LINE | --coverage] [OPTION ...] "
        "[-m] PATH [PATH ...] [[--] ARGUMENT ...]"
    )
    parser.description = (
        "The program is interpreted on shapes, as 'python FILE ARGUMENT ...' would run it; nothing is executed, and "
        "it needs no annotation. In a folder each program is followed."
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--shapes", action="store_true", help="the source, with each line's shapes beside it")
    kind.add_argument("--html", action="store_true", help="the same as a page of HTML")
    _add_output(kind)
    kind.add_argument("--why", type=int, metavar="LINE", help="why something on this line is unknown")
    kind.add_argument("--coverage", action="store_true", help="how much is known, and what costs the rest")
    parser.add_argument(
        "--sizes", action="store_true", help="warn when two sizes must be equal but no annotation says so"
    )
    _add_choice(parser)
    parser.add_argument("-m", action="store_true", dest="module", help="PATH is a module's name, as of 'python -m'")
    parser.add_argument("file", metavar="PATH", help="the file or folder to follow; - is standard input")
    _add_arguments(parser, "more files, then the programs' own arguments, from an option or from -- on")

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._follow import file_of_module, files_and_arguments, follow

        more, arguments = ([], given.arguments) if given.module else files_and_arguments(given.file, given.arguments)
        if arguments and given.theirs:
            arguments = [*arguments, "--"]  # the program's own
        return follow(
            file_of_module(given.file) if given.module else given.file,
            [*arguments, *given.theirs],
            more=more,
            shapes=given.shapes,
            as_html=given.html,
            why=given.why,
            coverage=given.coverage,
            sizes=given.sizes,
            **_chosen(given),
        )

    return run


def _run(parser: argparse.ArgumentParser) -> Run:
    """run a script, and explain the error that ends it"""
    parser.usage = "simpletorch run [-m] FILE [ARGUMENT ...]"
    parser.description = (
        "The script is run as 'python FILE ARGUMENT ...' or 'python -m MODULE ARGUMENT ...' does. An error of torch's "
        "that ends it is explained: what failed, with which operands, where, and what would fit. The exit code is the "
        "script's."
    )
    parser.add_argument("-m", action="store_true", dest="module", help="FILE is a module's name, as of 'python -m'")
    parser.add_argument("file", metavar="FILE", help="the file to run")
    _add_arguments(parser, "the script's own arguments")

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._script import run as run_script

        return run_script(given.file, given.arguments, is_module=given.module)

    return run


def _check(parser: argparse.ArgumentParser) -> Run:
    """check shapes, dtypes and devices with mypy"""
    parser.usage = (
        "simpletorch check [PATH ...] [--json | --output FORMAT] [--all] [--strict] [OPTION ...] [-- MYPY ARGUMENT ...]"
    )
    parser.description = (
        "Programs are followed ('simpletorch follow'), and checked by mypy with simpletorch's plugin and "
        "good defaults. A mypy configuration that the project has is used, with the plugin added."
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; the current folder by default")
    _add_output(parser.add_mutually_exclusive_group())
    parser.add_argument(
        "--all",
        action="store_true",
        help="also show mypy's errors in files without annotations, which are only counted",
    )
    parser.add_argument("--strict", action="store_true", help="mypy's --strict: everything has to be annotated")
    daemon = parser.add_mutually_exclusive_group()
    daemon.add_argument(
        "--daemon",
        action="store_true",
        help="keep mypy in memory between checks, which makes them faster; it ends after an hour without one",
    )
    daemon.add_argument("--stop", action="store_true", help="end the daemon of this folder, and check nothing")
    parser.add_argument("--watch", action="store_true", help="check again whenever a file changes, until Ctrl-C")
    parser.add_argument("--no-follow", action="store_true", help="mypy alone: programs are not followed")
    _add_choice(parser)

    def run(given: argparse.Namespace) -> int:
        if given.stop:
            from simpletorch.cli._checking.daemon import stop

            return stop()
        if given.watch:
            if given.outputs:
                parser.error("--watch has no end, so that it gives text only")
            from simpletorch.cli._watch import watch

            return watch(given.paths, [word for word in given.words if word != "--watch"])
        from simpletorch.cli._check import check

        return check(
            given.paths,
            strict=given.strict,
            daemon=given.daemon,
            followed=not given.no_follow,
            everything=given.all,
            mypy_arguments=given.theirs,
            **_chosen(given),
        )

    return run


def _watch(parser: argparse.ArgumentParser) -> Run:
    """a program with the shapes beside its code, shown again whenever a file changes"""
    parser.usage = "simpletorch watch PATH [ARGUMENT ...]"
    parser.description = (
        "What 'simpletorch follow --shapes PATH ARGUMENT ...' shows, until Ctrl-C; of a folder what 'simpletorch "
        "follow PATH' shows. 'simpletorch check --watch' runs mypy as well."
    )
    parser.add_argument("file", metavar="PATH", help="the file or folder to follow")
    _add_arguments(parser, "the program's own arguments")

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._watch import watch_shapes

        return watch_shapes(given.file, given.arguments)

    return run


def _init(parser: argparse.ArgumentParser) -> Run:
    """write the configuration of mypy into this project"""
    parser.description = (
        "What 'simpletorch check' adds by itself is written into mypy.ini if there is one, else into pyproject.toml, "
        "so that mypy, dmypy and editors do the same. What stands there stays as it is; nothing is asked."
    )
    parser.add_argument("--ci", choices=["github"], help="also add a workflow that checks each push")

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._init import init

        return init(ci=given.ci)

    return run


def _new(parser: argparse.ArgumentParser) -> Run:
    """make a project that trains, is checked, and is tested in CI"""
    from simpletorch.cli._new import TEMPLATES

    parser.description = (
        "The folder NAME gets a package with a model and its training, tests, the configuration of mypy and a "
        "workflow for GitHub. " + "; ".join(f"{name}: {what}" for name, what in TEMPLATES.items()) + "."
    )
    parser.add_argument("name", metavar="NAME", help="the project's name, or a path that ends with it")
    parser.add_argument("--template", choices=list(TEMPLATES), default="vision", help="vision by default")

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._new import new

        return new(given.name, given.template)

    return run


def _completion(parser: argparse.ArgumentParser) -> Run:
    """a script that completes simpletorch's commands in a shell"""
    parser.description = (
        "Load it when the shell starts: 'eval \"$(simpletorch completion bash)\"' in ~/.bashrc, "
        "'simpletorch completion fish | source' in config.fish; for zsh, write it to a file _simpletorch in a folder "
        "of $fpath."
    )
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], metavar="SHELL", help="bash, zsh or fish")

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._completion import completion

        return completion(given.parser, given.shell)

    return run


def _summary(parser: argparse.ArgumentParser) -> Run:
    """what each part of a model takes, gives, holds and costs"""
    parser.description = (
        "A table of a model's modules: input and output shapes, parameters, bytes, operations. "
        "Nothing is computed and no weights are allocated. The exit code is 0, 1 if the model can't be built or "
        "called, 2 if it isn't found."
    )
    parser.add_argument(
        "model",
        metavar="MODULE:CLASS",
        help="a class, a function that builds a model, or a model, in a module or a file; arguments may follow: "
        "net.py:Net, simpletorch.vision.models:resnet18(num_classes=10)",
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="SHAPE",
        help="the shape of an input, one for each: 'B 3 224 224', 'Int64[B, T]'; by default, forward's annotations",
    )
    parser.add_argument(
        "--depth", type=int, default=None, metavar="N", help="show N levels of submodules; all by default"
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--html", action="store_true", help="HTML instead of text")
    kind.add_argument(
        "--types", action="store_true", help="the model's repr with the types of its calls; calls nothing"
    )

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._summary import summary

        return summary(given.model, given.input, depth=given.depth, as_html=given.html, as_types=given.types)

    return run


def _plan(parser: argparse.ArgumentParser) -> Run:
    """what a training takes on each rank of a mesh: memory, and bytes that are sent"""
    parser.usage = "simpletorch plan MODULE:CLASS [--mesh AXIS=N,…] [--batch N] [--size NAME=N …] [OPTION ...]"
    parser.description = (
        "Parameters, gradients, states of the optimizer and activations of a rank; the collectives of a step. Nothing "
        "is computed and no weights are allocated. The exit code is 0 if it fits, 1 if it doesn't or the model can't "
        "be built or called, 2 for an argument that can't be."
    )
    parser.add_argument("model", metavar="MODULE:CLASS", help="as of 'simpletorch summary'")
    parser.add_argument(
        "--mesh", default="data=1", metavar="AXES", help="ranks by axis, data=8,tensor=2; also replicate="
    )
    parser.add_argument(
        "--parallel",
        default="fsdp",
        choices=["ddp", "zero1", "zero2", "fsdp"],
        metavar="KIND",
        help="what is divided along data: ddp nothing, zero1 the optimizer's states, zero2 gradients too, fsdp "
        "(which is the default) all",
    )
    parser.add_argument(
        "--precision",
        default="float32",
        metavar="NAME",
        help="float32, bf16 or fp16 (with float32 parameters), bf16-true, bf16-master (bf16 with a float32 copy)",
    )
    parser.add_argument(
        "--optimizer", default="adamw", metavar="NAME", help="one of torch.optim: adamw, 'sgd(momentum=0.9)'"
    )
    parser.add_argument(
        "--batch", type=int, default=None, metavar="N", help="batch size per rank (the first symbolic dimension)"
    )
    parser.add_argument(
        "--size", action="append", default=[], metavar="NAME=N", help="another symbolic size of the inputs: T=2048"
    )
    parser.add_argument(
        "--input", action="append", default=[], metavar="SHAPE", help="the shape of an input, as of 'summary'"
    )
    parser.add_argument("--recompute", action="store_true", help="blocks keep only their inputs (checkpointing)")
    parser.add_argument("--loss", choices=["cross_entropy"], help="count the memory that this loss of the output keeps")
    parser.add_argument("--memory", type=float, default=80, metavar="GB", help="of a device, in 10⁹ bytes; 80")
    parser.add_argument("--json", **_JSON, help="one JSON document instead of text, bytes as integers")

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._plan import plan

        return plan(given)

    return run


def _env(parser: argparse.ArgumentParser) -> Run:
    """versions, devices and settings, for bug reports"""
    parser.add_argument("--json", **_JSON, help="one JSON document instead of a table")

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._env import env

        return env(as_json=given.output == "json")

    return run


def _ops(parser: argparse.ArgumentParser) -> Run:
    """the operations whose shapes are understood, with their rules"""
    parser.description = (
        "Every operation and module of torch whose result follows from the operands' shapes and dtypes."
    )
    parser.add_argument("pattern", nargs="?", default="", metavar="PATTERN", help="only names that contain it: conv2d")
    parser.add_argument("--json", **_JSON, help="one JSON document instead of text")

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._ops import ops

        return ops(given.pattern, as_json=given.output == "json")

    return run


def _explain(parser: argparse.ArgumentParser) -> Run:
    """what a code such as tensor-layout means, with wrong programs and right ones"""
    parser.description = "The page of a code in the terminal; without a code, the list of all codes."
    parser.add_argument("code", nargs="?", default=None, metavar="CODE", help="tensor-layout, or layout")

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._explain import explain

        return explain(given.code)

    return run


def _language_server(parser: argparse.ArgumentParser) -> Run:
    """shapes and mistakes in an editor, while you type (LSP over standard input and output)"""
    parser.description = (
        "An editor starts it and speaks the Language Server Protocol with it; docs/editors.md says how."
    )

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._language_server import language_server

        return language_server()

    return run


def _demo(parser: argparse.ArgumentParser) -> Run:
    """catch a shape bug, train on real images: the main points in a minute"""

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._demo import demo

        return demo()

    return run


COMMANDS: Final[Mapping[str, Command]] = {
    "follow": _follow,
    "check": _check,
    "watch": _watch,
    "run": _run,
    "explain": _explain,
    "summary": _summary,
    "plan": _plan,
    "env": _env,
    "ops": _ops,
    "language-server": _language_server,
    "demo": _demo,
    "init": _init,
    "new": _new,
    "completion": _completion,
}
