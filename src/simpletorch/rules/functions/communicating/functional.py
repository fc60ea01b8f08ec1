"""Collectives that give new tensors: functional ones, those with gradients (`torch.distributed.nn`), and ours."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dim_or_unknown, is_dim, tensor_list
from simpletorch.rules.common.positions import item_at, position, replaced, shaped, unknown_dims
from simpletorch.rules.common.processes import need_count, need_divisible_by, world_size
from simpletorch.rules.core.mismatch import CannotTell
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, Many, TensorType, Value
from simpletorch.rules.functions.communicating.collectives import need_list, need_pieces
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim

__all__: list[str] = []

_OURS = "simpletorch.distributed"
_FUNCTIONAL = "torch.distributed._functional_collectives"
_WITH_GRADIENTS = "torch.distributed.nn.functional"


# -- along a dim -------------------------------------------------------------------------------------------------------


def _joined(x: TensorType, dim: Value, world: Dim, name: str) -> TensorType:
    try:
        shape, at = position(dim, x.shape, name=name)
    except CannotTell:
        return shaped(x, unknown_dims(x.shape))
    return shaped(x, replaced(shape, at, item_at(shape, at) * world))


def _cut(x: TensorType, dim: Value, world: Dim, name: str) -> TensorType:
    try:
        shape, at = position(dim, x.shape, name=name)
    except CannotTell:
        return shaped(x, unknown_dims(x.shape))
    size = item_at(shape, at)
    need_divisible_by(f"dim {at} of {x.shape}", size, world)
    return shaped(x, replaced(shape, at, size // world))


@rule(f"{_OURS}.all_gather")
def all_gather(x: TensorType, dim: Value = 0, *, group: Value = None) -> Value:
    """``(*a, n, *b) -> (*a, w*n, *b)``, of w processes"""
    return _joined(x, dim, world_size(group), "dim")


@rule(f"{_OURS}.gather")
def gather(x: TensorType, dst: Value = 0, dim: Value = 0, *, group: Value = None) -> Value:
    """``(*a, n, *b) -> (*a, w*n, *b)`` at one of w processes, None at the others"""
    _joined(x, dim, world_size(group), "dim")
    return ANYTHING


@rule(f"{_OURS}.reduce_scatter")
def reduce_scatter(x: TensorType, op: Value = ANYTHING, dim: Value = 0, *, group: Value = None) -> Value:
    """``(*a, n, *b) -> (*a, n/w, *b)``, of w processes"""
    return _cut(x, dim, world_size(group), "dim")


@rule(f"{_OURS}.scatter")
def scatter(x: TensorType, src: Value = 0, dim: Value = 0, *, group: Value = None) -> Value:
    """``(*a, n, *b) -> (*a, n/w, *b)``, of w processes"""
    return _cut(x, dim, world_size(group), "dim")


@rule(f"{_OURS}.all_to_all")
def all_to_all(x: TensorType, dim: Value = 0, *, group: Value = None) -> Value:
    """``(*a, n, *b) -> (*a, n, *b)``, where n is a multiple of the number of processes"""
    _cut(x, dim, world_size(group), "dim")
    return x


@rule(f"{_OURS}.all_reduce", f"{_OURS}.broadcast")
def all_reduce(x: TensorType, op: Value = ANYTHING, *, src: Value = 0, group: Value = None) -> Value:
    """``(*s) -> (*s)``"""
    return x


@rule(*(f"{_FUNCTIONAL}.all_gather_{kind}{also}" for kind in ("tensor", "single") for also in ("", "_autograd")))
def all_gather_tensor(self: TensorType, gather_dim: Value, group: Value = None, tag: Value = "") -> Value:
    """``(*a, n, *b) -> (*a, w*n, *b)``, of w processes"""
    return _joined(self, gather_dim, world_size(group), "gather_dim")


@rule(*(f"{_FUNCTIONAL}.reduce_scatter_{kind}{also}" for kind in ("tensor", "single") for also in ("", "_autograd")))
def reduce_scatter_tensor(
    self: TensorType, reduceOp: Value, scatter_dim: Value, group: Value = None, tag: Value = ""
) -> Value:
    """``(*a, n, *b) -> (*a, n/w, *b)``, of w processes"""
    return _cut(self, scatter_dim, world_size(group), "scatter_dim")


# -- of the same shape -------------------------------------------------------------------------------------------------


@rule(f"{_FUNCTIONAL}.all_reduce")
def functional_all_reduce(self: TensorType, reduceOp: Value, group: Value = None, tag: Value = "") -> Value:
    """``(*s) -> (*s)``"""
    return self


@rule(f"{_FUNCTIONAL}.broadcast")
def functional_broadcast(self: TensorType, src: Value, group: Value = None, tag: Value = "") -> Value:
    """``(*s) -> (*s)``"""
    return self


@rule(f"{_FUNCTIONAL}.permute_tensor")
def permute_tensor(self: TensorType, src_dst: Value, group: Value = None, tag: Value = "") -> Value:
    """``(*s) -> (*s)``"""
    return self


@rule(f"{_FUNCTIONAL}.wait_tensor")
def wait_tensor(tensor: TensorType) -> Value:
    """``(*s) -> (*s)``"""
    return tensor


@rule(f"{_WITH_GRADIENTS}.all_reduce")
def all_reduce_with_gradient(tensor: TensorType, op: Value = ANYTHING, group: Value = None) -> Value:
    """``(*s) -> (*s)``"""
    return tensor


@rule(f"{_WITH_GRADIENTS}.broadcast")
def broadcast_with_gradient(tensor: TensorType, src: Value, group: Value = None) -> Value:
    """``(*s) -> (*s)``"""
    return tensor


@rule(f"{_WITH_GRADIENTS}.reduce")
def reduce_with_gradient(tensor: TensorType, dst: Value, op: Value = ANYTHING, group: Value = None) -> Value:
    """``(*s) -> (*s)``"""
    return tensor


# -- several tensors ---------------------------------------------------------------------------------------------------


def _each(tensor: TensorType, world: Dim) -> Value:
    """One tensor of this kind from each process."""
    return (tensor,) * world if isinstance(world, int) else Many(tensor)


@rule(f"{_WITH_GRADIENTS}.all_gather")
def all_gather_with_gradient(tensor: TensorType, group: Value = None) -> Value:
    """``(*s)`` -> w times ``(*s)``, of w processes"""
    return _each(tensor, world_size(group))


@rule(f"{_WITH_GRADIENTS}.gather")
def gather_with_gradient(tensor: TensorType, dst: Value = 0, group: Value = None) -> Value:
    """``(*s)`` -> w times ``(*s)``, of w processes"""
    return _each(tensor, world_size(group))


@rule(f"{_WITH_GRADIENTS}.scatter")
def scatter_with_gradient(tensors: Value, src: Value = 0, group: Value = None) -> Value:
    """w times ``(*s) -> (*s)``, of w processes"""
    found = tensor_list(tensors)
    if not found:
        raise CannotTell
    need_count("tensors", len(found), world_size(group))
    return found[0]


@rule(f"{_WITH_GRADIENTS}.reduce_scatter")
def reduce_scatter_with_gradient(
    output: TensorType, input_list: Value, op: Value = ANYTHING, group: Value = None
) -> Value:
    """``(*s)``, w times ``(*s) -> (*s)``, of w processes"""
    need_list("input_list", input_list, "output", output, group)
    return output


@rule(f"{_WITH_GRADIENTS}.all_to_all_single")
def all_to_all_single_with_gradient(
    output: TensorType,
    input: TensorType,
    output_split_sizes: Value = None,
    input_split_sizes: Value = None,
    group: Value = None,
) -> Value:
    """``(n, *s), (m, *s) -> (n, *s)``"""
    need_pieces(output, input, output_split_sizes, input_split_sizes, group)
    return output


@rule(f"{_FUNCTIONAL}.all_to_all_single", f"{_FUNCTIONAL}.all_to_all_single_autograd")
def functional_all_to_all_single(
    self: TensorType, output_split_sizes: Value, input_split_sizes: Value, group: Value = None, tag: Value = ""
) -> Value:
    """``(m, *s) -> (n, *s)``, n the sum of output_split_sizes; m without them"""
    if output_split_sizes is None:
        return self
    if self.shape.min_rank == 0:
        return shaped(self, ANY_SHAPE)
    if not isinstance(output_split_sizes, tuple) or not all(map(is_dim, output_split_sizes)):
        return shaped(self, replaced(self.shape, 0, UNKNOWN)) if self.shape.is_exact else shaped(self, ANY_SHAPE)
    need_count("output_split_sizes", len(output_split_sizes), world_size(group))
    total: Dim = sum(map(dim_or_unknown, output_split_sizes))
    shape, at = position(0, self.shape)
    return shaped(self, replaced(shape, at, total))
