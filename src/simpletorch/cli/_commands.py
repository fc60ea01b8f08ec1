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
        help="one JSON document instead of text, also if the command fails",
    )
    parser.add_argument(
        "--output",
        action="append",
        type=_format,
        dest="outputs",
        metavar="FORMAT[=FILE]",
        help="text, json, github (annotations of a pull request), sarif (for code scanning), markdown (a job's "
        "summary) or badge (an SVG); FORMAT=FILE writes a file besides the printed text; repeatable",
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
    parser.add_argument(
        "--baseline", metavar="FILE", help="a file of known findings: they aren't shown and don't count"
    )
    parser.add_argument(
        "--write-baseline", action="store_true", help="write all current findings into the --baseline file"
    )
    parser.add_argument(
        "--diff",
        metavar="BASE",
        help="only findings on lines changed since git's BASE (a branch, tag or commit), or reached from one",
    )
    parser.add_argument("--no-data", action="store_true", help="don't read the sizes of data files")
    parser.add_argument(
        "--no-cache", action="store_true", help="ignore cached answers: follow unchanged programs again"
    )
    parser.add_argument(
        "-j", "--jobs", type=_jobs, metavar="N", help="number of processes; by default one per CPU, at most 8"
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


_MORE: Final = "more files; then the program's own arguments, from the first option or from -- on"


def _follow(parser: argparse.ArgumentParser) -> Run:
    """find the lines at which a program's shapes don't fit, without running it"""
    parser.usage = (
        "simpletorch follow [--shapes | --html | --json | --output FORMAT | --why LINE | --coverage] [OPTION ...] "
        "[-m] PATH [PATH ...] [[--] ARGUMENT ...]"
    )
    parser.description = (
        "Interprets the program on shapes, as 'python FILE ARGUMENT ...' would run it. Nothing is executed, and no "
        "annotation is needed. In a folder, every program is followed."
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--shapes", action="store_true", help="print the source with the shapes beside each line")
    kind.add_argument("--html", action="store_true", help="print the same as an HTML page")
    _add_output(kind)
    kind.add_argument("--why", type=int, metavar="LINE", help="explain why a value on this line is unknown")
    kind.add_argument("--coverage", action="store_true", help="print how much is known, and which code costs the rest")
    parser.add_argument(
        "--sizes", action="store_true", help="warn when two sizes must be equal but no annotation says so"
    )
    _add_choice(parser)
    parser.add_argument("-m", action="store_true", dest="module", help="PATH is a module name, as for 'python -m'")
    parser.add_argument("file", metavar="PATH", help="the file or folder to follow; - reads standard input")
    _add_arguments(parser, _MORE)

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._follow import file_of_module, files_and_arguments, follow
        from simpletorch.cli._output import could_not, said_by

        if given.module and not file_of_module(given.file):
            return could_not("follow", f"there is no module {given.file} in this folder", said_by(given.outputs))
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
        "Runs the script like 'python FILE ARGUMENT ...' or 'python -m MODULE ARGUMENT ...'. If an error of torch ends "
        "it, the error is explained: the operation, its operands, the line, and a fix. The exit code is the script's."
    )
    parser.add_argument("-m", action="store_true", dest="module", help="FILE is a module name, as for 'python -m'")
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
        "Follows the programs as 'simpletorch follow' does, and runs mypy with simpletorch's plugin and good defaults. "
        "If the project configures mypy, its configuration is used, with the plugin added."
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; the current folder by default")
    _add_output(parser.add_mutually_exclusive_group())
    parser.add_argument(
        "--all",
        action="store_true",
        help="also show mypy's errors in files without annotations; by default they are only counted",
    )
    parser.add_argument("--strict", action="store_true", help="mypy's --strict: every function must be annotated")
    daemon = parser.add_mutually_exclusive_group()
    daemon.add_argument(
        "--daemon",
        action="store_true",
        help="keep mypy in memory, so that the next check is faster; it stops after an hour without a check",
    )
    daemon.add_argument("--stop", action="store_true", help="stop the daemon of this folder; check nothing")
    parser.add_argument("--watch", action="store_true", help="check again whenever a file changes, until Ctrl-C")
    parser.add_argument("--no-follow", action="store_true", help="run mypy only; don't follow the programs")
    _add_choice(parser)

    def run(given: argparse.Namespace) -> int:
        if given.stop:
            from simpletorch.cli._checking.daemon import stop

            return stop()
        if given.watch:
            if given.outputs:
                parser.error("--watch runs until Ctrl-C and prints text only")
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
    """show a program's shapes beside its code, again after each change of a file"""
    parser.usage = "simpletorch watch PATH [PATH ...] [[--] ARGUMENT ...]"
    parser.description = (
        "Shows one file as 'simpletorch follow --shapes' does, several files or a folder as 'simpletorch follow' does, "
        "again after each change, until Ctrl-C. 'simpletorch check --watch' also runs mypy."
    )
    parser.add_argument("file", metavar="PATH", help="the file or folder to follow")
    _add_arguments(parser, _MORE)

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._follow import files_and_arguments
        from simpletorch.cli._watch import watch_shapes

        more, arguments = files_and_arguments(given.file, given.arguments)
        return watch_shapes([given.file, *more], [*arguments, *given.theirs])

    return run


def _init(parser: argparse.ArgumentParser) -> Run:
    """write the configuration of mypy into this project"""
    parser.description = (
        "Writes the settings that 'simpletorch check' uses into mypy.ini if there is one, else into pyproject.toml. "
        "Then mypy, dmypy and editors report the same. Existing settings stay as they are."
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
    """print the script that completes simpletorch's commands in a shell"""
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
    """print each module's input and output shapes, parameters, memory and operations"""
    parser.description = (
        "A table of a model's modules: input and output shapes, parameters, bytes, operations. "
        "Nothing is computed and no weights are allocated. The exit code is 1 if the model can't be built or called, "
        "and 2 if it isn't found."
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
    """print the memory that a training needs on each rank of a mesh, and the bytes that ranks send"""
    parser.usage = "simpletorch plan MODULE:CLASS [--mesh AXIS=N,…] [--batch N] [--size NAME=N …] [OPTION ...]"
    parser.description = (
        "Shows the memory of a rank (parameters, gradients, optimizer states, activations) and the collectives of a "
        "step. Nothing is computed and no weights are allocated. The exit code is 0 if it fits, 1 if it doesn't fit or "
        "the model can't be built or called, 2 for an invalid argument."
    )
    parser.add_argument("model", metavar="MODULE:CLASS", help="as for 'simpletorch summary'")
    parser.add_argument(
        "--mesh", default="data=1", metavar="AXES", help="ranks by axis, data=8,tensor=2; also replicate="
    )
    parser.add_argument(
        "--parallel",
        default="fsdp",
        choices=["ddp", "zero1", "zero2", "fsdp"],
        metavar="KIND",
        help="what is sharded along the data axis: ddp nothing, zero1 optimizer states, zero2 also gradients, fsdp "
        "also parameters (default)",
    )
    parser.add_argument(
        "--precision",
        default="float32",
        metavar="NAME",
        help="float32, bf16 or fp16 (with float32 parameters), bf16-true, bf16-master (bf16 with a float32 copy)",
    )
    parser.add_argument(
        "--optimizer", default="adamw", metavar="NAME", help="an optimizer of torch.optim: adamw, 'sgd(momentum=0.9)'"
    )
    parser.add_argument(
        "--batch", type=int, default=None, metavar="N", help="batch size per rank (the first symbolic dimension)"
    )
    parser.add_argument(
        "--size", action="append", default=[], metavar="NAME=N", help="another symbolic size of the inputs: T=2048"
    )
    parser.add_argument(
        "--input", action="append", default=[], metavar="SHAPE", help="the shape of an input, as for 'summary'"
    )
    parser.add_argument(
        "--recompute", action="store_true", help="activation checkpointing: blocks keep only their inputs"
    )
    parser.add_argument("--loss", choices=["cross_entropy"], help="also count the memory of this loss of the output")
    parser.add_argument(
        "--memory", type=float, default=80, metavar="GB", help="memory of a device in 10⁹ bytes; 80 by default"
    )
    parser.add_argument("--json", **_JSON, help="one JSON document instead of text, bytes as integers")

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._plan import plan

        return plan(given)

    return run


def _env(parser: argparse.ArgumentParser) -> Run:
    """print versions, devices and settings, for bug reports"""
    parser.add_argument("--json", **_JSON, help="one JSON document instead of a table")

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._env import env

        return env(as_json=given.output == "json")

    return run


def _ops(parser: argparse.ArgumentParser) -> Run:
    """list the operations whose shapes are understood, with their rules"""
    parser.description = (
        "Lists each operation and module of torch whose result's shape and dtype are known from its operands."
    )
    parser.add_argument("pattern", nargs="?", default="", metavar="PATTERN", help="only names that contain it: conv2d")
    parser.add_argument("--json", **_JSON, help="one JSON document instead of text")

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._ops import ops

        return ops(given.pattern, as_json=given.output == "json")

    return run


def _explain(parser: argparse.ArgumentParser) -> Run:
    """explain a code such as tensor-layout, with wrong and right programs"""
    parser.description = "Prints the page of a code; without a code, the list of all codes."
    parser.add_argument("code", nargs="?", default=None, metavar="CODE", help="tensor-layout, or layout")

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._explain import explain

        return explain(given.code)

    return run


def _language_server(parser: argparse.ArgumentParser) -> Run:
    """show shapes and mistakes in an editor while you type (LSP over standard input and output)"""
    parser.description = "Your editor starts it and speaks the Language Server Protocol with it; see docs/editors.md."

    def run(given: argparse.Namespace) -> int:
        from simpletorch.cli._language_server import language_server

        return language_server()

    return run


def _demo(parser: argparse.ArgumentParser) -> Run:
    """catch a shape bug, then train on real images: the main points in a minute"""

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
