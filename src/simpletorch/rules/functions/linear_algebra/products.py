"""Products of vectors, matrices and batches of them; `matmul`, `mm` and `linear` are in their own file."""

from __future__ import annotations

from itertools import pairwise, zip_longest

from simpletorch.rules.common.arguments import is_dim, plain, tensor_list
from simpletorch.rules.common.broadcasting import broadcast_shapes, need_expandable
from simpletorch.rules.common.conditions import (
    need_distinct,
    need_equal,
    need_float_or_complex,
    need_rank,
    need_same_rank,
    need_same_shape,
    need_size,
    unequal,
)
from simpletorch.rules.common.dtypes import result_dtype, same_dtype
from simpletorch.rules.common.positions import item_at, locate, one_rest, size_at, without
from simpletorch.rules.common.reduced import reduced
from simpletorch.rules.core.cards import OTHERS, Card
from simpletorch.rules.core.dtype import promote_all
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Dim, Shape, equal

# -- matrices --------------------------------------------------------------------------------------------------------


def _batched(first: str, a: TensorType, second: str, b: TensorType) -> Shape:
    need_rank(first, a, 3)
    need_rank(second, b, 3)
    (batch, n, k), (other_batch, other_k, m) = a.shape.last(3), b.shape.last(3)
    size = need_equal(first, batch, second, other_batch, what="the batch dims")
    need_equal(first, k, second, other_k, what="the inner dims")
    return Shape.of(size, n, m)


@rule("torch.bmm", "Tensor.bmm", card=Card(saves=OTHERS))
def bmm(input: TensorType, mat2: TensorType, out_dtype: Value = None) -> TensorType:
    """``(b, n, k) @ (b, k, m) -> (b, n, m)``"""
    shape = _batched("input", input, "mat2", mat2)
    dtype = same_dtype(("input", input), ("mat2", mat2))
    return TensorType(shape, dtype if out_dtype is None else None)


def _baddbmm(input: TensorType, batch1: TensorType, batch2: TensorType) -> TensorType:
    shape = _batched("batch1", batch1, "batch2", batch2)
    need_expandable("input", input.shape, shape, "the product")
    return TensorType(shape, same_dtype(("input", input), ("batch1", batch1), ("batch2", batch2)))


@rule("torch.baddbmm", "Tensor.baddbmm")
def baddbmm(
    input: TensorType,
    batch1: TensorType,
    batch2: TensorType,
    out_dtype: Value = None,
    *,
    beta: Value = 1,
    alpha: Value = 1,
) -> TensorType:
    """``(b, n, m) + (b, n, k) @ (b, k, m) -> (b, n, m)``"""
    found = _baddbmm(input, batch1, batch2)
    return found if out_dtype is None else found.with_dtype(None)


@rule("Tensor.baddbmm_")
def baddbmm_(
    input: TensorType, batch1: TensorType, batch2: TensorType, *, beta: Value = 1, alpha: Value = 1
) -> TensorType:
    """``(b, n, m) += (b, n, k) @ (b, k, m)``"""
    found = _baddbmm(input, batch1, batch2)
    need_same_shape("input", input.shape, "the product", found.shape)
    return found


@rule("torch.addbmm", "Tensor.addbmm", "Tensor.addbmm_")
def addbmm(
    input: TensorType, batch1: TensorType, batch2: TensorType, *, beta: Value = 1, alpha: Value = 1
) -> TensorType:
    """``(n, m) + sum of (b, n, k) @ (b, k, m) -> (n, m)``"""
    _, n, m = _batched("batch1", batch1, "batch2", batch2).dims
    need_expandable("input", input.shape, Shape.of(n, m), "the product")
    return TensorType(Shape.of(n, m), same_dtype(("input", input), ("batch1", batch1), ("batch2", batch2)))


def _addmm(input: TensorType, mat1: TensorType, mat2: TensorType) -> TensorType:
    need_rank("mat1", mat1, 2)
    need_rank("mat2", mat2, 2)
    need_equal("mat1", mat1.shape.dim(-1), "mat2", mat2.shape.dim(-2), what="the inner dims")
    shape = Shape.of(mat1.shape.dim(-2), mat2.shape.dim(-1))
    need_expandable("input", input.shape, shape, "the product")
    return TensorType(shape, same_dtype(("input", input), ("mat1", mat1), ("mat2", mat2)))


