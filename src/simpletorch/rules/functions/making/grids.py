"""Grids and products of vectors: meshgrid, cartesian_prod, combinations."""

from __future__ import annotations

import math

from simpletorch.rules.common.arguments import dim_or_unknown, given_tensors
from simpletorch.rules.common.conditions import need_max_rank, need_rank
from simpletorch.rules.common.dtypes import same_dtype
from simpletorch.rules.core.cards import MAYBE, REPEATED, Card
from simpletorch.rules.core.dtype import DType
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Shape


def _vectors(tensors: tuple[Value, ...]) -> tuple[tuple[TensorType, ...], DType | None]:
    """The vectors and numbers, given one by one or as one list, and their common dtype."""
    found = given_tensors(tensors)
    named = [(f"tensors[{i}]", t) for i, t in enumerate(found)]
    for name, t in named:
        need_max_rank(name, t, 1)
    return found, same_dtype(*named)


def _length(vector: TensorType) -> Dim:
    return 1 if vector.shape.rank == 0 else vector.shape.dim(0) if vector.shape.rank == 1 else UNKNOWN


@rule("torch.meshgrid", "torch.functional.meshgrid", card=Card(MAYBE, REPEATED))
def meshgrid(*tensors: Value, indexing: Value = None) -> tuple[TensorType, ...]:
    """``(n,), (m,), ... -> (n, m, ...), (n, m, ...), ...``; ``indexing="xy"`` exchanges the first two dims"""
    vectors, dtype = _vectors(tensors)
    dims = [_length(v) for v in vectors]
    if indexing == "xy" and len(dims) > 1:
        dims[0], dims[1] = dims[1], dims[0]
    elif not (indexing is None or isinstance(indexing, str)) and len(dims) > 1:
        dims[0] = dims[1] = UNKNOWN
    return tuple(TensorType(Shape(tuple(dims)), v.dtype or dtype) for v in vectors)


@rule("torch.cartesian_prod", "torch.functional.cartesian_prod", card=Card(MAYBE))
def cartesian_prod(*tensors: Value) -> TensorType:
    """``(n,), (m,), ... k of them -> (n*m*..., k)``; ``(n,) -> (n,)``"""
    vectors, dtype = _vectors(tensors)
    for i, v in enumerate(vectors):
        need_rank(f"tensors[{i}]", v, 1)
    if len(vectors) == 1:
        return TensorType(Shape.of(_length(vectors[0])), dtype)
    count: Dim = 1
    for v in vectors:
        count = count * _length(v)
    return TensorType(Shape.of(count, len(vectors)), dtype)


@rule("torch.combinations")
def combinations(input: TensorType, r: Value = 2, with_replacement: Value = False) -> TensorType:
    """``(n,) -> (n choose r, r)``"""
    need_rank("input", input, 1)
    if not isinstance(r, int) or isinstance(r, bool):
        return TensorType(Shape.of(UNKNOWN, dim_or_unknown(r)), input.dtype)
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
