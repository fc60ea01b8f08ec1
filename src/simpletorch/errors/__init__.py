"""Errors that explain: the failed operation, its operands, the place, and a remedy.

A border is a call of a `simpletorch.nn.Module` or a `simpletorch.checked` function, a training step, a loader, or an
`explain` block. Every error of torch that crosses one is a `TorchError` whose fields are data and whose text is written
from them::

    Linear(100, 10): the last dim of input is 128, but the layer takes 100 features
      input = x  Float32[32, 128]  (cpu)
      self.fc2   Linear(in_features=100, out_features=10)
      in model.fc2, at net.py:12: x = self.fc2(x)
      hint: Linear(128, 10) would fit

The first line is the same as mypy's where it sees the mistake. The error is also an instance of the class that torch
raised (`RuntimeError`, `IndexError`, …), and its ``__cause__`` is torch's own exception. It shows shapes, never the
contents of a tensor (an index out of range is named, as torch does; torch's words are quoted where there are no better
ones).
"""

from simpletorch.errors._border import explain, explained
from simpletorch.errors._fields import Location, Operand
from simpletorch.errors._kinds import (
    BackendError,
    CheckpointError,
    CUDAError,
    DataError,
    DeviceMismatch,
    DTypeMismatch,
    Mismatch,
    NotFinite,
    OutOfMemory,
    ShapeMismatch,
    TorchError,
    TypeMismatch,
    as_also,
)
from simpletorch.errors._nan import detect_nan
from simpletorch.errors._result import Err, Ok, Result, attempt
from simpletorch.errors._text import render

__all__ = [
    "BackendError",
    "CUDAError",
    "CheckpointError",
    "DTypeMismatch",
    "DataError",
    "DeviceMismatch",
    "Err",
    "Location",
    "Mismatch",
    "NotFinite",
    "Ok",
    "Operand",
    "OutOfMemory",
    "Result",
    "ShapeMismatch",
    "TorchError",
    "TypeMismatch",
    "as_also",
    "attempt",
    "detect_nan",
    "explain",
    "explained",
    "render",
]
