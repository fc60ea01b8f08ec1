"""`torch.distributed`'s collectives, which write into tensors that the caller has made.

They answer what isn't known: None, or a handle where ``async_op`` is set.
"""

from __future__ import annotations

from simpletorch.rules.common.arguments import is_dim, tensor_list
from simpletorch.rules.common.processes import (
    need_count,
    need_some_fit,
    need_times,
    need_transfer_dtype,
    world_size,
)
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, Many, TensorType, Value
from simpletorch.shapes import Dim, equal

__all__ = ["need_list", "need_pieces"]

_DIST = "torch.distributed"


@rule(f"{_DIST}.all_gather_into_tensor", f"{_DIST}.all_gather_single", moves=True)
def all_gather_into_tensor(
    output_tensor: TensorType, input_tensor: TensorType, group: Value = None, async_op: Value = False
) -> Value:
    """``(w*n, *s) <- (n, *s)`` of each of w processes"""
    need_transfer_dtype("output_tensor", output_tensor, "input_tensor", input_tensor)
    need_times("output_tensor", output_tensor.shape, "input_tensor", input_tensor.shape, world_size(group))
    return ANYTHING


@rule(f"{_DIST}.reduce_scatter_tensor", f"{_DIST}.reduce_scatter_single", moves=True)
def reduce_scatter_tensor(
    output: TensorType, input: TensorType, op: Value = ANYTHING, group: Value = None, async_op: Value = False
) -> Value:
    """``(n, *s) <- (w*n, *s)`` of each of w processes"""
    need_transfer_dtype("output", output, "input", input)
    need_times("input", input.shape, "output", output.shape, world_size(group))
    return ANYTHING


@rule(f"{_DIST}.all_gather", moves=True)
def all_gather(tensor_list: Value, tensor: TensorType, group: Value = None, async_op: Value = False) -> Value:
    """w times ``(*s) <- (*s)`` of each of w processes"""
    need_list("tensor_list", tensor_list, "tensor", tensor, group)
    return ANYTHING


@rule(f"{_DIST}.gather", moves=True)
def gather(
    tensor: TensorType,
    gather_list: Value = None,
    dst: Value = None,
    group: Value = None,
    async_op: Value = False,
    group_dst: Value = None,
) -> Value:
    """w times ``(*s)`` at one process ``<- (*s)`` of each of w processes"""
    need_list("gather_list", gather_list, "tensor", tensor, group)
    return ANYTHING


@rule(f"{_DIST}.scatter", moves=True)
def scatter(
    tensor: TensorType,
    scatter_list: Value = None,
    src: Value = None,
    group: Value = None,
    async_op: Value = False,
    group_src: Value = None,
) -> Value:
    """``(*s)`` at each of w processes <- w times ``(*s)`` of one process"""
    need_list("scatter_list", scatter_list, "tensor", tensor, group)
    return ANYTHING


@rule(f"{_DIST}.reduce_scatter", moves=True)
def reduce_scatter(
    output: TensorType, input_list: Value, op: Value = ANYTHING, group: Value = None, async_op: Value = False
) -> Value:
    """``(*s)`` <- w times ``(*s)`` of each of w processes"""
    need_list("input_list", input_list, "output", output, group)
    return ANYTHING


def need_list(name: str, entries: Value, own: str, tensor: TensorType, group: Value) -> None:
    """One entry for each process; processes that neither send nor get any give None or an empty list."""
    if isinstance(entries, Many):
        need_some_fit(name, (entries.item,), own, tensor)
        return
    try:
        found = tensor_list(entries)
    except CannotTell:
        return
    if found:
        need_count(name, len(found), world_size(group))
        need_some_fit(name, found, own, tensor)


@rule(f"{_DIST}.all_to_all_single", moves=True)
def all_to_all_single(
    output: TensorType,
    input: TensorType,
    output_split_sizes: Value = None,
    input_split_sizes: Value = None,
    group: Value = None,
    async_op: Value = False,
) -> Value:
    """``(n, *s) <- (m, *s)`` of each process, cut along the first dim"""
    need_pieces(output, input, output_split_sizes, input_split_sizes, group)
    return ANYTHING


def need_pieces(output: TensorType, input: TensorType, received: Value, sent: Value, group: Value) -> None:
    """Check the pieces that one process sends and receives: of the given sizes, or equally large ones."""
    need_transfer_dtype("output", output, "input", input)
    world = world_size(group)
    if not _is_cut("output", output, received, world) | _is_cut("input", input, sent, world):
        have, wanted = output.shape.numel(), input.shape.numel()
        if equal(have, wanted) is False:
            raise Mismatch(
                f"output has {have} elements, but input has {wanted}; without split sizes they are equally large",
                expected=wanted,
                got=have,
            )


def _is_cut(name: str, tensor: TensorType, split_sizes: Value, world: Dim) -> bool:
    """Whether pieces of their own sizes are sent, which must be those of the tensor; else all are equally large."""
    if split_sizes is None or split_sizes == ():
        return False  # NCCL wants a size that the processes can share, gloo takes any
    if isinstance(split_sizes, tuple) and all(map(is_dim, split_sizes)):
        need_count(f"{name}_split_sizes", len(split_sizes), world)
        total: Dim = sum(split_sizes)  # type: ignore[arg-type]
        if tensor.shape.min_rank and equal(total, tensor.shape.dim(0)) is False:
            raise Mismatch(
                f"{name}_split_sizes make {total}, but the first dim of {name} is {tensor.shape.dim(0)}",
                expected=tensor.shape.dim(0),
                got=total,
            )
    return True
