"""Collective operations on tensors: every process calls the same one, in the same order.

Each takes a tensor and gives a new one, without gradient; its argument stays as it is. ``W`` is the number of
processes; alone, it is 1. Shapes and dtypes are the same on every rank. Waiting is bounded by the time-out of `init`.
After it, or when a process has ended, a `BackendError` names the ranks that didn't take part and the last activity of
each.

Source: https://docs.pytorch.org/docs/stable/distributed.html#collective-functions
"""

from __future__ import annotations

from typing import TypeAlias

import torch
import torch.distributed as dist

from simpletorch.distributed._failures import agree, during
from simpletorch.distributed._group import has_group, rank, world_size
from simpletorch.errors import ShapeMismatch, TorchError, as_also

__all__ = ["ReduceOp", "all_gather", "all_reduce", "all_to_all", "broadcast", "gather", "reduce_scatter", "scatter"]

ReduceOp: TypeAlias = dist.ReduceOp
"""How values of the same place are put together: ``SUM``, ``AVG``, ``MAX``, ``MIN``, ``PRODUCT``, …"""

_Op: TypeAlias = dist.ReduceOp | dist.ReduceOp.RedOpType
_Wrong = as_also(TorchError, ValueError)


def all_reduce(x: torch.Tensor, op: _Op = dist.ReduceOp.SUM) -> torch.Tensor:
    """``[*S] -> [*S]``: the sum (or ``op``) over all processes, in all of them; of the same dtype.

    Args:
        x: this process's tensor, of the same shape and dtype in all; it isn't changed.
        op: the reduction, such as ``ReduceOp.MAX``.

    Raises:
        BackendError: a process didn't take part, or ran another collective.

    Examples:
        >>> import torch
        >>> from simpletorch import distributed
        >>> distributed.all_reduce(torch.ones(3))
        tensor([1., 1., 1.])
    """
    result = _own(x)
    if has_group():
        agree("all_reduce", x, f", {_name(op)}")
        with during("all_reduce", x):
            dist.all_reduce(result, _possible(op))
        result = _finished(result, op)
    return result


def all_gather(x: torch.Tensor, dim: int = 0) -> torch.Tensor:
    """``[*A, n, *B] -> [*A, n·W, *B]``: the tensors of all processes along ``dim``, in the order of ranks, in all.

    Args:
        x: this process's tensor, of the same shape and dtype in all.
        dim: the dim to join along; negative ones count from the end.

    Raises:
        ShapeMismatch: ``x`` is 0-d, or has no such dim.
        BackendError: a process didn't take part, ran another collective, or has another shape.

    Examples:
        >>> import torch
        >>> from simpletorch import distributed
        >>> distributed.all_gather(torch.ones(3))  # one process
        tensor([1., 1., 1.])
    """
    _need_dim("all_gather", x, dim)
    if not has_group():
        return _own(x)
    agree("all_gather", x)
    parts = [torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(world_size())]
    with during("all_gather", x):
        dist.all_gather(parts, _own(x))
    return torch.cat(parts, dim)


def reduce_scatter(x: torch.Tensor, op: _Op = dist.ReduceOp.SUM, dim: int = 0) -> torch.Tensor:
    """``[*A, n, *B] -> [*A, n/W, *B]``: the part ``r`` of the sum (or ``op``) over all processes, for rank ``r``.

    Args:
        x: this process's tensor, of the same shape and dtype in all.
        op: the reduction, such as ``ReduceOp.MAX``.
        dim: the dim to cut along; negative ones count from the end.

    Raises:
        ShapeMismatch: ``dim`` isn't there, or its size is no multiple of the number of processes.
        BackendError: a process didn't take part, or ran another collective.

    Examples:
        >>> import torch
        >>> from simpletorch import distributed
        >>> distributed.reduce_scatter(torch.ones(3))  # one process
        tensor([1., 1., 1.])
    """
    parts = _parts("reduce_scatter", x, dim)
    if not has_group():
        return parts[0]
    agree("reduce_scatter", x, f", {_name(op)}")
    result = torch.empty_like(parts[0])
    with during("reduce_scatter", x):
        dist.reduce_scatter(result, parts, _possible(op))
    return _finished(result, op)


def broadcast(x: torch.Tensor, src: int = 0) -> torch.Tensor:
    """``[*S] -> [*S]``: the tensor of rank ``src``, in all; the others give one of the same shape and dtype.

    Args:
        x: the tensor to send, or one of the same shape and dtype.
        src: the rank that sends.

    Raises:
        ValueError: there is no such rank.
        BackendError: a process didn't take part, or ran another collective.

    Examples:
        >>> import torch
        >>> from simpletorch import distributed
        >>> distributed.broadcast(torch.ones(3))  # one process
        tensor([1., 1., 1.])
    """
    _need_rank("broadcast", "src", src)
    result = _own(x)
    if has_group():
        agree("broadcast", x, f", src={src}")
        with during("broadcast", x):
            dist.broadcast(result, src)
    return result


