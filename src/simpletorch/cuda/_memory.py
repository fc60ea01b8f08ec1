"""`memory`: how much of a device is in use, what for, and under which names."""

from __future__ import annotations

import contextlib
import gc
import html
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final

import torch
from torch import nn

from simpletorch._alive import address, free_memory, names_of, tensors_on
from simpletorch._bytes import size_text
from simpletorch.cuda._streams import device_of
from simpletorch.device import DeviceLike
from simpletorch.dtypes import dtype_of

__all__ = ["Holding", "Memory", "empty_cache", "memory", "memory_allocated", "memory_stats"]


def memory_allocated(device: DeviceLike = None) -> int:
    """The bytes that tensors hold on ``device``: by the allocator's count on an accelerator, else as `memory` sees.

    Args:
        device: a device or its name; None is the accelerator that torch finds, else the CPU.

    Returns:
        A number of bytes.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> cuda.memory_allocated("cpu") >= 0
        True
    """
    where = device_of(device)
    return sum(map(_bytes, tensors_on(where))) if where.type == "cpu" else torch.accelerator.memory_allocated(where)


def memory_stats(device: DeviceLike = None) -> dict[str, Any]:
    """The allocator's counters by name; none on the CPU, which has no such allocator.

    Args:
        device: a device or its name; None is the accelerator that torch finds, else the CPU.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> cuda.memory_stats("cpu")
        {}

    Source: https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.memory_stats.html
    """
    where = device_of(device)
    return {} if where.type == "cpu" else dict(torch.accelerator.memory_stats(where))


def empty_cache() -> None:
    """Returns the allocator's reserve to the device; does nothing without an accelerator.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> cuda.empty_cache()
    """
    if torch.accelerator.is_available():
        torch.accelerator.empty_cache()


@dataclass(frozen=True, slots=True)
class Holding:
    """A piece of memory: its purpose, name, type and size in bytes.

    Attributes:
        purpose: ``"parameters"``, ``"gradients"``, ``"optimizer"``, ``"buffers"``, ``"other tensors"`` or ``"not
            reachable"``.
        name: its name in the model or program.
        type_text: its dtype and shape, such as ``"Float32[784, 128]"``.
        bytes: its size in bytes.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> layer = torch.nn.Linear(1000, 1000)
        >>> largest = max(cuda.memory("cpu").holdings, key=lambda holding: holding.bytes)
        >>> largest.bytes >= 4_000_000
        True
    """

    purpose: str  # "parameters", "gradients", "optimizer", "buffers", "other tensors", "not reachable"
    name: str
    type_text: str
    bytes: int


