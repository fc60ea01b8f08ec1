"""pytest's options ``--simpletorch-check`` and ``--simpletorch-packages``. Importing this loads no torch."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import pytest

from simpletorch._import_hook import install_import_hook

__all__ = ["pytest_addoption", "pytest_load_initial_conftests", "pytest_report_header"]


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


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser, args: Sequence[str]) -> None:
    """Take effect before any conftest.py imports what is tested.

    Raises:
        pytest.UsageError: a package is imported already.
    """
    options = early_config.known_args_namespace
    if options.simpletorch_check is not None:
        os.environ["SIMPLETORCH_CHECK"] = options.simpletorch_check  # subprocesses and workers take it from there
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
