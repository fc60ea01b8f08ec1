"""``simpletorch check``: mypy with the plugin and good defaults, no configuration needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from glob import glob
from pathlib import Path
from typing import Any, Final, final

from simpletorch._distribution import installed_version, version_of
from simpletorch._settings import FOLLOW_VARIABLE, SettingError, settings
from simpletorch.cli._checking.endless import imports_of, why_endless
from simpletorch.cli._checking.environment import environment
from simpletorch.cli._checking.files import Listed, listed
from simpletorch.cli._checking.modules import exclusion, options_of
from simpletorch.cli._checking.unannotated import without_guesses
from simpletorch.cli._checking.whole import check_files
from simpletorch.cli._config import Config, ConfigError, configure, daemon_file, read
from simpletorch.cli._followed import diagnostics, find, is_for_mypy, merged, note
from simpletorch.cli._following.progress import Progress
from simpletorch.cli._narrowing.narrowing import Narrowing, NarrowingError
from simpletorch.cli._notebook import left_out, only_followed, split, why_no_notebook
from simpletorch.cli._output import Outcome, Output, OutputError, could_not, is_for_people
from simpletorch.cli._run import Diagnostic, Report, run_mypy
from simpletorch.follow import Finding
from simpletorch.follow.cache.told import Told
from simpletorch.follow.sources.notebooks import with_cell
from simpletorch.follow.sources.piped import is_piped

# The versions in pyproject.toml; a test keeps the two equal.
MYPY_NEEDED: Final = ((2, 4), (3, 0))


def check(
    paths: Sequence[str],
    *,
    output: Output | None = None,
    strict: bool = False,
    daemon: bool = False,
    followed: bool = True,
    everything: bool = False,
    mypy_arguments: Sequence[str] = (),
    quiet: bool = False,
    data: bool = True,
    cache: bool = True,
    jobs: int | None = None,
    narrowing: Mapping[str, Any] | None = None,
) -> int:
    """Check ``paths`` (what the configuration names, else the current folder, if there are none).

    Programs are followed first (unless ``followed`` is false), so that what is found is said before mypy has started.

    Args:
        output: the formats; text by default.
        strict: mypy's option.
        daemon: mypy's daemon does the work.
        followed: whether programs are followed.
        everything: also show what mypy guesses in files without annotations. It is shown as well where ``strict`` or a
            configuration of mypy says that its errors are wanted.
        mypy_arguments: further options of mypy's.
        quiet: print findings only.
        data: whether the follower reads the sizes of data files.
        cache: whether the follower uses answers that are kept.
        jobs: the number of processes that follow.
        narrowing: the arguments of `Narrowing`.

    Returns:
        mypy's exit code, or 1 if only following has found something.
    """
    output = output or Output()
    if reason := why_not(paths):
        return could_not("check", reason, output)
    try:
        named, rest = _config_file(mypy_arguments)
        config = configure(Path(named) if named else None, search=named is None, daemon=daemon)
        said = settings(config.based_on)
        narrows = Narrowing(**narrowing or {})
    except (ConfigError, SettingError, NarrowingError) as error:
        return could_not("check", str(error), output)
    more, remark = environment(config, rest)
    arguments = [*rest, *more, *(["--strict"] if strict else [])]
    targets = list(paths) or _targets(config)
    files = listed(targets, _exclusion(config, arguments))
    if targets and not files.files:
        return could_not("check", _nothing(targets, files), output)
    found, left, seen = list[Finding](), list[Finding](), _Seen()
    if not followed:
        os.environ[FOLLOW_VARIABLE] = "off"  # for the plugin as well
    elif said.follow:
        uses_cache = cache and said.cache
        for told in find(files, said.severities, data and said.data, uses_cache=uses_cache, jobs=jobs, quiet=quiet):
            seen.add(told)
            for finding in (*told.errors, *told.warnings):
                if is_for_mypy(finding):
                    left.append(finding)
                    continue
                found.append(finding)
                is_shown = narrows.shows(finding)
                # a warning may be an error of mypy's
                if is_shown and finding.severity == "error" and output.shown == "text":
                    _say(diagnostics(finding))
    status = daemon_file(followed=followed) if daemon else None
    waits = "mypy is checking; it has to read torch the first time, which takes a minute"
    with Progress(name=waits, quiet=quiet):
        report = _of_mypy(files, config, arguments, status)
    if not (everything or strict or config.based_on):
        report = without_guesses(report)
    if report.exit_code > 1:
        for finding in left:
            narrows.shows(finding)
        found += left
    report = merged(report, found, narrows)
    report = replace(
        report,
        left_out=(*files.left_out, *left_out(files.files), *report.left_out),
        other=(*report.other, *([remark] if remark else ())),
    )
    try:
        if report.exit_code < 2:
            narrows.finish({*files.files, *seen.files}, of_mypy=True)
        _tell(report, list(filter(narrows.showed, found)), config, output, seen, narrows, quiet=quiet)
    except NarrowingError as error:
        return could_not("check", str(error), output)
    except OutputError as error:
        return could_not("check", str(error))
    return report.exit_code


@final
@dataclass(slots=True)
class _Seen:
    """Coverage and files of all follows."""

    known: int = 0
    lines: int = 0
    files: set[str] = field(default_factory=set)

    def add(self, told: Told) -> None:
        """Count another program."""
        self.known += told.coverage[0]
        self.lines += told.coverage[1]
        self.files.update(told.files)


def _of_mypy(files: Listed, config: Config, arguments: Sequence[str], daemon: Path | None) -> Report:
    """mypy's report on the files; notebooks aren't passed to mypy."""
    of_mypy, notebooks = split(files.files)
    if notebooks and not of_mypy:
        return only_followed(notebooks)
    if not of_mypy:  # the configuration names modules
        return run_mypy([*config.arguments, *arguments], daemon)
    endless = {file: reason for file in (*of_mypy, *imports_of(of_mypy)) if (reason := why_endless(file))}
    of_mypy = [file for file in of_mypy if file not in endless]
    if not of_mypy:
        return Report(0, (), (), "mypy had no file to check", 0.0, tuple(endless.items()))
    report = check_files(of_mypy, config, arguments, daemon, skipped=list(endless))
    return replace(report, left_out=(*report.left_out, *endless.items()))


def _tell(
    report: Report,
    found: Sequence[Finding],
    config: Config,
    output: Output,
    seen: _Seen,
    narrowing: Narrowing,
    *,
    quiet: bool,
) -> None:
    """Print what isn't said yet."""
    first = tuple(d for f in found if f.severity == "error" for d in diagnostics(f))
    if narrowing.said:
        report = replace(report, summary="; ".join(filter(None, (report.summary, narrowing.said))))
    if output.tell(_outcome(replace(report, diagnostics=first + report.diagnostics), config, seen, narrowing)):
        return
    if quiet and report.exit_code < 2:
        config = replace(config, based_on=None)
        report = replace(report, other=(), left_out=(), summary="", hidden=0)
    if is_for_people(sys.stdout):
        from simpletorch.cli._show import show  # rich takes 0.1 s to import

        show(report, config)
    else:
        for line in _lines(report, config):
            print(line)


