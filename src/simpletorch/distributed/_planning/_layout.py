"""Where each value of a model lies: which modules are a block, which share their weights over the tensor axis, and how
many values of a parameter the first rank has (no other has more).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

import torch
from torch import nn

from simpletorch.errors import TorchError, as_also

__all__ = [
    "AXES",
    "PARALLEL",
    "Layout",
    "Part",
    "blocks_of",
    "checked_mesh",
    "layout_of",
    "matched",
    "read_mesh",
    "split_of",
]

AXES: Final = ("replicate", "data", "tensor")
STYLES: Final = ("out", "in", "out and gather", "rows")
PARALLEL: Final = ("ddp", "zero1", "zero2", "fsdp")


def read_mesh(text: str) -> dict[str, int]:
    """``"data=8,tensor=2"`` as a dict.

    Raises:
        TorchError: (a `ValueError` too) it is none.
    """
    found: dict[str, int] = {}
    for part in text.split(","):
        matched = re.fullmatch(r"\s*([a-z]+)\s*=\s*([1-9][0-9]*)\s*", part)
        if matched is None or matched[1] in found:
            raise as_also(TorchError, ValueError)(f"{text!r} is no mesh: write axes with their sizes, data=8,tensor=2")
        found[matched[1]] = int(matched[2])
    return found


def checked_mesh(mesh: Mapping[str, int]) -> dict[str, int]:
    """The size of each axis, 1 where none is given.

    Raises:
        TorchError: (a `ValueError` too) an axis is not known, or its size is below 1.
    """
    for axis, size in mesh.items():
        if axis not in AXES:
            raise as_also(TorchError, ValueError)(
                f"a plan knows the axes {', '.join(AXES)}, not {axis!r}; an axis of pipeline stages or of the context "
                "is not planned"
            )
        if size < 1:
            raise as_also(TorchError, ValueError)(f"the axis {axis!r} has {size} ranks; it takes 1 or more")
    return {axis: mesh.get(axis, 1) for axis in AXES}


def blocks_of(model: nn.Module) -> tuple[str, ...]:
    """The paths of what is gathered, and could be computed again, at a time: as `shard` takes blocks by default.

    They are the items of the outermost lists and sequences of modules that have parameters, and share none.
    """
    found = _listed(model, "")
    owners = Counter(id(p) for module in model.modules() for p in module.parameters(recurse=False))
    return tuple(path for path, item in found.items() if all(owners[id(p)] == 1 for p in item.parameters()))


def _listed(model: nn.Module, path: str) -> dict[str, nn.Module]:
    found: dict[str, nn.Module] = {}
    for name, module in model.named_children():
        items = module.named_children() if isinstance(module, (*_CONTAINERS, nn.Sequential)) else ()
        able = {f"{path}{name}.{n}": m for n, m in items if _has_parameters(m) and not isinstance(m, _CONTAINERS)}
        found |= able if len(able) > 1 else _listed(module, f"{path}{name}.")
    if isinstance(model, nn.Sequential) and not found:
        found = {f"{path}{name}": item for name, item in model.named_children() if _has_parameters(item)}
    return found


_CONTAINERS: Final = (nn.ModuleList, nn.ModuleDict)  # they have no forward, so nothing could be gathered before it


def _has_parameters(module: nn.Module) -> bool:
    return next(module.parameters(), None) is not None


_OUT: Final = ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj")
_IN: Final = ("o_proj", "down_proj")


def split_of(model: nn.Module) -> dict[str, str]:
    """How the modules of a Llama share their weights over the tensor axis, by path.

    ``"out"``: its outputs (dim 0 of the weight), which stay divided; ``"in"``: its inputs (dim 1), and its outputs are
    sums; ``"out and gather"``: its outputs, which every rank then gets whole; ``"rows"``: those of an embedding.
    Whatever has another name is whole on each rank.

    Source: Shoeybi et al. 2019, "Megatron-LM"; https://docs.pytorch.org/docs/stable/distributed.tensor.parallel.html
    """
    found: dict[str, str] = {}
    for path, module in model.named_modules():
        name = path.rpartition(".")[2]
        if isinstance(module, nn.Linear) and name in (*_OUT, *_IN):
            found[path] = "out" if name in _OUT else "in"
        elif isinstance(module, nn.Linear) and name == "lm_head":
            found[path] = "out and gather"
        elif isinstance(module, nn.Embedding) and name == "embed_tokens":
            found[path] = "rows"
    return found if "in" in found.values() else {}  # one of the names alone is no Llama


def matched(model: nn.Module, styles: Mapping[str, str]) -> dict[str, str]:
    """The style of each module whose path one of these patterns describes; ``*`` is a part between dots.

    Raises:
        TorchError: (a `ValueError` too) a pattern describes none, or a style isn't known.
    """
    paths = [path for path, _ in model.named_modules()]
    found: dict[str, str] = {}
    for pattern, style in styles.items():
        those = [p for p in paths if p.count(".") == pattern.count(".") and fnmatchcase(p, pattern)]
        if style not in STYLES or not those:
            why = f"{type(model).__name__} has no such module" if style in STYLES else f"styles are {', '.join(STYLES)}"
            raise as_also(TorchError, ValueError)(f"styles={{{pattern!r}: {style!r}}}: {why}")
        found |= dict.fromkeys(those, style)
    return found


@dataclass(frozen=True)
class Part:
    """What the first rank has of one parameter."""

    dtype: torch.dtype
    trained: bool
    whole: int
    """The values of the parameter."""
    local: int
    """Of these, what one rank of the tensor axis has."""
    kept: int
    """Of these, what stays on the rank: with FSDP its rows."""
    group: str
    """The block that it is gathered with; ``""`` for what is in none."""


@dataclass(frozen=True)
class Layout:
    """The parameters of a model on a mesh."""

    parts: tuple[Part, ...]
    groups: tuple[str, ...]

    def of(self, group: str) -> Iterator[Part]:
        """The parameters of one block."""
        return (part for part in self.parts if part.group == group)


def layout_of(
    model: nn.Module, mesh: Mapping[str, int], *, sharded: bool, blocks: tuple[str, ...], split: Mapping[str, str]
) -> Layout:
    """The part of each parameter that the first rank has; a tied one counts once.

    Raises:
        TorchError: (a `ValueError` too) the tensor axis doesn't divide what it shares.
    """
    parts = []
    for name, parameter in model.named_parameters():
        path = name.rpartition(".")[0]
        shape = list(parameter.shape)
        dim = _shared_dim(split.get(path), parameter.ndim)
        if dim is not None:
            if shape[dim] % mesh["tensor"]:
                raise as_also(TorchError, ValueError)(
                    f"the tensor axis has {mesh['tensor']} ranks, which don't divide dim {dim} of {name}, "
                    f"{tuple(parameter.shape)}"
                )
            shape[dim] //= mesh["tensor"]
        local = _product(shape)
        # fully_shard pads dim 0 to a multiple of the ranks, and each has a row more rather than less
        kept = _product([-(-shape[0] // mesh["data"]), *shape[1:]]) if sharded and shape else local
        group = next((block for block in blocks if name.startswith(f"{block}.")), "")
        parts.append(Part(parameter.dtype, parameter.requires_grad, parameter.numel(), local, kept, group))
    used = {part.group for part in parts}
    return Layout(tuple(parts), tuple(group for group in ("", *blocks) if group in used))


def _shared_dim(style: str | None, ndim: int) -> int | None:
    if style == "in":
        return 1 if ndim > 1 else None  # a bias is added to the sum
    return None if style is None else 0


def _product(sizes: list[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count
