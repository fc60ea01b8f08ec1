"""``simpletorch run``: a script, and why it failed if it does."""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Sequence
from types import TracebackType

from simpletorch._excepthook import report
from simpletorch.follow.sources.piped import is_piped

__all__ = ["run"]


def run(script: str, arguments: Sequence[str] = (), *, is_module: bool = False) -> int:
    """Run ``script`` as ``python script arguments`` does; what ends it is explained.

    Args:
        script: the file.
        arguments: of its command line.
        is_module: ``script`` is a module's name, which is run as ``python -m`` does.

    Returns 0, 1 if an exception has ended it, or 2 if there is no such script; ``sys.exit`` passes.
    """
    if is_module:
        return _run_module(script, arguments)
    if not os.path.isfile(script):
        problem = f"{script} is a folder; name the file to run" if os.path.isdir(script) else f"no such file: {script}"
        if is_piped(script):
            problem = f"{script} is no file, so an error couldn't show its lines; name the file to run"
        print(f"simpletorch run: {problem}", file=sys.stderr)
        return 2
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    return _explained(lambda: runpy.run_path(script, run_name="__main__"), script, arguments)


def _run_module(name: str, arguments: Sequence[str]) -> int:
    sys.path.insert(0, os.getcwd())
    try:
        # the parent package is imported, as python -m does; its errors are the program's own
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):
            raise
        spec = None
    if spec is None or spec.origin is None:
        print(f"simpletorch run: there is no module {name} to run", file=sys.stderr)
        return 2
    sys.argv = [spec.origin, *arguments]
    return _explained(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True), spec.origin, arguments)


def _explained(work: Callable[[], object], script: str, arguments: Sequence[str]) -> int:
    """Run a program, and explain the exception that ends it."""
    try:
        work()
    except Exception as error:
        sys.stdout.flush()
        said = report(error, script, list(arguments))
        if said is None:
            said = "".join(traceback.format_exception(error.with_traceback(_own_frames(error, script)))).rstrip()
        print(said, file=sys.stderr)
        return 1
    return 0


def _own_frames(error: Exception, script: str) -> TracebackType | None:
    """The traceback from the script on, without what ran it."""
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename != script:
        tb = tb.tb_next
    is_unread = isinstance(error, SyntaxError) and error.filename in (script, None)  # no line of it has run
    return tb if tb is not None or is_unread else error.__traceback__
