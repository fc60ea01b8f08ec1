"""``simpletorch check``: mypy with the plugin and good defaults, no configuration needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from glob import glob
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from simpletorch._distribution import NAME
from simpletorch._settings import FOLLOW_VARIABLE, SettingError, settings
from simpletorch.cli._config import Config, ConfigError, configure, daemon_file, read
from simpletorch.cli._followed import diagnostics, find, merged
from simpletorch.cli._notebook import only_followed, split, why_no_notebook
from simpletorch.cli._output import OUTPUTS, Outcome, could_not, written
from simpletorch.cli._run import Diagnostic, Report, run_mypy
from simpletorch.follow import Finding
from simpletorch.notebook.document import with_cell

# What pyproject.toml asks for; a test keeps the two equal.
MYPY_NEEDED: Final = ((2, 4), (3, 0))


def check(
    paths: Sequence[str],
    *,
    output: str = "text",
    strict: bool = False,
    daemon: bool = False,
    followed: bool = True,
    mypy_arguments: Sequence[str] = (),
) -> int:
    """Check ``paths`` (what the configuration names, else the current folder, if there are none).

    Programs are followed first (unless ``followed`` is false), so that what is found is said before mypy has started.

    Args:
        output: "text", or one of `OUTPUTS`.

    Returns:
        mypy's exit code, or 1 if only following has found something.
    """
    if reason := why_not(paths):
        return could_not("check", reason, output)
    try:
        named, rest = _config_file(mypy_arguments)
        config = configure(Path(named) if named else None, search=named is None, daemon=daemon)
        said = settings(config.based_on)
        targets = list(paths) or _targets(config)
    except (ConfigError, SettingError) as error:
        return could_not("check", str(error), output)
    found: list[Finding] = []
    if not followed:
        os.environ[FOLLOW_VARIABLE] = "off"  # for the plugin as well
    elif said.follow:
        for finding in find(targets or _files(config), said.severities):
            found.append(finding)
            if finding.severity == "error" and output == "text":  # a warning may be an error of mypy's
                _say(diagnostics(finding))
    arguments = ["--config-file", str(config.file)]
    if config.cache is not None:
        arguments += ["--cache-dir", str(config.cache)]
    status = daemon_file(followed=followed) if daemon else None
    of_mypy, notebooks = split(targets)
    if notebooks and not of_mypy:
        report = only_followed(notebooks)
    else:
        report = run_mypy([*arguments, *(["--strict"] if strict else []), *rest, *of_mypy], status)
    report = merged(report, found)
    if output in OUTPUTS:
        first = tuple(d for f in found if f.severity == "error" for d in diagnostics(f))
        print(written(_outcome(replace(report, diagnostics=first + report.diagnostics), config), output))
    elif sys.stdout.isatty():
        from simpletorch.cli._show import show  # rich takes 0.1 s to import

        show(report, config)
    else:
        for line in _lines(report, config):
            print(line)
    return report.exit_code


def why_not(paths: Sequence[str]) -> str:
    """Why mypy can't check ``paths`` here: a sentence that says what would be right; "" when it can."""
    try:
        installed = version("mypy")
    except PackageNotFoundError:
        return f"mypy is not installed: pip install '{_requirement()}'"
    numbers = tuple(int(part) for part in installed.split("+")[0].split(".")[:2])
    if not MYPY_NEEDED[0] <= numbers < MYPY_NEEDED[1]:
        return f"mypy {installed} is installed, but the plugin needs {_requirement()}: pip install '{_requirement()}'"
    try:
        version("pyrefly-torch-stubs")
    except PackageNotFoundError:
        pass
    else:
        return (
            "the package pyrefly-torch-stubs replaces torch's types by ones that mypy can't read: "
            "pip uninstall pyrefly-torch-stubs"
        )
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
    """What to check when no path is given: nothing to say if the configuration does, else the current folder."""
    section = {} if config.based_on is None else read(config.based_on)["mypy"]
    return [] if {"files", "packages", "modules"} & section.keys() else ["."]


def _files(config: Config) -> list[str]:
    """What the configuration says is to be checked, as far as it names files and folders."""
    section = {} if config.based_on is None else read(config.based_on)["mypy"]
    patterns = [name.strip() for name in section.get("files", "").split(",") if name.strip()]
    return [file for pattern in patterns for file in sorted(glob(pattern, recursive=True))]


def _say(said: Sequence[Diagnostic]) -> None:
    """Print a finding as soon as it is there."""
    if sys.stdout.isatty():
        from simpletorch.cli._show import show_one

        show_one(said)
    else:
        print("\n".join(map(str, said)), flush=True)


def _lines(report: Report, config: Config) -> Iterator[str]:
    """mypy's own format, for tools that parse it."""
    yield from report.other
    yield from map(str, report.diagnostics)
    if remark := config.remark:
        yield remark
    if report.summary:
        yield report.summary


def _outcome(report: Report, config: Config) -> Outcome:
    problem = "\n".join(report.other) or None
    return Outcome(
        "check",
        report.exit_code,
        report.diagnostics,
        problem if report.exit_code > 1 else None,
        report.summary,
        _document(report, config),
    )


def _document(report: Report, config: Config) -> dict[str, object]:
    return {
        "summary": report.summary,
        "diagnostics": [with_cell(asdict(diagnostic)) for diagnostic in report.diagnostics],
        "other": list(report.other),
        "configuration": None if config.based_on is None else str(config.based_on),
        "seconds": round(report.seconds, 3),
        "versions": {"simpletorch": version(NAME), "mypy": version("mypy")},
    }
