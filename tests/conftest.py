"""Fixtures for all tests, and what marks mean."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch

from tests import neighbours


@pytest.fixture(scope="module", autouse=True)
def _what_lasts_is_not_looked_through() -> None:
    """Move what is there before a file of tests out of the garbage collector's sight.

    That is millions of objects: torch, the tests themselves, what mypy keeps. `gc.collect`, which tests and torch call
    often, would take seconds to go through them.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Where bits are compared, and in the processes that tests start, threads must not change the order of sums."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            patch.setenv(name, "1")
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        yield
        torch.set_num_threads(before)


# what mypy says by itself is tested apart from what following says: the tests of following turn it on
os.environ.setdefault("SIMPLETORCH_FOLLOW", "off")
# a test says what it keeps: the summary of an answer that is kept differs, and nothing is written to a user's folders
os.environ.setdefault("SIMPLETORCH_CACHE", "off")


# -- tests that need a package which may not be installed --------------------------------------------------------------


class _WithoutItsPackage(pytest.Module):
    """A file of tests that can't even be imported."""

    def collect(self) -> NoReturn:
        raise pytest.skip.Exception(neighbours.missing(neighbours.of_file(self.path)), allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """A file that is marked ``neighbour`` is skipped before its imports, where the package is missing."""
    if neighbours.missing(neighbours.of_file(module_path)):
        return _WithoutItsPackage.from_parent(parent, path=module_path)
    return None


@pytest.hookimpl(trylast=True)  # of the tests that are left
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is marked ``neighbour`` where a package is missing, and begin with the files that take longest.

    Else one process would begin such a file when the others are done.
    """
    for item in items:
        packages = [name for mark in item.iter_markers("neighbour") for name in mark.args]
        unknown = {*packages} - neighbours.INSTALLED - neighbours.NOT_INSTALLED
        assert not unknown, f"{item.nodeid}: tests/neighbours.py doesn't know {unknown}"
        if reason := neighbours.missing(packages):
            item.add_marker(pytest.mark.skip(reason=reason))
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


def _refuse_unmarked(report: Any) -> None:
    """Fail what ``pytest.importorskip`` skipped: a package is declared, or the test says that it needs one."""
    if report.skipped and isinstance(report.longrepr, tuple) and "could not import '" in report.longrepr[2]:
        report.outcome = "failed"
        report.longrepr = (
            f"{report.nodeid}: {report.longrepr[2]}\n"
            "Add the package to the extra `dev`, or the mark pytest.mark.neighbour to the test."
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """No test is skipped because of a package that nobody declared."""
    report = yield
    _refuse_unmarked(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    """No file of tests is."""
    report = yield
    _refuse_unmarked(report)
    return report
