"""torch's ring attention with the CPU's kernel, so that a script for GPUs runs on a CPU too.

torch 2.13 goes round with the kernels of CUDA alone; the round itself, forward and backward, takes any. It has no
public name, so this goes when torch has the CPU's (`custom_ops` of its module is where it would be).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch.distributed.tensor import DTensor, Shard
from torch.distributed.tensor.experimental._context_parallel import _attention

from simpletorch.errors import TorchError

_RING: Final[Any] = _attention  # private: its types are not meant for others
_FORWARD: Final = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
_BACKWARD: Final = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default
_TOKENS: Final = 2  # queries, keys and values are (B, H, T, E)


@contextmanager
def ring_of_cpu() -> Iterator[None]:
    """In here torch's `context_parallel` has the CPU's kernel too."""
    _RING.custom_ops.update({_FORWARD: _forward, _BACKWARD: _backward})
    try:
        yield
    finally:
        del _RING.custom_ops[_FORWARD], _RING.custom_ops[_BACKWARD]


def _forward(_operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[DTensor, ...]:
    q, k, v, *rest = args
    if kwargs.pop("attn_mask", None) is not None:
        raise TorchError(
            "attention with a mask can't go round a ring: each process has a part of the keys, and the mask is of all",
            hint="leave the mask out, and pass is_causal=True",
        )
    group, parts = q.device_mesh.get_group(), (x.to_local() for x in (q, k, v))
    given = dict(zip(("dropout_p", "is_causal"), rest, strict=False))
    settings = {"dropout_p": 0.0, "is_causal": False, **given, **kwargs}
    made = _RING._templated_ring_attention(group, _TOKENS, _FORWARD, *parts, **settings)
    return _over(q, made)


def _backward(_operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[DTensor, ...]:
    names = ("grad_out", "query", "key", "value", "out", "logsumexp")
    parts = {name: x.to_local() for name, x in zip(names, args, strict=False)}
    group, settings = args[1].device_mesh.get_group(), {"dropout_p": args[6], "is_causal": args[7], **kwargs}
    made = _RING._templated_ring_attention_backward(
        group, _TOKENS, _BACKWARD, grad_out_name="grad_out", **parts, **settings
    )
    return _over(args[1], made)


def _over(like: DTensor, tensors: tuple[torch.Tensor, ...]) -> tuple[DTensor, ...]:
    return tuple(DTensor.from_local(x, like.device_mesh, [Shard(_TOKENS)], run_check=False) for x in tensors)
