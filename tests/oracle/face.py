"""Calls of simpletorch's functions that stand for torch's, with what torch gives: for each checker's answer."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Final

import torch

import simpletorch as st
from simpletorch._stub import homes
from simpletorch.rules import TensorType

__all__ = ["SAMPLES", "may_be", "tensors_given"]

SAMPLES: Final = (
    ("a", "a = Tensor.rand(3, 5) / 2"),
    ("a, 1", "a = Tensor.rand(3, 5) / 2"),
    ("a, b", "a, b = Tensor.rand(3, 5) / 2, Tensor.rand(3, 5) / 2"),
    ("a, b", "a, b = Tensor.randn(7, 7), Tensor.randn(7, 7)"),
    ("a", "a = Tensor.randint(0, 5, (3, 7))"),
    ("a, b", "a, b = Tensor.randint(1, 5, (3, 7)), Tensor.randint(1, 5, (3, 7))"),
    ("a, b", "a, b = Tensor.randn(3, 5), Tensor.randint(0, 5, (3,))"),
    ("[a, b]", "a, b = Tensor.rand(3, 5), Tensor.rand(3, 5)"),
    ("a, 2", "a = Tensor.rand(2, 3, 11, 13)"),
    ("a, b, c", "a, b, c = Tensor.rand(3, 5), Tensor.rand(3, 5), Tensor.rand(3, 5)"),
    ("(3, 5)", "a = 1"),
    ("5", "a = 1"),
)
"""Arguments, and the statement that makes them."""

_WRONG: Final = {
    ("adaptive_avg_pool2d", "a, 1"): "torch takes a mean for an output of 1, and doesn't look how many dims there are",
    ("pinv", "a, b"): "the rule reads a tensor of tolerances as a number: it broadcasts with the batch",
}
"""What a rule doesn't know yet."""


def tensors_given(arguments: str, before: str) -> list[tuple[str, torch.Tensor]]:
    """The functions that take such arguments and give a tensor, with the tensors."""
    scope: dict[str, Any] = {"Tensor": st.Tensor, "st": st}
    exec(before, scope)
    found = []
    for name in (name for name, home in homes("simpletorch").items() if home.startswith("torch")):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = eval(f"st.{name}({arguments})", scope)
        except Exception:
            continue  # it doesn't take these
        if isinstance(result, torch.Tensor) and (name, arguments) not in _WRONG:
            found.append((name, result))
    return found


def may_be(known: TensorType, result: torch.Tensor) -> bool:
    """Whether what is known of a tensor is true of this one."""
    items: Sequence[Any] = known.shape.items
    sizes = [i for i in items if isinstance(i, int)]
    fits = not known.shape.is_exact or len(items) == result.ndim
    if known.shape.is_exact and len(sizes) == len(items):
        fits = fits and sizes == list(result.shape)
    return fits and (
        known.dtype is None or not known.dtype.is_concrete or known.dtype.torch_name == str(result.dtype)[6:]
    )
