"""A tensor as HTML: what it is, what numbers it has, and how they look. Large ones are looked at in samples."""

from __future__ import annotations

import math
from html import escape
from typing import Final

import torch

from simpletorch._drawing import bars
from simpletorch.errors.live import lift
from simpletorch.notebook.views.pictures import is_image, picture_of

__all__ = ["has_numbers", "numbers_of", "tensor_as_html"]

_MOST: Final = 2**16  # numbers that are looked at
_BINS: Final = 32
_PICTURES: Final = 8  # of a batch


def tensor_as_html(tensor: torch.Tensor) -> str | None:
    """A card; None for a tensor without numbers of its own, which IPython then shows as text."""
    if not has_numbers(tensor):
        return None
    facts = [str(lift(tensor)), str(tensor.device), _bytes(tensor.numel() * tensor.element_size())]
    facts += ["requires a gradient"] * tensor.requires_grad
    with torch.no_grad():
        sample, part = _sample(tensor.detach())
        head = f"<b>{escape(facts[0])}</b> {escape(' · '.join(facts[1:]))}"
        drawn = _pictures(tensor.detach()) or ("" if tensor.dtype == torch.bool else _histogram(sample))
        numbers = _numbers(tensor.dtype, sample, part)
    text = f'<pre style="background:none;color:inherit;margin:0.3em 0">{escape(repr(tensor))}</pre>'
    return f'<div style="color:inherit">{head}<div style="opacity:0.8">{numbers}</div>{drawn}{text}</div>'


def has_numbers(tensor: torch.Tensor) -> bool:
    """Whether it is a plain tensor that has numbers of its own in memory."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout is not torch.strided:
        return False
    return not (tensor.is_meta or tensor.is_quantized or tensor.is_nested)


def numbers_of(tensor: torch.Tensor) -> str:
    """The range, the mean, and how many aren't finite; of a large tensor in a sample."""
    return _numbers(tensor.dtype, *_sample(tensor.detach()))


def _bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} GiB"


def _sample(tensor: torch.Tensor) -> tuple[torch.Tensor, bool]:
    """Numbers of a tensor on the CPU, evenly spread, and whether they are only a part: a view, so nothing is copied.

    Of complex ones their absolute values.
    """
    step = math.ceil((tensor.numel() / _MOST) ** (1 / max(tensor.dim(), 1)))
    part = step > 1
    view = tensor[tuple(slice(None, None, step) for _ in tensor.shape)] if part else tensor
    if tensor.is_complex():
        view = view.abs()
    return view.to("cpu", torch.float64).flatten(), part


def _numbers(dtype: torch.dtype, sample: torch.Tensor, part: bool) -> str:
    """The range, the mean, and how many aren't finite; of bools how many are true."""
    if not sample.numel():
        return "empty"
    if dtype == torch.bool:
        return f"{int(sample.sum()):,} of {sample.numel():,}{' that were looked at' if part else ''} are true"
    finite = sample[sample.isfinite()]
    counts = [("NaN", int(sample.isnan().sum())), ("infinite", int(sample.isinf().sum()))]
    said = [f"{count} {name}" for name, count in counts if count]
    if finite.numel():
        said.insert(0, f"{'absolute values: ' if dtype.is_complex else ''}{_range(finite, sample.numel())}")
    return ", ".join(said) + (f" (of {sample.numel():,} of its numbers)" if part else "")


def _range(finite: torch.Tensor, count: int) -> str:
    """The range and the mean of the finite values; ``count`` is the number of all."""
    low, high = finite.min().item(), finite.max().item()
    if low == high:
        return f"{'all ' if 1 < finite.numel() == count else ''}{low:.4g}"
    return f"{low:.4g} to {high:.4g}, mean {finite.mean().item():.4g}"


def _histogram(sample: torch.Tensor) -> str:
    finite = sample[sample.isfinite()]
    if finite.numel() < 2 or finite.min() == finite.max():
        return ""
    return bars(torch.histc(finite, _BINS).tolist())


def _pictures(tensor: torch.Tensor) -> str:
    """One picture ``(C, H, W)``, or the first of a batch ``(N, C, H, W)``; nothing for what has no such shape."""
    if tensor.dim() not in (3, 4):
        return ""
    rows = tensor[None] if tensor.dim() == 3 else tensor[:_PICTURES]
    if not len(rows) or not is_image(rows[0]):
        return ""
    return f"<div>{''.join(map(picture_of, rows))}</div>"