def why_not(paths: Sequence[str]) -> str:
    """Why mypy can't check ``paths`` here: a sentence that says what would be right; "" when it can."""
    installed = version_of("mypy")
    if installed is None:
        return f"mypy is not installed: pip install '{_requirement()}'"
    numbers = tuple(int(part) for part in installed.split("+")[0].split(".")[:2])
    if not MYPY_NEEDED[0] <= numbers < MYPY_NEEDED[1]:
        return f"mypy {installed} is installed, but the plugin needs {_requirement()}: pip install '{_requirement()}'"
    if version_of("pyrefly-torch-stubs") is not None:
        return (
            "the package pyrefly-torch-stubs replaces torch's types by ones that mypy can't read: "
            "pip uninstall pyrefly-torch-stubs"
        )
    if piped := [path for path in paths if is_piped(path)]:
        return f"{piped[0]} is no file, and mypy reads files: 'simpletorch follow {piped[0]}' follows such a program"
    unread = [path for path in paths if Path(path).is_file() and not os.access(path, os.R_OK)]
    if unread:
        return f"can't be read (permission denied): {', '.join(unread)}"
    missing = [path for path in paths if not Path(path).exists()]
    if missing:
        return f"no such file or folder: {', '.join(missing)}"
    return next(filter(None, map(why_no_notebook, split(paths)[1])), "")


