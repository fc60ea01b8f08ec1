"""Parameters that `make test` leaves to `make test-all`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def thorough(values: Iterable[Any]) -> list[Any]:
    """Parameters with the mark ``thorough``: ``["sm90", *thorough(["sm80", "gfx942"])]``."""
    return [pytest.param(value, marks=pytest.mark.thorough) for value in values]
