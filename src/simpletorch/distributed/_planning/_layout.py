"""Where each value of a model lies: how many of a parameter the first rank has (no other has more)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import torch
from torch import nn

from simpletorch.distributed._plans import divided_dim
from simpletorch.errors import TorchError, as_also

__all__ = [
    "AXES",
    "PARALLEL",
    "Layout",
    "Part",
    "checked_mesh",
    "layout_of",
    "read_mesh",
]

AXES: Final = ("replicate", "data", "tensor")
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
        TorchError: (a `ValueError` too) an axis is unknown, or its size is below 1.
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


@dataclass(frozen=True)
class Part:
    """The first rank's part of one parameter."""

    name: str
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
        dim = _shared_dim(model.get_submodule(path), split.get(path), parameter.ndim)
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
        parts.append(Part(name, parameter.dtype, parameter.requires_grad, parameter.numel(), local, kept, group))
    used = {part.group for part in parts}
    return Layout(tuple(parts), tuple(group for group in ("", *blocks) if group in used))


def _shared_dim(module: nn.Module, style: str | None, ndim: int) -> int | None:
    dim = divided_dim(module, style)
    if ndim > 1 or dim is None:
        return dim
    return None if style == "in" else 0  # a bias is added to the sum


def _product(sizes: list[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count
