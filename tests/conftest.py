"""Fixtures for all tests."""

import gc
import os

import pytest
import torch


@pytest.fixture(scope="module", autouse=True)
def _what_lasts_is_not_looked_through() -> None:
    """Move what is there before a file of tests out of the garbage collector's sight.

    That is millions of objects: torch, the tests themselves, what mypy keeps. `gc.collect`, which tests and torch call
    often, would take seconds to go through them.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
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
