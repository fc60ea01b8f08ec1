"""Grids and products of vectors: meshgrid, cartesian_prod, combinations."""

from __future__ import annotations

import math

from simpletorch.rules.arguments import same_dtype
from simpletorch.rules.dtype import DType
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.registry import rule
from simpletorch.rules.values import ANY_TENSOR, ANYTHING, TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Expr, Shape, Unknown


def _vectors(tensors: tuple[Value, ...], most: int = 1) -> tuple[list[TensorType], DType | None]:
    """The tensors, given one by one or as one list, and their common dtype.

    Raises:
        Mismatch: one has more dims than it may have, or another dtype.
        CannotTell: it isn't known how many there are.
    """
    if len(tensors) == 1 and not isinstance(tensors[0], TensorType):
        if not isinstance(tensors[0], tuple):
            raise CannotTell
        tensors = tensors[0]
    found: list[TensorType] = []
    for i, t in enumerate(tensors):
        vector = ANY_TENSOR if t is ANYTHING else t
        if not isinstance(vector, TensorType):
            raise CannotTell
        if vector.shape.min_rank > most:
            raise Mismatch(f"tensors[{i}] must have at most {most} dim, but it is {vector.shape}", got=vector.shape)
        found.append(vector)
    return found, same_dtype(*((f"tensors[{i}]", t) for i, t in enumerate(found)))


def _length(vector: TensorType) -> Dim:
    return 1 if vector.shape.rank == 0 else vector.shape.dim(0) if vector.shape.rank == 1 else UNKNOWN


@rule("torch.meshgrid", "torch.functional.meshgrid")
def meshgrid(*tensors: Value, indexing: Value = None) -> tuple[TensorType, ...]:
    """``(n,), (m,), ... -> (n, m, ...), (n, m, ...), ...``; ``indexing="xy"`` exchanges the first two dims"""
    vectors, dtype = _vectors(tensors)
    dims = [_length(v) for v in vectors]
    if indexing == "xy" and len(dims) > 1:
        dims[0], dims[1] = dims[1], dims[0]
    elif not (indexing is None or isinstance(indexing, str)) and len(dims) > 1:
        dims[0] = dims[1] = UNKNOWN
    return tuple(TensorType(Shape(tuple(dims)), v.dtype or dtype) for v in vectors)


@rule("torch.cartesian_prod", "torch.functional.cartesian_prod")
def cartesian_prod(*tensors: Value) -> TensorType:
    """``(n,), (m,), ... k of them -> (n*m*..., k)``; ``(n,) -> (n,)``"""
    vectors, dtype = _vectors(tensors)
    for i, v in enumerate(vectors):
        if v.shape.rank == 0:
            raise Mismatch(f"tensors[{i}] must have 1 dim, but it is 0-dim")
    if len(vectors) == 1:
        return TensorType(Shape.of(_length(vectors[0])), dtype)
    count: Dim = 1
    for v in vectors:
        count = count * _length(v)
    return TensorType(Shape.of(count, len(vectors)), dtype)


@rule("torch.combinations")
def combinations(input: TensorType, r: Value = 2, with_replacement: Value = False) -> TensorType:
    """``(n,) -> (n choose r, r)``"""
    if input.shape.min_rank > 1 or input.shape.rank == 0:
        raise Mismatch(f"input must have 1 dim, but it is {input.shape}", got=input.shape)
    if not isinstance(r, int) or isinstance(r, bool):
        size: Dim = r if isinstance(r, Expr | Unknown) else UNKNOWN
        return TensorType(Shape.of(UNKNOWN, size), input.dtype)
    if r == 0:
        return TensorType(Shape.of(0), input.dtype)
    n = _length(input)
    count: Dim = UNKNOWN
    if isinstance(with_replacement, bool):
        first = n + r - 1 if with_replacement else n
        count = _choose(first, r)
    return TensorType(Shape.of(count, r), input.dtype)


def _choose(n: Dim, r: int) -> Dim:
    if isinstance(n, int):
        return math.comb(n, r)
    product: Dim = 1
    for i in range(r):
        product = product * (n - i)
    return product // math.factorial(r)
