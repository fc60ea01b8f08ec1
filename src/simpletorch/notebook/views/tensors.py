"""A tensor as HTML: what it is, what numbers it has, and how they look. Large ones are looked at in samples."""

from __future__ import annotations

import math
from html import escape
from typing import Final

import torch

from simpletorch._drawing import bars, picture
from simpletorch.errors.live import lift

__all__ = ["tensor_as_html"]

_MOST: Final = 2**16  # numbers that are looked at
_BINS: Final = 32
_SMALLEST: Final = 12  # pixels of a picture's side: what is smaller is a matrix
_LARGEST: Final = 96
_PICTURES: Final = 8  # of a batch


def tensor_as_html(tensor: torch.Tensor) -> str | None:
    """A card; None for a tensor without numbers of its own, which IPython then shows as text."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout is not torch.strided:
        return None
    if tensor.is_meta or tensor.is_quantized or tensor.is_nested:
        return None
    facts = [str(lift(tensor)), str(tensor.device), _bytes(tensor.numel() * tensor.element_size())]
    facts += ["requires a gradient"] * tensor.requires_grad
    with torch.no_grad():
        sample, part = _sample(tensor.detach())
        head = f"<b>{escape(facts[0])}</b> {escape(' · '.join(facts[1:]))}"
        drawn = _pictures(tensor.detach()) or _histogram(sample)
        numbers = _numbers(sample, part)
    text = f'<pre style="background:none;color:inherit;margin:0.3em 0">{escape(repr(tensor))}</pre>'
    return f'<div style="color:inherit">{head}<div style="opacity:0.8">{numbers}</div>{drawn}{text}</div>'


def _bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} GiB"


def _sample(tensor: torch.Tensor) -> tuple[torch.Tensor, bool]:
    """Numbers of a tensor on the CPU, evenly spread, and whether they are only a part: a view, so nothing is copied."""
    step = math.ceil((tensor.numel() / _MOST) ** (1 / max(tensor.dim(), 1)))
    part = step > 1
    view = tensor[tuple(slice(None, None, step) for _ in tensor.shape)] if part else tensor
    if tensor.is_complex():
        view = view.abs()
    return view.to("cpu", torch.float64).flatten(), part


def _numbers(sample: torch.Tensor, part: bool) -> str:
    """The range, the mean, and how many aren't finite."""
    if not sample.numel():
        return "empty"
    finite = sample[sample.isfinite()]
    counts = [("NaN", int(sample.isnan().sum())), ("infinite", int(sample.isinf().sum()))]
    said = [f"{count} {name}" for name, count in counts if count]
    if finite.numel():
        low, high, mean = finite.min().item(), finite.max().item(), finite.mean().item()
        said.insert(0, f"{low:.4g} to {high:.4g}, mean {mean:.4g}")
    return ", ".join(said) + (f" (of {sample.numel():,} of its numbers)" if part else "")


def _histogram(sample: torch.Tensor) -> str:
    finite = sample[sample.isfinite()]
    if finite.numel() < 2 or finite.min() == finite.max():
        return ""
    return bars(torch.histc(finite, _BINS).tolist())


def _pictures(tensor: torch.Tensor) -> str:
    """One picture ``(C, H, W)``, or the first of a batch ``(N, C, H, W)``; nothing for what has no such shape."""
    if tensor.dim() not in (3, 4) or tensor.is_complex() or not tensor.numel():
        return ""
    channels, *size = tensor.shape[-3:]
    if channels not in (1, 3) or min(size) < _SMALLEST:
        return ""
    rows = tensor[None] if tensor.dim() == 3 else tensor[:_PICTURES]
    return f"<div>{''.join(map(_picture, rows))}</div>"


def _picture(image: torch.Tensor) -> str:
    step = math.ceil(max(image.shape[-2:]) / _LARGEST)
    small = image[:, ::step, ::step].to("cpu", torch.float32).nan_to_num()
    if image.dtype is not torch.uint8:
        low, high = small.min(), small.max()
        small = small * 255 if low >= 0 and high <= 1 else (small - low) / (high - low).clamp_min(1e-12) * 255
    pixels = small.clamp(0, 255).to(torch.uint8).movedim(0, -1).contiguous()
    height, width, channels = pixels.shape
    return picture(bytes(pixels.flatten().tolist()), width, height, grey=channels == 1)
