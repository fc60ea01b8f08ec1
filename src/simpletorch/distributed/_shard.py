"""Parameters, gradients and optimizer states divided among the processes: FSDP2.

Zhao et al., PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel, 2023 (https://arxiv.org/abs/2304.11277);
Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, 2020.
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import torch
from torch import nn

from simpletorch.amp import Precision
from simpletorch.checkpoint._plain import is_sharded
from simpletorch.distributed._group import has_group
from simpletorch.distributed._mesh import Mesh, dividing
from simpletorch.errors import TorchError, as_also

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.fsdp import MixedPrecisionPolicy

M = TypeVar("M", bound=nn.Module)

_Wrong: Final = as_also(TorchError, ValueError)
_DTYPES: Final = {"bfloat16": torch.bfloat16, "float16": torch.float16}
_CONTAINERS: Final = (nn.ModuleList, nn.ModuleDict)  # they have no forward, so nothing could be gathered before it


def shard(
    model: M,
    mesh: Mesh | DeviceMesh | None = None,
    *,
    blocks: Sequence[str | type[nn.Module]] | None = None,
    precision: Precision = "float32",
    offload: bool = False,
    reshard: bool | None = None,
) -> M:
    """Divide a model's parameters among the processes, in place: each keeps a part of every one along its first dim.

    Before a block computes, its parameters are gathered, and afterwards dropped again; gradients are averaged and
    divided in one go. So a process needs the memory of its share and of the blocks at work. Afterwards the parameters
    are `DTensor`: their ``shape`` is the whole one. **Make the optimizer afterwards**, of these.

    On one process without a group nothing is divided and the model comes back as it was, so that a script runs plainly.

    Args:
        model: on any device, ``meta`` included (see `materialize`); it must be the same on every process.
        mesh: ``data`` is the direction to divide along, and ``context`` with it; a ``replicate`` in front repeats the
            parts, as one does across machines. By default all processes divide.
        blocks: gathered as a whole: classes, or names with ``*`` such as ``"model.layers.*"``. By default the
            items of each `ModuleList` and `Sequential` of several modules that have parameters.
        precision: of the forward and backward passes; the parameters themselves, and the sums of gradients,
            stay as they are.
        offload: keep the parts on the CPU while they aren't needed, and update them there.
        reshard: drop gathered parameters between forward and backward; None does except for what is outside of blocks.

    Returns:
        The model.

    Raises:
        ValueError: ``blocks`` names nothing of the model, or the mesh has no direction ``data`` or ``replicate``; it is
            a `TorchError` too.

    Source: https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html

    Examples:
        >>> from simpletorch import distributed, nn
        >>> model = distributed.shard(nn.Linear(8, 3))  # one process: nothing is divided
        >>> distributed.held(model)
        27
    """
    if precision not in ("float32", *_DTYPES):
        raise _Wrong(f"shard got precision={precision!r}: it must be 'float32', 'bfloat16' or 'float16'")
    units = [model.get_submodule(p) for p in blocks_of(model)] if blocks is None else _matching(model, blocks)
    if mesh is None and not has_group():
        return model
    from torch.distributed.fsdp import CPUOffloadPolicy, OffloadPolicy, fully_shard

    part = dividing(Mesh(data=-1) if mesh is None else mesh)
    if part is None:
        raise _Wrong(f"shard needs a mesh with the direction data, not {mesh}: use Mesh(data=…)")
    settings: dict[str, Any] = {
        "mesh": part,
        "reshard_after_forward": reshard,
        "mp_policy": _policy(precision),
        "offload_policy": CPUOffloadPolicy() if offload else OffloadPolicy(),
    }
    for unit in units:
        fully_shard(unit, **settings)
    fully_shard(model, **settings)
    return model


def is_divided(model: nn.Module) -> bool:
    """Whether one of its parameters is a `DTensor`."""
    return any(is_sharded(parameter) for parameter in model.parameters())


def blocks_of(model: nn.Module) -> list[str]:
    """The paths of what is gathered at a time by default: the items of the outermost lists and sequences of modules.

    Those that hold parameters of another are left to the model as a whole: one of two blocks couldn't gather what the
    other one has.
    """
    owners = Counter(id(p) for module in model.modules() for p in module.parameters(recurse=False))
    found = _items(model, "")
    return [path for path, item in found.items() if all(owners[id(p)] == 1 for p in item.parameters())]


def _items(model: nn.Module, path: str) -> dict[str, nn.Module]:
    found: dict[str, nn.Module] = {}
    for name, module in model.named_children():
        items = module.named_children() if isinstance(module, (*_CONTAINERS, nn.Sequential)) else ()
        able = {f"{path}{name}.{n}": m for n, m in items if _has_parameters(m) and not isinstance(m, _CONTAINERS)}
        found |= able if len(able) > 1 else _items(module, f"{path}{name}.")
    if isinstance(model, nn.Sequential) and not found:
        found = {f"{path}{name}": item for name, item in model.named_children() if _has_parameters(item)}
    return found


def _has_parameters(module: nn.Module) -> bool:
    return next(module.parameters(), None) is not None


def _matching(model: nn.Module, blocks: Sequence[str | type[nn.Module]]) -> list[nn.Module]:
    named = dict(model.named_modules())
    found: dict[str, nn.Module] = {}
    for block in [blocks] if isinstance(blocks, str) else blocks:
        if isinstance(block, str):
            # of names, the dots count: "layers.*" is layers.0, and not what is inside of it
            its = {n: m for n, m in named.items() if fnmatch.fnmatchcase(n, block) and n.count(".") == block.count(".")}
        else:
            its = {n: m for n, m in named.items() if isinstance(m, block)}
        if not its:
            what = repr(block) if isinstance(block, str) else block.__name__
            raise _Wrong(
                f"shard(blocks=[{what}]): a {type(model).__name__} has no such module",
                hint="names are those of model.named_modules(), with * for a part between dots; or give a class",
            )
        found |= its
    # from the inside out, as fully_shard wants it; the model itself comes last, and by itself
    return [found[name] for name in sorted(found, key=lambda name: -name.count(".")) if name]


def _policy(precision: Precision) -> MixedPrecisionPolicy:
    from torch.distributed.fsdp import MixedPrecisionPolicy

    if precision == "float32":
        return MixedPrecisionPolicy()
    # sums over many ranks lose what bfloat16 has of digits: they are made in float32
    return MixedPrecisionPolicy(param_dtype=_DTYPES[precision], reduce_dtype=torch.float32)


def held(model: nn.Module) -> int:
    """How many elements of a model's parameters this process holds; of one that isn't divided, all.

    Args:
        model: any module.

    Examples:
        >>> from simpletorch import distributed, nn
        >>> distributed.held(nn.Linear(8, 3))
        27
    """
    total = 0
    for parameter in model.parameters():
        part = parameter.to_local() if is_sharded(parameter) else parameter  # type: ignore[attr-defined]
        total += part.numel()
    return total
