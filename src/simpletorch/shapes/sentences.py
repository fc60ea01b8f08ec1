"""Sentences about a value that fails its annotation: in the same words before a program runs and when it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simpletorch.shapes.dim import Dim, Expr, Var, variables
from simpletorch.shapes.shape import Shape
from simpletorch.shapes.unify import is_compound

__all__ = [
    "device_differs",
    "dim_differs",
    "dim_impossible",
    "dtype_differs",
    "place",
    "rank_differs",
    "rest_differs",
    "size_source",
    "source_of",
]


def dim_differs(what: str, size: object, wanted: str, expected: object, source: str) -> str:
    """A size that isn't the wanted one: ``dim 1 of k is 7, but D is 3 from dim 1 of q``.

    Args:
        what: the owner of the size: ``dim 1 of k``, or the name of an int.
        size: the present one.
        wanted: by the annotation: a number, a name or an expression.
        expected: its value in this call.
        source: where that comes from, as `size_source` says it; "" if nowhere.
    """
    if wanted == str(expected):
        return f"{what} is {size}, not {wanted}"
    return f"{what} is {size}, but {wanted} is {expected}" + (f" {source}" if source else "")


def dim_impossible(what: str, size: object, wanted: str) -> str:
    """A size that the annotation can have for no value of its names: ``dim 0 of x is 7, which 2*N can't be``."""
    return f"{what} is {size}, which {wanted} can't be"


def rank_differs(name: str, rank: int, wanted: int, *, or_more: bool) -> str:
    """``q has 3 dims, not 2``"""
    return f"{name} has {rank} dim{'s' * (rank != 1)}, not {wanted}" + (" or more" if or_more else "")


def rest_differs(rest: str, name: str, sizes: Sequence[object], before: Sequence[object]) -> str:
    """``*Batch is (2, 3) in y, but (5, 3) before``"""
    return f"*{rest} is {_tuple(sizes)} in {name}, but {_tuple(before)} before"


def dtype_differs(name: str, dtype: object, wanted: object) -> str:
    """``ids is Float32, but should be Int64``"""
    return f"{name} is {dtype}, but should be {wanted}"


def device_differs(name: str, device: object, wanted: object) -> str:
    """``x is on cpu, but should be on cuda``"""
    return f"{name} is on {device}, but should be on {wanted}"


def size_source(name: str, index: int | None = None) -> str:
    """Where a size comes from: a dim of a tensor, or an int."""
    return f"from {name}" if index is None else f"from dim {index} of {name}"


def source_of(pattern: Dim | None, sources: Mapping[Var, str], sizes: Mapping[Var, Dim]) -> str:
    """Where the size of a pattern comes from, of an expression name by name; "" where that isn't known of all."""
    if not isinstance(pattern, Expr) or not variables(pattern) <= sources.keys():
        return ""
    if not is_compound(pattern):
        (variable,) = variables(pattern)
        return sources[variable]
    named = sorted((str(v), v) for v in variables(pattern))
    return f"({', '.join(f'{name} = {sizes[v]} {sources[v]}' for name, v in named)})"


def place(index: int, shape: Shape) -> int:
    """An index that counts from the end as one from the front, if the number of dims is known."""
    return index % shape.rank if shape.rank else index


def _tuple(sizes: Sequence[object]) -> str:
    return f"({', '.join(map(str, sizes))}{',' * (len(sizes) == 1)})"