@rule("torch.addmm", "Tensor.addmm")
def addmm(
    input: TensorType,
    mat1: TensorType,
    mat2: TensorType,
    out_dtype: Value = None,
    *,
    beta: Value = 1,
    alpha: Value = 1,
) -> TensorType:
    """``(n, m) + (n, k) @ (k, m) -> (n, m)``"""
    found = _addmm(input, mat1, mat2)
    return found if out_dtype is None else found.with_dtype(None)


@rule("Tensor.addmm_")
def addmm_(input: TensorType, mat1: TensorType, mat2: TensorType, *, beta: Value = 1, alpha: Value = 1) -> TensorType:
    """``(n, m) += (n, k) @ (k, m)``"""
    found = _addmm(input, mat1, mat2)
    need_same_shape("input", input.shape, "the product", found.shape)
    return found


def _mv(matrix: str, mat: TensorType, vec: TensorType) -> Shape:
    need_rank(matrix, mat, 2)
    need_rank("vec", vec, 1)
    need_equal(matrix, mat.shape.dim(-1), "vec", vec.shape.dim(-1), what="the inner dims")
    return Shape.of(mat.shape.dim(-2))


@rule("torch.mv", "Tensor.mv")
def mv(input: TensorType, vec: TensorType) -> TensorType:
    """``(n, k) @ (k,) -> (n,)``"""
    return TensorType(_mv("input", input, vec), same_dtype(("input", input), ("vec", vec)))


@rule("torch.addmv", "Tensor.addmv")
def addmv(input: TensorType, mat: TensorType, vec: TensorType, *, beta: Value = 1, alpha: Value = 1) -> TensorType:
    """``(n,) + (n, k) @ (k,) -> (n,)``"""
    shape = _mv("mat", mat, vec)
    need_expandable("input", input.shape, shape, "the product")
    return TensorType(shape, same_dtype(("input", input), ("mat", mat), ("vec", vec)))


@rule("Tensor.addmv_", "torch.addmv_")
def addmv_(input: TensorType, mat: TensorType, vec: TensorType, *, beta: Value = 1, alpha: Value = 1) -> TensorType:
    """``(n,) += (n, k) @ (k,)``"""
    found = addmv(input, mat, vec)
    need_same_shape("input", input.shape, "the product", found.shape)
    return found


# -- vectors ---------------------------------------------------------------------------------------------------------


def _dot(left: str, a: TensorType, right: str, b: TensorType) -> TensorType:
    need_rank(left, a, 1)
    need_rank(right, b, 1)
    need_equal(left, a.shape.dim(-1), right, b.shape.dim(-1), what="the sizes")
    return TensorType(Shape(()), same_dtype((left, a), (right, b)))


@rule("torch.dot", "Tensor.dot")
def dot(input: TensorType, tensor: TensorType) -> TensorType:
    """``(n,), (n,) -> ()``"""
    return _dot("input", input, "tensor", tensor)


@rule("torch.vdot", "Tensor.vdot")
def vdot(input: TensorType, other: TensorType) -> TensorType:
    """``(n,), (n,) -> ()``"""
    return _dot("input", input, "other", other)


@rule("torch.outer", "Tensor.outer", "torch.ger", "Tensor.ger")
def outer(input: TensorType, vec2: TensorType) -> TensorType:
    """``(n,), (m,) -> (n, m)``"""
    need_rank("input", input, 1)
    need_rank("vec2", vec2, 1)
    return TensorType(Shape.of(input.shape.dim(-1), vec2.shape.dim(-1)), result_dtype(input, vec2))


def _addr(input: TensorType, vec1: TensorType, vec2: TensorType) -> TensorType:
    need_rank("vec1", vec1, 1)
    need_rank("vec2", vec2, 1)
    shape = Shape.of(vec1.shape.dim(-1), vec2.shape.dim(-1))
    need_expandable("input", input.shape, shape, "the outer product")
    return TensorType(shape, promote_all((input.dtype, vec1.dtype, vec2.dtype)))


@rule("torch.addr", "Tensor.addr")
def addr(input: TensorType, vec1: TensorType, vec2: TensorType, *, beta: Value = 1, alpha: Value = 1) -> TensorType:
    """``(n, m) + outer of (n,), (m,) -> (n, m)``"""
    return _addr(input, vec1, vec2)