def _requirement() -> str:
    low, high = (".".join(map(str, numbers)) for numbers in MYPY_NEEDED)
    return f"mypy>={low},<{high.removesuffix('.0')}"


def _config_file(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """Take ``--config-file`` out of mypy's arguments: the plugin is to be added to that file; "" means none at all."""
    rest = list(arguments)
    for position, argument in enumerate(rest):
        if argument == "--config-file" and position + 1 < len(rest):
            value = rest[position + 1]
            del rest[position : position + 2]
        elif argument.startswith("--config-file="):
            value = argument.partition("=")[2]
            del rest[position]
        else:
            continue
        if value and not Path(value).is_file():
            raise ConfigError(f"there is no configuration file {value!r}")
        return value, rest
    return None, rest


def _targets(config: Config) -> list[str]:
    """The files to check when no path is given: the configuration's (none if it names modules), else this folder."""
    section = {} if config.based_on is None else read(config.based_on)["mypy"]
    if {"packages", "modules"} & section.keys():
        return []
    patterns = [name.strip() for name in section.get("files", "").split(",") if name.strip()]
    return [file for pattern in patterns for file in sorted(glob(pattern, recursive=True)) or [pattern]] or ["."]


def _exclusion(config: Config, arguments: Sequence[str]) -> Callable[[str], bool]:
    """The predicate for files that are excluded from folders; mypy, whose rules decide, takes 0.2 s to import."""
    section = read(config.file)["mypy"]
    asks = {"exclude", "exclude_gitignore"} & section.keys() or any(a.startswith("--exclude") for a in arguments)
    return exclusion(options_of([*config.arguments, *arguments]) if asks else None)


def _nothing(targets: Sequence[str], files: Listed) -> str:
    """Why there is nothing to check."""
    reasons = "".join(f"; {path} is left out: {reason}" for path, reason in files.left_out)
    return f"there is no file of Python in {', '.join(targets)}{reasons}"


def _say(said: Sequence[Diagnostic]) -> None:
    """Print a finding as soon as it is there."""
    if is_for_people(sys.stdout):
        from simpletorch.cli._show import show_one

        show_one(said)
    else:
        print("\n".join(map(str, said)), flush=True)


def _lines(report: Report, config: Config) -> Iterator[str]:
    """mypy's own format, for tools that parse it."""
    yield from report.other
    yield from map(str, report.diagnostics)
    yield from (f"{path}: note: left out: {reason}" for path, reason in report.left_out)
    if remark := config.remark:
        yield remark
    yield from filter(None, (report.summary, report.hint))


def _outcome(report: Report, config: Config, seen: _Seen, narrowing: Narrowing) -> Outcome:
    problem = "\n".join(report.other) or None
    return Outcome(
        "check",
        report.exit_code,
        (*(note(path, 1, f"left out: {reason}") for path, reason in report.left_out), *report.diagnostics),
        problem if report.exit_code > 1 else None,
        "; ".join(filter(None, (report.summary, report.hint))),
        {
            **_document(report, config),
            "coverage": {"known": seen.known, "lines": seen.lines},
            "not_shown": narrowing.document,
        },
    )


def _document(report: Report, config: Config) -> dict[str, object]:
    return {
        "summary": report.summary,
        "diagnostics": [with_cell(asdict(diagnostic)) for diagnostic in report.diagnostics],
        "left_out": [{"file": path, "reason": reason} for path, reason in report.left_out],
        "hidden": report.hidden,
        "other": list(report.other),
        "configuration": None if config.based_on is None else str(config.based_on),
        "seconds": round(report.seconds, 3),
        "versions": {"simpletorch": installed_version(), "mypy": version_of("mypy")},
    }
