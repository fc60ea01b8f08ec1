"""``scipy.io.loadmat``: the arrays in a file of MATLAB's, by name."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from simpletorch.follow import files
from simpletorch.follow.libraries import (
    model,
    sounds,  # noqa: F401  (``scipy.io.wavfile``)
)
from simpletorch.follow.values import MISSING, Dict, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_AROUND: Final = ("__header__", "__version__", "__globals__")


@model("scipy.io.loadmat", "scipy.io.matlab.loadmat")
def _load(run: Interpreter, file_name: Value, mdict: Value = None, appendmat: Value = True, **rest: Value) -> Value:
    if isinstance(file_name, str) and appendmat is True and not posixpath.splitext(file_name)[1]:
        file_name += ".mat"
    found = MISSING if mdict is not None or rest else files.load(run, ("matlab",), file_name)
    if not isinstance(found, Dict):
        return run.unknown("what is in a file of MATLAB's", None, "data")
    return Dict({**{name: run.unknown(f"{name} of a file", None, "data") for name in _AROUND}, **found.cells})
