"""Running mypy, and what it said as data."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

_LINE: Final = re.compile(
    r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+)(?::(?P<end_line>\d+):(?P<end_column>\d+))?)?: "
    r"(?P<severity>error|note): (?P<message>.*?)(?:  \[(?P<code>[a-z0-9-]+)\])?"
)
_READABLE: Final = ("--show-column-numbers", "--show-error-end", "--no-pretty", "--no-color-output")
_IDLE: Final = 3600  # seconds without a question after which a daemon ends
_OF_DAEMON: Final = ("Daemon started", "Daemon stopped", "Restarting: ")
_CHECKED: Final = re.compile(r"(?:checked|found in) (\d+) source file")
_SUMMARY: Final = re.compile(r"(Found \d+ error|Success: ).*")


@dataclass(frozen=True)
class Diagnostic:
    """One finding of mypy; lines and columns count from 1, the end column is included."""

    file: str
    line: int
    column: int | None
    end_line: int | None
    end_column: int | None
    severity: str
    message: str
    code: str | None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" + ("" if self.column is None else f":{self.column}")
        return f"{place}: {self.severity}: {self.message}" + (f"  [{self.code}]" if self.code else "")


@dataclass(frozen=True)
class Report:
    """The result of one run of mypy."""

    exit_code: int
    """0 no error, 1 errors, 2 mypy could not do its work."""
    diagnostics: tuple[Diagnostic, ...]
    other: tuple[str, ...]
    """Lines that are no diagnostics: warnings about the configuration, a crash."""
    summary: str
    """mypy's last line: ``Found 1 error in 1 file (checked 1 source file)``."""
    seconds: float
    left_out: tuple[tuple[str, str], ...] = ()
    """Files and folders that can't be checked, with the reason."""
    hidden: int = 0
    """How many errors of mypy's own in files without annotations aren't shown."""

    @property
    def hint(self) -> str:
        """How to see what isn't shown."""
        errors = count(self.hidden, "other mypy error")
        return f"{errors} in files without annotations: --all shows them" if self.hidden else ""


def count(number: int, noun: str) -> str:
    """``2 errors``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def counted(diagnostics: Sequence[Diagnostic], checked: int) -> str:
    """mypy's last line for what it has said of so many files."""
    places = [d.file for d in diagnostics if d.severity == "error"]
    if not places:
        return f"Success: no issues found in {count(checked, 'source file')}"
    inside = count(len(set(places)), "file")
    return f"Found {count(len(places), 'error')} in {inside} (checked {count(checked, 'source file')})"


def recounted(report: Report, diagnostics: tuple[Diagnostic, ...]) -> Report:
    """The report with these diagnostics instead of its own."""
    checked = _CHECKED.search(report.summary)
    summary = counted(diagnostics, int(checked[1])) if checked else report.summary
    code = int(any(d.severity == "error" for d in diagnostics))
    return replace(report, diagnostics=diagnostics, summary=summary, exit_code=code)


def run_mypy(arguments: Sequence[str], daemon: Path | None = None) -> Report:
    """Run mypy in this process (a new one would cost 0.1 s) and read what it prints.

    Args:
        arguments: mypy's.
        daemon: a file that says where a daemon of mypy's is, which then does the work; started if there is none.
    """
    from mypy import api

    start = time.perf_counter()
    crash = io.StringIO()  # an internal error is printed past what `api.run` catches
    try:
        with redirect_stderr(crash):
            if daemon is None:
                output, problems, code = api.run([*_READABLE, *arguments])
            else:
                ask = ["--status-file", str(daemon), "run", "--timeout", str(_IDLE), "--", *_READABLE, *arguments]
                output, problems, code = api.run_dmypy(ask) if daemon.is_file() else _started(ask)
    except Exception:
        output, problems, code = "", f"{traceback.format_exc()}mypy has crashed", 2
    problems += crash.getvalue()
    seconds = time.perf_counter() - start
    diagnostics: list[Diagnostic] = []
    other = problems.splitlines()
    summary = ""
    for line in output.splitlines():
        if match := _LINE.fullmatch(line):
            diagnostics.append(_diagnostic(match))
        elif _SUMMARY.fullmatch(line):
            summary = line
        elif not line.startswith(_OF_DAEMON):
            other.append(line)
    if code == 1 and summary.startswith("Success"):
        code = 0  # the daemon takes a note for an error
    return Report(code, tuple(diagnostics), tuple(other), summary, seconds)


def _started(ask: Sequence[str]) -> tuple[str, str, int]:
    """Start the daemon in a new process and ask it.

    A fork of this process, as dmypy's own start is, would end where other threads of it are at work (JAX's, a
    notebook's).
    """
    # -P: a file torch.py or json.py beside the user's program must not be imported
    command = [sys.executable, "-P", "-m", "mypy.dmypy", *ask]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr, done.returncode


def _diagnostic(match: re.Match[str]) -> Diagnostic:
    from simpletorch.mypy.convert.spelling import respell

    def number(name: str) -> int | None:
        return None if match[name] is None else int(match[name])

    return Diagnostic(
        match["file"],
        int(match["line"]),
        number("column"),
        number("end_line"),
        number("end_column"),
        match["severity"],
        respell(match["message"]),
        match["code"],
    )