@rule("Tensor.addr_")
def addr_(input: TensorType, vec1: TensorType, vec2: TensorType, *, beta: Value = 1, alpha: Value = 1) -> TensorType:
    """``(n, m) += outer of (n,), (m,)``"""
    found = _addr(input, vec1, vec2)
    need_same_shape("input", input.shape, "the outer product", found.shape)
    own, wanted = input.dtype, found.dtype
    if own is not None and wanted is not None and (own.order or 0) < (wanted.order or 0) and own.category is not None:
        raise Mismatch(f"the result is {wanted}, but input is {own} and is changed in place", kind="dtype", got=wanted)
    return TensorType(found.shape, input.dtype)


@rule("torch.inner", "Tensor.inner")
def inner(input: TensorType, other: TensorType) -> TensorType:
    """``(*a, n), (*b, n) -> (*a, *b)``; a 0-dim side multiplies"""
    if 0 in (input.shape.rank, other.shape.rank):
        shape = input.shape if other.shape.rank == 0 else other.shape
        return TensorType(shape, result_dtype(input, other))
    if 0 in (input.shape.min_rank, other.shape.min_rank):
        return TensorType(ANY_SHAPE, input.dtype if input.dtype == other.dtype else None)
    need_equal("input", input.shape.dim(-1), "other", other.shape.dim(-1), what="the last dims")
    dtype = same_dtype(("input", input), ("other", other))
    return TensorType(one_rest((*input.shape.drop_last(1).items, *other.shape.drop_last(1).items)), dtype)


@rule("torch.linalg.vecdot")
def vecdot(x: TensorType, y: TensorType, *, dim: Value = -1) -> TensorType:
    """``(*b, n), (*b, n) -> (*b)``; floating or complex only"""
    need_float_or_complex("x", x)
    need_float_or_complex("y", y)
    dtype = same_dtype(("x", x), ("y", y))
    # of two vectors torch takes `dot`, which broadcasts nothing
    if x.shape.rank == y.shape.rank == 1:
        need_equal("x", x.shape.dim(0), "y", y.shape.dim(0), what="the sizes")
    shape = broadcast_shapes(("x", x.shape), ("y", y.shape))
    return TensorType(reduced(shape, dim), dtype)


# -- cross, kron, chains -----------------------------------------------------------------------------------------------


def _cross(a: TensorType, b: TensorType, dim: Value, names: tuple[str, str]) -> TensorType:
    left, right = names
    need_same_rank(left, a.shape, right, b.shape)
    for name, tensor in ((left, a), (right, b)):
        size = size_at(tensor.shape, dim) if tensor.shape.rank != 0 else UNKNOWN
        need_size(f"dim {plain(dim)} of {name} is", size, "it must be", 3)
    shape = broadcast_shapes((left, a.shape), (right, b.shape))
    return TensorType(shape, same_dtype((left, a), (right, b)))


@rule("torch.linalg.cross")
def linalg_cross(input: TensorType, other: TensorType, *, dim: Value = -1) -> TensorType:
    """``(*b, 3), (*b, 3) -> (*b, 3)``"""
    return _cross(input, other, dim, ("input", "other"))


@rule("torch.cross", "Tensor.cross")
def cross(input: TensorType, other: TensorType, dim: Value = None) -> TensorType:
    """``(*b, 3), (*b, 3) -> (*b, 3)``; without a dim the first of size 3"""
    if dim is None and input.shape.is_exact:
        verdicts = [equal(d, 3) for d in input.shape.dims]
        if all(v is False for v in verdicts):
            raise Mismatch(f"no dim of input {input.shape} has size 3", expected=3)
        first = next((i for i, v in enumerate(verdicts) if v), None)
        dim = ANYTHING if first is None or None in verdicts[:first] else first
    return _cross(input, other, ANYTHING if dim is None else dim, ("input", "other"))


@rule("torch.kron", "Tensor.kron")
def kron(input: TensorType, other: TensorType) -> TensorType:
    """``(n, m), (p, q) -> (n*p, m*q)``; missing dims on the left count as 1"""
    a, b = input.shape, other.shape
    pairs = list(zip_longest(reversed(a.tail), reversed(b.tail)))
    dims: list[Dim] = []
    for x, y in pairs:
        if (x is None and not a.is_exact) or (y is None and not b.is_exact):
            break
        dims.insert(0, (1 if x is None else x) * (1 if y is None else y))
    exact = a.is_exact and b.is_exact
    return TensorType(Shape(tuple(dims) if exact else (ANY_REST, *dims)), result_dtype(input, other))


