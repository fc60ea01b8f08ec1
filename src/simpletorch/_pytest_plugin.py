"""pytest's options ``--simpletorch-check``, ``-packages`` and ``-follow``. Importing this loads no torch."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from simpletorch._import_hook import install_import_hook

if TYPE_CHECKING:
    from simpletorch.follow import Finding

__all__ = [
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_load_initial_conftests",
    "pytest_report_header",
]

_SECONDS: Final = 2.0  # of one file


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("simpletorch", "checks of tensors' shapes and dtypes (simpletorch)")
    group.addoption(
        "--simpletorch-check",
        choices=("off", "once", "full"),
        help="check annotations never, once per signature (the default) or at every call; sets SIMPLETORCH_CHECK",
    )
    group.addoption(
        "--simpletorch-packages",
        metavar="NAMES",
        help="packages whose every annotated function is checked (simpletorch.install_import_hook), as in a,b",
    )
    group.addoption(
        "--simpletorch-follow",
        action="store_true",
        help="follow each test file before its tests run (simpletorch follow): a mistake in it is a failure of its own",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser, args: Sequence[str]) -> None:
    """Take effect before any conftest.py imports the tested modules.

    Raises:
        pytest.UsageError: a package is imported already.
    """
    options = early_config.known_args_namespace
    if options.simpletorch_check is not None:
        os.environ["SIMPLETORCH_CHECK"] = options.simpletorch_check  # subprocesses and workers take it from there
        # not imported here, since that loads torch; if it isn't there yet, it will read the variable
        checks = sys.modules.get("simpletorch.checks")
        if checks is not None:
            checks.config.check = options.simpletorch_check
    names = [name.strip() for name in (options.simpletorch_packages or "").split(",") if name.strip()]
    imported = [name for name in names if name in sys.modules]
    if imported:
        raise pytest.UsageError(
            f"--simpletorch-packages: {', '.join(imported)} is imported before any test, so it can't be checked; "
            "a plugin of yours imports it"
        )
    if names:
        install_import_hook(names)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what was asked for."""
    check, packages = config.getoption("simpletorch_check"), config.getoption("simpletorch_packages")
    if check is None and packages is None:
        return None
    return f"simpletorch: check={check or 'once'}" + (f", packages={packages}" if packages else "")


class _Followed(pytest.Item):
    """A test file that was followed, and in which something was found."""

    def __init__(self, *, errors: Sequence[Finding], **rest: Any) -> None:
        super().__init__(**rest)
        self.errors = errors

    def runtest(self) -> None:
        """Fail with what was found."""
        pytest.fail("\n".join(line for error in self.errors for line in error.lines()), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where pytest says that it is."""
        return self.path, self.errors[0].line - 1, self.name


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Follow each file that has tests to run; a finding is a failure before they run."""
    if not config.getoption("simpletorch_follow"):
        return
    from simpletorch._settings import SettingError, settings
    from simpletorch.follow import follow

    try:
        said = settings()
    except SettingError as error:
        raise pytest.UsageError(str(error)) from error
    found: list[pytest.Item] = []
    for module in dict.fromkeys(item.getparent(pytest.Module) for item in items):
        if module is None:
            continue
        followed = follow(os.path.relpath(module.path), seconds=_SECONDS, severities=said.severities, data=said.data)
        if followed.errors:
            found.append(_Followed.from_parent(module, name="followed", errors=followed.errors))
    items[:0] = found
