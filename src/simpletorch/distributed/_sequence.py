"""Sequences divided among processes: between a Llama's layers (beside tensor parallel), or from one end to the other.

Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2022
(https://arxiv.org/abs/2205.05198): what tensor parallel leaves whole, norms and sums, is divided along the tokens.
Liu et al., Ring Attention with Blockwise Transformers for Near-Infinite Context, 2023
(https://arxiv.org/abs/2310.01889): each process has some of the tokens, and keys and values go round.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import nn

from simpletorch.distributed._group import has_group
from simpletorch.distributed._mesh import Mesh, direction
from simpletorch.errors import ShapeMismatch, TorchError, as_also

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

_Wrong: Final = as_also(TorchError, ValueError)


def sequence_styles(model: nn.Module) -> dict[str, Any]:
    """torch's styles of a Llama by which each process has its part of the tokens between layers, as a `DTensor`.

    Raises:
        ValueError: it is no `LlamaForCausalLM`, whose layers are called in a way that is known.
    """
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        PrepareModuleInput,
        RowwiseParallel,
        SequenceParallel,
    )

    from simpletorch.language.models import LlamaForCausalLM

    if not isinstance(model, LlamaForCausalLM):
        raise _Wrong(
            f"how the layers of a {type(model).__name__} pass on tokens isn't known: sequence=True takes our "
            "LlamaForCausalLM",
            hint="for others torch's SequenceParallel and PrepareModuleInput do it, in a plan of parallelize_module",
        )
    tokens = Shard(1)
    styles: dict[str, Any] = {
        "model.embed_tokens": RowwiseParallel(input_layouts=Replicate(), output_layouts=tokens, use_local_output=False),
        "model.norm": SequenceParallel(),
        "lm_head": ColwiseParallel(input_layouts=tokens, output_layouts=Replicate()),
    }
    for number in range(len(model.model.layers)):
        layer = f"model.layers.{number}."
        whole: Any = PrepareModuleInput(  # and the turns of the positions, the earlier tokens and the mask as they are
            input_layouts=(tokens, None, None, None, None), desired_input_layouts=(Replicate(), None, None, None, None)
        )
        styles |= {
            f"{layer}input_layernorm": SequenceParallel(),
            f"{layer}self_attn": whole,
            f"{layer}self_attn.o_proj": RowwiseParallel(output_layouts=tokens, use_local_output=False),
            f"{layer}post_attention_layernorm": SequenceParallel(),
            f"{layer}mlp": PrepareModuleInput(input_layouts=tokens, desired_input_layouts=Replicate()),
            f"{layer}mlp.down_proj": RowwiseParallel(output_layouts=tokens, use_local_output=False),
        }
        wide = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj")
        styles |= {layer + name: ColwiseParallel() for name in wide}
    return styles


@contextmanager
def context_parallel(
    mesh: Mesh | DeviceMesh, *tensors: torch.Tensor, dim: int = 1
) -> Iterator[tuple[torch.Tensor, ...]]:
    """Divide sequences along the direction ``context``: inside, causal attention sees the parts of the other processes.

    ::

        model = shard(model, mesh)                                    # averages gradients over context too
        places = torch.arange(tokens.shape[1]).expand(tokens.shape)   # each process has others: say which
        with context_parallel(mesh, tokens, places, targets) as (tokens, places, targets):
            loss = cross_entropy(model(tokens, position_ids=places).flatten(0, 1), targets.flatten())
            loss.backward()

    Every process is given the whole sequences (see ``Mesh.share``) and gets two parts of them, one from the front and
    one from the back, so that all have as much to do. Attention is `scaled_dot_product_attention` with
    ``is_causal=True`` and no mask. The backward pass belongs inside. On one process without a group the tensors come
    back as they are.

    Args:
        mesh: has a direction ``context``.
        tensors: tokens, positions, targets to divide, without gradients; the given ones stay as they are.
        dim: along which the tokens are.

    Yields:
        This process's part of each.

    Raises:
        ValueError: the mesh has no direction ``context``.
        ShapeMismatch: sequences can't be cut into twice as many equal parts as there are processes; all are listed.
        TorchError: there is no ring attention for a kernel: there is for those of CUDA (flash, memory-efficient, cuDNN)
            and for the CPU's flash attention; or attention is given a mask.

    Source: https://docs.pytorch.org/tutorials/unstable/context_parallel.html

    Examples:
        >>> import torch
        >>> from simpletorch import distributed
        >>> tokens = torch.zeros(2, 8, dtype=torch.int64)
        >>> with distributed.context_parallel(distributed.Mesh(context=1), tokens) as (part,):
        ...     print(part.shape)
        torch.Size([2, 8])
    """
    if isinstance(mesh, Mesh) and not has_group():
        yield tensors
        return
    line = direction(mesh, "context")
    if line is None:
        raise _Wrong(f"context_parallel needs a mesh with the direction context, not {mesh}: use Mesh(context=…)")
    _even(tensors, dim, 2 * line.size())
    from torch.distributed.tensor.experimental import context_parallel as divided

    from simpletorch.distributed._ring import ring_of_cpu

    parts = [tensor.clone() for tensor in tensors]  # torch cuts what it is given, in place
    try:
        with (
            ring_of_cpu(),
            divided(line, buffers=parts, buffer_seq_dims=[dim] * len(parts), no_restore_buffers=set(parts)),
        ):
            yield tuple(parts)
    except NotImplementedError as error:
        if "scaled_dot_product" not in str(error):
            raise
        raise TorchError(
            f"context_parallel has no ring attention for this kernel: {error}",
            hint="take one of CUDA's flash, memory-efficient or cuDNN attention (torch.nn.attention.sdpa_kernel), or "
            "the CPU's flash attention; or divide layers instead, parallelize(model, mesh, sequence=True)",
        ) from error


def _even(tensors: tuple[torch.Tensor, ...], dim: int, parts: int) -> None:
    lines = [
        f"tensor {number}: {tensor.shape[dim]} along dim {dim}"
        for number, tensor in enumerate(tensors)
        if tensor.shape[dim] % parts
    ]
    if lines:
        raise as_also(ShapeMismatch, ValueError)(
            parts,
            lines,
            "\n    ".join([f"these sequences can't be cut into {parts} equal parts, two for each process:", *lines]),
            operation="context_parallel",
        )
