"""On the way to a device: page-locked memory, batches one ahead, channels last."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar, cast

import torch

from simpletorch._tensors import map_tensors, moved, tensors_in
from simpletorch.cuda._streams import device_of
from simpletorch.device import DeviceLike
from simpletorch.errors import DataError, as_also

__all__ = ["channels_last", "pinned", "prefetch"]

T = TypeVar("T")
_Wrong = as_also(DataError, ValueError)


def pinned(item: T) -> T:
    """``item`` with its CPU tensors in page-locked memory, from which a copy to a GPU needs no processor.

    Tensors are looked for in tuples, lists, mappings and dataclasses; a class of one's own may have ``pin_memory()``.
    Tensors that are page-locked already, or on a device, stay as they are; so do all without an accelerator.

    Args:
        item: a tensor, or a tuple, list, mapping or dataclass of tensors.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> cuda.pinned(torch.zeros(3)).is_pinned() == torch.cuda.is_available()
        True
    """
    if not torch.accelerator.is_available():
        return item
    return cast("T", map_tensors(item, _pinned, "pin_memory"))


def _pinned(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.device.type != "cpu" or tensor.is_pinned() else tensor.pin_memory()


def prefetch(
    batches: Iterable[T], device: DeviceLike = None, *, ahead: int = 1, before_next: Callable[[], None] | None = None
) -> Iterator[T]:
    """The ``batches`` on ``device``, copied there while the program works on the ones before.

    On a GPU each goes through page-locked memory, on a stream of its own, and is given out once it is there for the
    current stream. Elsewhere each is moved when it is asked for. The yielded batches have the type of the given ones.

    Args:
        batches: tensors, or tuples, lists, mappings or dataclasses of tensors.
        device: by default the accelerator that torch finds, else the CPU.
        ahead: how many batches are under way; each takes its memory on the device.
        before_next: is called each time before the next batch is taken.

    Raises:
        ValueError: ``ahead`` is not 1 or more.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> for images in cuda.prefetch([torch.zeros(7, 3)], "cpu"):
        ...     print(images.device)
        cpu
    """
    if ahead < 1:
        raise _Wrong(f"ahead is {ahead!r}: it is a number of batches, 1 or more")
    where = device_of(device)
    if where.type == "cuda":
        return _ahead(batches, where, ahead, before_next or _nothing)
    return (cast("T", moved(batch, where)) for batch in batches)


def _nothing() -> None:
    """A callback that does nothing."""


def _ahead(batches: Iterable[T], device: torch.device, ahead: int, before_next: Callable[[], None]) -> Iterator[T]:
    copies = torch.cuda.Stream(device)
    source = iter(batches)
    under_way = deque(_started(batch, device, copies) for batch in islice(source, ahead))
    while under_way:
        batch = _arrived(under_way.popleft(), device, copies)
        before_next()
        under_way.extend(_started(following, device, copies) for following in islice(source, 1))
        yield batch


def _started(batch: T, device: torch.device, copies: torch.cuda.Stream) -> T:
    held = pinned(batch)
    with torch.cuda.stream(copies):
        return cast("T", map_tensors(held, lambda tensor: cast("torch.Tensor", moved(tensor, device))))


def _arrived(batch: T, device: torch.device, copies: torch.cuda.Stream) -> T:
    program = torch.cuda.current_stream(device)
    program.wait_stream(copies)
    for tensor in tensors_in(batch):
        if tensor.is_cuda:
            tensor.record_stream(program)  # its memory is not given away while the program uses it

    # An object that moves itself does so here, on the program's stream: memory inside of it that came from the other
    # stream couldn't be marked as in use.
    return cast("T", map_tensors(batch, _as_it_is, "to", device))


def _as_it_is(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


def channels_last(item: T) -> T:
    """``item`` with its images laid out as ``N H W C`` in memory, which convolutions on tensor cores read fastest.

    A module is changed in place and returned. Tensors ``(N, C, H, W)`` and ``(N, C, D, H, W)`` get the layout that
    torch calls ``channels_last`` and ``channels_last_3d``; shapes and values stay, other ranks stay as they are.

    Args:
        item: a module, a tensor, or a tuple, list, mapping or dataclass of tensors.

    Examples:
        >>> import torch
        >>> from simpletorch import cuda
        >>> images = cuda.channels_last(torch.zeros(2, 3, 8, 8))
        >>> images.is_contiguous(memory_format=torch.channels_last)
        True

    Source: https://docs.pytorch.org/tutorials/intermediate/memory_format_tutorial.html
    """
    if isinstance(item, torch.nn.Module):
        for holder in item.modules():
            for each in (*holder.parameters(recurse=False), *holder.buffers(recurse=False)):
                each.data = _laid_out(each.data)
        return item
    return cast("T", map_tensors(item, _laid_out))


def _laid_out(tensor: torch.Tensor) -> torch.Tensor:
    formats: dict[int, Any] = {4: torch.channels_last, 5: torch.channels_last_3d}
    return tensor.contiguous(memory_format=formats[tensor.ndim]) if tensor.ndim in formats else tensor
