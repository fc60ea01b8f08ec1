"""mypy over all files: in as many runs as their names need, and without the files that would end it."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Final, final

from simpletorch.cli._checking.modules import Run, module_of, options_of, runs
from simpletorch.cli._config import Config, skipping
from simpletorch.cli._output import grouped
from simpletorch.cli._run import Diagnostic, Report, counted, run_mypy
from simpletorch.follow.sources.python import why_no_python

__all__ = ["check_files"]

_OF_FILE: Final = re.compile(r"(?P<file>.+?): error: (?P<message>.*)")
"""How mypy says what it finds in no line of a file."""
_TWICE: Final = "Source file found twice under different module names"


def check_files(
    files: Sequence[str],
    config: Config,
    arguments: Sequence[str],
    daemon: Path | None = None,
    *,
    skipped: Sequence[str] = (),
) -> Report:
    """Check files with mypy.

    Args:
        files: paths of files.
        config: what mypy is run with.
        arguments: more of mypy's.
        daemon: where a daemon of mypy's is; it does the first run, and keeps nothing of the others.
        skipped: other files, which mypy must not read where these import them.
    """
    options = options_of([*config.arguments, *arguments]) if len(files) > 1 else None
    planned, refused = ([Run(list(files))], []) if options is None else runs(files, options)
    if not planned:
        return Report(2, (), ("mypy has no file to check",), "", 0.0, tuple(refused))
    reports, checked = [], 0
    for number, run in enumerate(planned):
        if number:
            gc.collect()  # the plugin collects garbage too rarely to do so between two runs
        is_daemons = number == 0 and not run.bases
        checking = _Checking(run, config, arguments, daemon if is_daemons else None, set(skipped))
        reports.append(checking.report())
        checked += len(run.files) - len(checking.broken & set(run.files))
    return replace(_joined(reports, checked), left_out=tuple(refused))


@final
@dataclass(slots=True)
class _Checking:
    """One run of mypy, and others without what has ended it."""

    run: Run
    config: Config
    arguments: Sequence[str]
    daemon: Path | None
    broken: set[str] = field(default_factory=set)
    """The files that are left out, as Python refuses them, or as mypy would not end."""

    def report(self) -> Report:
        """mypy's report on all files that it can read; a file that Python refuses is an error.

        A daemon that meets such a file says no more of others, and that it has found errors.
        """
        files, said, without = list(self.run.files), list[Diagnostic](), set[str]()
        first = report = self._without(files, self.broken, self.daemon)
        while report.exit_code > 1 or (report is first and self.daemon and any(map(_is_blocker, report.diagnostics))):
            ending = _ending(report, files)
            new = {d.file for d in ending} - without
            if not new:
                return first
            without |= new
            files = [f for f in files if f not in new]
            said += [d for d in ending if d.file in new and not d.message.startswith(_TWICE)]
            if not files:
                return first
            self.broken = self.broken | {d.file for d in said}
            report = self._without(files, self.broken)
        code = max(report.exit_code, 1) if said else report.exit_code
        return replace(report, exit_code=code, diagnostics=(*said, *report.diagnostics))

    def _without(self, files: Sequence[str], left: set[str], daemon: Path | None = None) -> Report:
        """Run mypy so that it doesn't read some files where others import them."""
        if not left:
            return self._run(files, self.config, daemon)
        with skipping(self.config, self._modules(left)) as config:
            return self._run(files, config, daemon)

    def _run(self, files: Sequence[str], config: Config, daemon: Path | None = None) -> Report:
        bases = self.run.bases
        named = ["--namespace-packages", "--explicit-package-bases"] if bases else []
        with _found_from(bases):
            return run_mypy([*config.arguments, *self.arguments, *named, *files], daemon)

    def _modules(self, files: Iterable[str]) -> list[str]:
        """The names of the files' modules, so that mypy doesn't read them where others import them."""
        options = options_of([*self.config.arguments, *self.arguments])
        if options is None:
            return []
        if self.run.bases:
            options.explicit_package_bases = options.namespace_packages = True
            options.mypy_path = [*options.mypy_path, *self.run.bases]
        return sorted(filter(None, (module_of(f, options)[0] for f in files)))


@contextmanager
def _found_from(bases: Sequence[str]) -> Iterator[None]:
    """While it lasts mypy looks for modules in these folders, too."""
    before = os.environ.get("MYPYPATH")
    if bases:
        os.environ["MYPYPATH"] = os.pathsep.join([*([before] if before else []), *bases])
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("MYPYPATH", None)
        else:
            os.environ["MYPYPATH"] = before


def _ending(report: Report, files: Sequence[str]) -> list[Diagnostic]:
    """Why mypy has ended: what Python refuses of the files, or what mypy itself says; of each file one reason."""
    told = [_refused(d.file, d.line, d.column, d.message) for d in report.diagnostics if _is_blocker(d)]
    of_files = [match for line in report.other if (match := _OF_FILE.fullmatch(line))]
    told += [_refused(match["file"], None, None, match["message"]) for match in of_files]
    paths = {os.path.realpath(f): f for f in files}  # mypy may know one by another path
    by_file = {paths.get(os.path.realpath(d.file), d.file): d for d in reversed(told) if _is_the_users(d.file)}
    why = {f: found for f in dict.fromkeys((*files, *by_file)) if (found := why_no_python(f))}
    if why:
        return [_refused(f, found.line, found.column, found.reason) for f, found in why.items()]
    return [replace(d, file=f) for f, d in by_file.items()]


def _is_the_users(file: str) -> bool:
    return "site-packages" not in file and os.path.isfile(file)


def _is_blocker(diagnostic: Diagnostic) -> bool:
    return diagnostic.severity == "error" and diagnostic.code in (None, "syntax")


def _refused(file: str, line: int | None, column: int | None, reason: str) -> Diagnostic:
    said = reason if reason.startswith(_TWICE) else f"{reason}; the file is left out"
    return Diagnostic(file, line or 1, column, None, None, "error", said, "syntax")


def _joined(reports: Sequence[Report], checked: int) -> Report:
    """One report of several runs; what they say of a file that more than one of them reads is said once."""
    groups = dict.fromkeys((first, *notes) for report in reports for first, notes in grouped(report.diagnostics))
    diagnostics = tuple(chain.from_iterable(groups))
    others = tuple(dict.fromkeys(line for report in reports for line in report.other))
    code, seconds = max(r.exit_code for r in reports), sum(r.seconds for r in reports)
    if any(r.exit_code > 1 for r in reports):
        summary = next(r.summary for r in reports if r.exit_code > 1)
    else:
        summary = counted(diagnostics, checked)
    return Report(code, diagnostics, others, summary, seconds)