@dataclass(frozen=True)
class Memory:
    """The contents of a device's memory; the result of `memory`. Numbers are bytes; None if they aren't counted.

    Attributes:
        device: the device that was looked at.
        allocated: bytes in tensors that are alive.
        reserved: bytes that torch's allocator holds, in use or cached.
        peak: the most bytes allocated at once so far.
        free: bytes that are still free on the device.
        total: bytes that the device has in all.
        holdings: the tensors found, the largest first.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> memory = cuda.memory("cpu")
        >>> memory.device
        device(type='cpu')
    """

    device: torch.device
    allocated: int
    reserved: int | None
    peak: int | None
    free: int | None
    total: int | None
    holdings: tuple[Holding, ...]

    def by_purpose(self) -> dict[str, int]:
        """The bytes for each purpose, the largest first."""
        found: dict[str, int] = {}
        for holding in self.holdings:
            found[holding.purpose] = found.get(holding.purpose, 0) + holding.bytes
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def __str__(self) -> str:
        known = [("peak", self.peak), ("reserved", self.reserved), ("free", self.free), ("of", self.total)]
        rest = ", ".join(f"{name} {size_text(value)}" for name, value in known if value is not None)
        lines = [f"{self.device}: {size_text(self.allocated)} in tensors ({rest})"]
        for purpose, size in self.by_purpose().items():
            bar = "█" * max(1, round(_WIDTH * size / max(self.allocated, 1)))
            lines.append(f"  {purpose:<14}  {size_text(size):>11}  {bar}")
        lines += [f"    {size_text(h.bytes):>11}  {h.type_text}  {h.name}" for h in self.holdings[:_SHOWN]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The picture as a notebook shows it."""
        return "".join(self._drawn())

    def html(self, path: str | Path) -> Path:
        """Write the picture as a page, with a bar for each purpose in which each tensor has its share.

        Args:
            path: the file to write, such as ``"memory.html"``.

        Returns:
            The path of the file.
        """
        where = Path(path)
        where.write_text(_PAGE.format(device=self.device, body=self._repr_html_()), encoding="utf-8")
        return where

    def _drawn(self) -> Iterator[str]:
        head, *_ = str(self).splitlines()
        yield f"<p>{html.escape(head)}</p>"
        for purpose, size in self.by_purpose().items():
            hue = _HUES.get(purpose, 0)
            yield f'<p style="margin:.6em 0 .2em">{html.escape(purpose)}: {size_text(size)}</p>'
            width = 100 * size / max(self.allocated, 1)
            yield f'<div style="display:flex;height:2em;width:{width:.3f}%;min-width:4px">'
            for index, h in enumerate(h for h in self.holdings if h.purpose == purpose):
                title = html.escape(f"{h.name}  {h.type_text}  {size_text(h.bytes)}", quote=True)
                light = 45 + 12 * (index % 2)
                style = f"flex:{h.bytes} 1 0;background:hsl({hue} 55% {light}%)"
                yield f'<div style="{style}" title="{title}"></div>'
            yield "</div>"
        yield '<table style="font-family:monospace;margin-top:1em">'
        for h in self.holdings[:_LISTED]:
            cells = (size_text(h.bytes), h.purpose, h.type_text, h.name)
            yield "<tr>" + "".join(f'<td style="padding-right:1.5em">{html.escape(c)}</td>' for c in cells) + "</tr>"
        yield "</table>"


_WIDTH: Final = 40
_SHOWN: Final = 12
_LISTED: Final = 200
_HUES: Final = {"parameters": 210, "gradients": 145, "optimizer": 40, "buffers": 265, "other tensors": 10}
_PAGE: Final = """<!doctype html><html><head><meta charset="utf-8"><title>memory of {device}</title>
<style>:root{{color-scheme:light dark}}body{{font-family:system-ui;margin:2em}}</style></head>
<body>{body}</body></html>
"""


def memory(device: DeviceLike = None) -> Memory:
    """The contents of the memory of ``device``: parameters, gradients, optimizers' states, other tensors, by name.

    Names are those of the variables of the functions that are running and of the models that they hold. Memory that
    no Python object holds (mostly saved for backward) is "not reachable". Looking costs some milliseconds and changes
    nothing.

    Args:
        device: by default the accelerator that torch finds, else the CPU, whose allocator counts nothing.

    Returns:
        The tensors by their purpose, and the allocator's counts.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> layer = torch.nn.Linear(3, 2)
        >>> cuda.memory("cpu").allocated > 0
        True
    """
    where = device_of(device)
    alive = tensors_on(where)
    frames = list(_frames(sys._getframe(1)))
    models = _models(frames)
    names, purposes = names_of(frames, ()), _purposes(models)
    holdings = [_holding(tensor, names, purposes) for tensor in alive]
    seen = sum(h.bytes for h in holdings)
    if where.type == "cpu":
        return Memory(where, seen, None, None, free_memory(where), None, _largest_first(holdings))
    allocated = torch.accelerator.memory_allocated(where)
    if allocated > seen:
        holdings.append(Holding("not reachable", "(kept for backward, or by a library)", "", allocated - seen))
    free, total = torch.accelerator.get_memory_info(where)
    peak, reserved = torch.accelerator.max_memory_allocated(where), torch.accelerator.memory_reserved(where)
    return Memory(where, allocated, reserved, peak, free, total, _largest_first(holdings))


def _largest_first(holdings: list[Holding]) -> tuple[Holding, ...]:
    return tuple(sorted(holdings, key=lambda h: -h.bytes))


def _bytes(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().nbytes()


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _models(frames: Sequence[FrameType]) -> list[tuple[str, nn.Module]]:
    """The modules that variables hold, by name; then those that only live, by class. None twice, no part of another."""
    named = [(name, value) for f in frames for name, value in list(f.f_locals.items()) if _is_module(value)]
    named += [(type(m).__name__, m) for m in gc.get_objects() if _is_module(m)]
    inside = {id(part) for _, m in named for part in m.modules() if part is not m}
    found: dict[int, tuple[str, nn.Module]] = {}
    for name, module in named:
        if id(module) not in inside and name != "self":
            found.setdefault(id(module), (name, module))
    return list(found.values())


def _is_module(value: object) -> bool:
    """Whether it is a module whose constructor has come to ``Module.__init__``; one that failed leaves a shell."""
    return issubclass(type(value), nn.Module) and "_modules" in vars(value)


def _purposes(models: Sequence[tuple[str, nn.Module]]) -> dict[int, tuple[str, str]]:
    """Purpose and name of what models and optimizers hold, by `address`."""
    found: dict[int, tuple[str, str]] = {}
    owners: dict[int, str] = {}

    def add(tensor: Any, purpose: str, name: str) -> None:
        if isinstance(tensor, torch.Tensor):
            with contextlib.suppress(Exception):  # tensors without storage: lazy, functional, sparse
                found.setdefault(address(tensor), (purpose, name))

    for path, model in models:
        for name, parameter in model.named_parameters():
            owners[id(parameter)] = f"{path}.{name}"
            add(parameter, "parameters", f"{path}.{name}")
            add(parameter.grad, "gradients", f"{path}.{name}.grad")
        for name, buffer in model.named_buffers():
            add(buffer, "buffers", f"{path}.{name}")
    for optimizer in (o for o in gc.get_objects() if issubclass(type(o), torch.optim.Optimizer)):
        for parameter, state in vars(optimizer).get("state", {}).items():  # one that was never made has none
            for key, value in state.items() if isinstance(state, dict) else ():
                owner = owners.get(id(parameter), "a parameter")
                add(value, "optimizer", f"{type(optimizer).__name__}: {key} of {owner}")
    return found


def _holding(tensor: torch.Tensor, names: dict[int, str], purposes: dict[int, tuple[str, str]]) -> Holding:
    at = address(tensor)
    purpose, name = purposes.get(at, ("other tensors", names.get(at, "(no name)")))
    type_text = f"{dtype_of(tensor.dtype).__name__}{list(tensor.shape)}"
    return Holding(purpose, name, type_text, _bytes(tensor))
