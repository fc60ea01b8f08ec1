"""Sparse tensors: nothing is known of one but that it is one, which NumPy's arrays can't be made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import gives, method
from simpletorch.follow.values import Native, Tensor, Unknown, Value
from simpletorch.rules import Report

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["KIND", "of_sparse"]

KIND: Final = "sparse tensor"
_LAYOUTS: Final = ("coo", "csr", "csc", "bsr", "bsc")
_KEEPS: Final = frozenset({
    "coalesce", "clone", "contiguous", "detach", "cpu", "cuda", "to", "float", "double", "half", "t", "transpose",
    "requires_grad_", "pin_memory", *(f"to_sparse_{name}" for name in _LAYOUTS),
})  # fmt: skip

gives(" ".join(f"torch.sparse_{name}_tensor" for name in (*_LAYOUTS, "compressed")), KIND)


@method(Tensor, "to_sparse", *(f"to_sparse_{name}" for name in _LAYOUTS))
def _to_sparse(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.unknown("a sparse tensor", KIND)


def of_sparse(owner: Unknown, name: str) -> Native | None:
    """A method of a sparse tensor of which something is known; None of all others."""
    if name in _KEEPS:
        return Native(f"Tensor.{name}", _to_sparse)
    return Native("Tensor.numpy", _to_numpy) if name == "numpy" else None


def _to_numpy(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.report(Report("numpy", "layout", "a sparse tensor can't become a NumPy array", {}, ".to_dense().numpy()"))
    return run.unknown("an error was found here")