def _chain(operands: tuple[TensorType, ...], vectors: bool) -> TensorType:
    """The product of matrices; with ``vectors`` the first and the last may have one dim."""
    names = [f"tensors[{i}]" for i in range(len(operands))]
    for i, t in enumerate(operands):
        need_rank(names[i], t, *((1, 2) if vectors and i in (0, len(operands) - 1) else (2,)))
    for i, (a, b) in enumerate(pairwise(operands)):
        rows = b.shape.dim(0) if b.shape.rank == 1 else b.shape.dim(-2) if b.shape.min_rank > 1 else None
        if rows is not None:
            need_equal(names[i], a.shape.dim(-1), names[i + 1], rows, what="the inner dims")
    dtype = same_dtype(*zip(names, operands, strict=True))
    first, last = operands[0].shape, operands[-1].shape
    left = first.drop_last(1) if first.is_exact or vectors else Shape.of(first.dim(-2))
    if last.is_exact or not vectors:
        right = Shape.of(last.dim(-1)) if last.rank != 1 else Shape(())
        return TensorType(one_rest((*left.items, *right.items)), dtype)
    return TensorType(ANY_SHAPE, dtype)


@rule("torch.linalg.multi_dot")
def multi_dot(tensors: Value) -> TensorType:
    """``(n, k), (k, l), (l, m) -> (n, m)``; the first and the last may be vectors"""
    operands = tensor_list(tensors)
    if len(operands) < 2:
        raise Mismatch(f"at least 2 tensors are needed, but there is {len(operands)}", got=len(operands))
    return _chain(operands, vectors=True)


@rule("torch.chain_matmul")
def chain_matmul(*matrices: Value) -> TensorType:
    """``(n, k), (k, l), (l, m) -> (n, m)``"""
    operands = tensor_list(matrices[0] if len(matrices) == 1 and isinstance(matrices[0], tuple) else matrices)
    if len(operands) == 1:
        need_rank("tensor 0", operands[0], 2)
        return operands[0]
    return _chain(operands, vectors=False)


# -- tensordot ---------------------------------------------------------------------------------------------------------


def _contracted(a: Shape, b: Shape, dims: Value) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """The dims of both sides that are summed over, pairwise."""
    if isinstance(dims, int) and not isinstance(dims, bool):
        for name, shape in (("a", a), ("b", b)):
            if dims < 0 or (shape.rank is not None and dims > shape.rank):
                raise Mismatch(f"dims={dims} are more than {name} {shape} has", got=dims)
        return tuple(range(-dims, 0)), tuple(range(dims))
    if not isinstance(dims, tuple) or len(dims) != 2 or is_dim(dims[0]) or is_dim(dims[1]):
        raise CannotTell
    left, right = dims
    if not isinstance(left, tuple) or not isinstance(right, tuple):
        raise CannotTell
    if len(left) != len(right):
        raise Mismatch(f"dims names {len(left)} of a, but {len(right)} of b", expected=len(left), got=len(right))
    for name, shape in (("a", a), ("b", b)):
        if left and shape.rank == 0:
            raise Mismatch(f"dims names {len(left)} of {name}, which has no dims", got=len(left))
    return left, right


@rule("torch.tensordot")
def tensordot(a: TensorType, b: TensorType, dims: Value = 2) -> TensorType:
    """``(*n, *k), (*k, *m) -> (*n, *m)`` with ``dims`` dims in k, or the pairs that ``dims`` names"""
    dtype = same_dtype(("a", a), ("b", b))
    left, right = _contracted(a.shape, b.shape, dims)
    try:
        (x, i_found), (y, j_found) = locate(a.shape, *left), locate(b.shape, *right)
    except CannotTell:
        return TensorType(ANY_SHAPE, dtype)
    need_distinct("dim", left, i_found)
    need_distinct("dim", right, j_found)
    for i, j in zip(i_found, j_found, strict=True):
        m, n = item_at(x, i), item_at(y, j)
        if 1 not in (m, n) and equal(m, n) is False:
            raise Mismatch(
                f"the contracted dims differ: a has {m} at dim {i}, b has {n} at dim {j}{unequal(m, n)}",
                expected=m,
                got=n,
            )
    return TensorType(one_rest((*without(x, i_found).items, *without(y, j_found).items)), dtype)


__all__ = [
    "addbmm",
    "addmm",
    "addmm_",
    "addmv",
    "addmv_",
    "addr",
    "addr_",
    "baddbmm",
    "baddbmm_",
    "bmm",
    "chain_matmul",
    "cross",
    "dot",
    "inner",
    "kron",
    "linalg_cross",
    "multi_dot",
    "mv",
    "outer",
    "tensordot",
    "vdot",
    "vecdot",
]
