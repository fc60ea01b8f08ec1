"""``simpletorch run``: a script, and why it failed if it does."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections.abc import Sequence
from types import TracebackType

from simpletorch._excepthook import report
from simpletorch.follow.sources.piped import is_piped

__all__ = ["run"]


def run(script: str, arguments: Sequence[str] = ()) -> int:
    """Run ``script`` as ``python script arguments`` does; what ends it is explained.

    Returns 0, 1 if an exception has ended it, or 2 if there is no such script; ``sys.exit`` passes.
    """
    if not os.path.isfile(script):
        what = "is a folder; name the file to run" if os.path.isdir(script) else "no such file"
        if is_piped(script):
            what = "is no file, whose lines an error could show; name the file to run"
        print(f"simpletorch run: {script}: {what}", file=sys.stderr)
        return 2
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    try:
        runpy.run_path(script, run_name="__main__")
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