def all_to_all(x: torch.Tensor, dim: int = 0) -> torch.Tensor:
    """``[*A, n, *B] -> [*A, n, *B]``: part ``r`` of ``W`` along ``dim`` goes to rank ``r``; the received parts are
    joined.

    Args:
        x: this process's tensor, of the same shape and dtype in all.
        dim: the dim to cut and to join along; negative ones count from the end.

    Raises:
        ShapeMismatch: ``dim`` isn't there, or its size is no multiple of the number of processes.
        BackendError: a process didn't take part, or ran another collective.

    Examples:
        >>> import torch
        >>> from simpletorch import distributed
        >>> distributed.all_to_all(torch.ones(3))  # one process
        tensor([1., 1., 1.])
    """
    parts = _parts("all_to_all", x, dim)
    if not has_group():
        return parts[0]
    agree("all_to_all", x)
    given = torch.stack(parts)
    taken = torch.empty_like(given)
    with during("all_to_all", x):
        dist.all_to_all_single(taken, given)
    return torch.cat(list(taken), dim)


def gather(x: torch.Tensor, dst: int = 0, dim: int = 0) -> torch.Tensor | None:
    """``[*A, n, *B] -> [*A, n·W, *B]`` on rank ``dst``: the tensors of all processes along ``dim``; None elsewhere.

    Args:
        x: this process's tensor, of the same shape and dtype in all.
        dst: the rank that receives.
        dim: the dim to join along; negative ones count from the end.

    Raises:
        ShapeMismatch: ``x`` is 0-d, or has no such dim.
        ValueError: there is no such rank.
        BackendError: a process didn't take part, ran another collective, or has another shape.

    Examples:
        >>> import torch
        >>> from simpletorch import distributed
        >>> distributed.gather(torch.ones(3))  # one process
        tensor([1., 1., 1.])
    """
    _need_dim("gather", x, dim)
    _need_rank("gather", "dst", dst)
    if not has_group():
        return _own(x)
    agree("gather", x, f", dst={dst}")
    parts = None
    if rank() == dst:
        parts = [torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(world_size())]
    with during("gather", x):
        dist.gather(_own(x), parts, dst)
    return None if parts is None else torch.cat(parts, dim)


def scatter(x: torch.Tensor, src: int = 0, dim: int = 0) -> torch.Tensor:
    """``[*A, n, *B] -> [*A, n/W, *B]``: rank ``r`` has part ``r`` of the tensor of rank ``src``.

    The others give a tensor of the same shape and dtype, whose values don't matter.

    Args:
        x: the tensor to cut, or one of the same shape and dtype.
        src: the rank that sends.
        dim: the dim to cut along; negative ones count from the end.

    Raises:
        ShapeMismatch: ``dim`` isn't there, or its size is no multiple of the number of processes.
        ValueError: there is no such rank.
        BackendError: a process didn't take part, or ran another collective.

    Examples:
        >>> import torch
        >>> from simpletorch import distributed
        >>> distributed.scatter(torch.ones(3))  # one process
        tensor([1., 1., 1.])
    """
    _need_rank("scatter", "src", src)
    parts = _parts("scatter", x, dim)
    if not has_group():
        return parts[0]
    agree("scatter", x, f", src={src}")
    result = torch.empty_like(parts[0])
    with during("scatter", x):
        dist.scatter(result, parts if rank() == src else None, src)
    return result


def _possible(op: _Op) -> _Op:
    """The backend's operation for ``op``: gloo has no mean, so a sum, which `_finished` divides."""
    return dist.ReduceOp.SUM if op == dist.ReduceOp.AVG and dist.get_backend() == "gloo" else op


def _finished(result: torch.Tensor, op: _Op) -> torch.Tensor:
    if _possible(op) is op:
        return result
    return result.div_(world_size()) if result.is_floating_point() else result // world_size()


def _own(x: torch.Tensor) -> torch.Tensor:
    """A tensor of its own, dense and without gradient, as backends need it."""
    return x.detach().clone(memory_format=torch.contiguous_format)


def _name(op: _Op) -> str:
    """``SUM``: of an operation with a factor (``PREMUL_SUM``) its kind."""
    return str(getattr(op, "op", op)).rpartition(".")[2]


def _parts(name: str, x: torch.Tensor, dim: int) -> list[torch.Tensor]:
    """One part for each process."""
    _need_dim(name, x, dim)
    size, ranks = x.shape[dim], world_size()
    if size % ranks:
        raise ShapeMismatch(
            f"a multiple of {ranks}",
            size,
            f"{name}: dim {dim} of {list(x.shape)} has {size} entries, which {ranks} processes can't share equally",
            hint=f"pad it to {size + ranks - size % ranks}",
        )
    return [_own(part) for part in x.chunk(ranks, dim)] if size else [_own(x)] * ranks


def _need_dim(name: str, x: torch.Tensor, dim: int) -> None:
    if not -x.ndim <= dim < x.ndim:
        what = "a 0-d tensor" if x.ndim == 0 else f"{list(x.shape)}"
        hint = "x.unsqueeze(0) makes one of it" if x.ndim == 0 else None
        raise ShapeMismatch(None, tuple(x.shape), f"{name}: {what} has no dim {dim}", hint=hint)


def _need_rank(name: str, what: str, number: int) -> None:
    if not 0 <= number < world_size():
        raise _Wrong(f"{name} got {what}={number}: there are {world_size()} processes, ranks 0 to {world_size() - 1}")
