"""Distances and similarities of vectors."""

from __future__ import annotations

from simpletorch.rules.arguments import axis, broadcast_shapes, float_dtype, replace_dim, result_dtype
from simpletorch.rules.dtype import DType, to_real
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.registry import ModuleRule, module, record, rule
from simpletorch.rules.spatial import need_ranks
from simpletorch.rules.values import TensorType, Value
from simpletorch.shapes import ANY_SHAPE, Shape


@rule("torch.nn.functional.cosine_similarity", "torch.cosine_similarity")
def cosine_similarity(x1: TensorType, x2: TensorType, dim: Value = 1, eps: Value = 1e-08) -> TensorType:
    """``(*a, n, *b), (*a, n, *b) -> (*a, *b)``, broadcast"""
    dtype = result_dtype(x1, x2)
    if dtype is not None and dtype.category in ("bool", "int", "complex"):
        raise Mismatch(f"x1 is {x1.dtype} and x2 is {x2.dtype}; they must be floats", kind="dtype", got=dtype)
    shape = broadcast_shapes(("x1", x1.shape), ("x2", x2.shape))
    try:
        at = axis(dim, shape)
    except CannotTell:
        return TensorType(ANY_SHAPE, dtype)
    return TensorType(replace_dim(shape, at) if shape.items else shape, dtype)


def _norm_dtype(*operands: TensorType) -> DType | None:
    found = float_dtype(*operands)
    return None if found is None else to_real(found)


@rule("torch.nn.functional.pairwise_distance", "torch.pairwise_distance")
def pairwise_distance(
    x1: TensorType, x2: TensorType, p: Value = 2.0, eps: Value = 1e-06, keepdim: Value = False
) -> TensorType:
    """``(*b, n), (*b, n) -> (*b)``, broadcast"""
    for name, x in (("x1", x1), ("x2", x2)):
        if x.dtype is not None and x.dtype.category == "bool":
            raise Mismatch(f"{name} is {x.dtype}, and bools can't be subtracted", kind="dtype", hint=f"{name}.float()")
    shape = broadcast_shapes(("x1", x1.shape), ("x2", x2.shape))
    dtype = _norm_dtype(x1, x2)
    if not isinstance(keepdim, bool):
        return TensorType(ANY_SHAPE, dtype)
    if shape.items == ():
        return TensorType(shape, dtype)
    return TensorType(Shape((*shape.drop_last(1).items, *((1,) if keepdim else ()))), dtype)


@rule("torch.nn.functional.pdist", "torch.pdist")
def pdist(input: TensorType, p: Value = 2.0) -> TensorType:
    """``(n, d) -> (n*(n - 1)//2,)``"""
    need_ranks("input", input.shape, 2)
    if input.dtype is not None and input.dtype.category in ("bool", "int", "complex"):
        raise Mismatch(f"input is {input.dtype}, but it must be a float", kind="dtype", got=input.dtype)
    n = input.shape.dim(-2)
    return TensorType(Shape.of(n * (n - 1) // 2), input.dtype)


@module("torch.nn.CosineSimilarity")
@record
class CosineSimilarity(ModuleRule):
    """``(*a, n, *b), (*a, n, *b) -> (*a, *b)``, broadcast"""

    dim: Value = 1

    def forward(self, x1: TensorType, x2: TensorType) -> TensorType:  # type: ignore[override]  # its own operands
        return cosine_similarity(x1, x2, self.dim)


@module("torch.nn.PairwiseDistance")
@record
class PairwiseDistance(ModuleRule):
    """``(*b, n), (*b, n) -> (*b)``, broadcast"""

    keepdim: Value = False

    def forward(self, x1: TensorType, x2: TensorType) -> TensorType:  # type: ignore[override]  # its own operands
        return pairwise_distance(x1, x2, keepdim=self.keepdim)


__all__ = ["CosineSimilarity", "PairwiseDistance", "cosine_similarity", "pairwise_distance", "pdist"]
