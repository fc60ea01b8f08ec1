"""Data parallel: the whole model in every process, the gradients their mean."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeVar, cast

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

from simpletorch.distributed._group import has_group, is_started_together
from simpletorch.errors import TorchError, as_also, explain

M = TypeVar("M", bound=torch.nn.Module)

_Wrong = as_also(TorchError, ValueError)
# under names of their own: torch refuses its bf16 hook by its name without CUDA, where gloo sums bfloat16 as well
_HOOKS: Final[dict[str, Any]] = {
    "bfloat16": lambda group, bucket: default_hooks.bf16_compress_hook(group, bucket),
    "float16": lambda group, bucket: default_hooks.fp16_compress_hook(group, bucket),
}


def replicate(
    model: M,
    *,
    compress: Literal["bfloat16", "float16"] | None = None,
    static_graph: bool = False,
    find_unused: bool = False,
    bucket_megabytes: float = 25.0,
) -> M:
    """``model`` in every process: each learns from its own batches, and ``backward`` makes all gradients their mean.

    The result is called as the model is, with the same results: torch's `DistributedDataParallel`, whose ``module`` is
    the model, or the model itself where there is no process group. Every process starts with the weights of rank 0.
    Gradients are views into the buckets that are sent, which saves a copy of them all; buckets go out while
    ``backward`` still runs. It is a mean of means: that of one process with all samples where the batches of all ranks
    are equally long, as `simpletorch.data.DistributedSampler` makes them. All ranks must make as many steps.

    Args:
        model: the model on this process's device.
        compress: send gradients in half the bytes; their sums are rounded accordingly.
        static_graph: every step uses the same parameters in the same way: DDP then needs not look, orders its buckets
            by the first step, and works with reentrant checkpointing.
        find_unused: look in every step for parameters that got no gradient; costs a walk through the graph.
        bucket_megabytes: how much is sent at once.

    Raises:
        ValueError: ``compress`` is unknown, ``bucket_megabytes`` is not positive, the processes have not met (`init`),
            or the model is replicated already; it is a `TorchError` too.
        ShapeMismatch: the model is another one on another rank.
        BackendError: it has no parameter to train.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html

    Examples:
        >>> from simpletorch import distributed, nn
        >>> model = nn.Linear(8, 3)
        >>> distributed.replicate(model) is model  # without other processes
        True
    """
    if reason := _why_not(model, compress, bucket_megabytes):
        raise _Wrong(reason)
    if not has_group():
        return model
    with explain():
        replicated = DistributedDataParallel(
            model,
            bucket_cap_mb=bucket_megabytes,
            find_unused_parameters=find_unused,
            gradient_as_bucket_view=True,
            static_graph=static_graph,
        )
        if compress is not None:
            replicated.register_comm_hook(dist.group.WORLD, _HOOKS[compress])
    return cast("M", replicated)


def _why_not(model: torch.nn.Module, compress: str | None, bucket_megabytes: float) -> str:
    """Why this can't be replicated; "" when it can."""
    if compress is not None and compress not in _HOOKS:
        return f"compress is {compress!r}: it must be one of {', '.join(map(repr, _HOOKS))}, or None"
    if not bucket_megabytes > 0:
        return f"bucket_megabytes is {bucket_megabytes}: it is a size in MiB, more than 0"
    if isinstance(model, DistributedDataParallel):
        return "the model is replicated already: replicate(model) once"
    if is_started_together() and not has_group():
        return "the processes have not met: call simpletorch.distributed.init() at the start of the program"
    return ""
