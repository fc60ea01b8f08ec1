"""`Transform`: the common base of image transforms."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import torch
from torch import nn
from torch.utils.data import get_worker_info

from simpletorch.errors import DataError, DTypeMismatch, ShapeMismatch

DT = TypeVar("DT")


class Transform(nn.Module):
    """A transform of images ``[*B, C, H, W]``; the base of all in `simpletorch.transforms`.

    To write one: define ``on_batch(images, numbers)`` for ``images`` ``[N, C, H, W]``. If it is random, set ``draws``
    to how many random numbers one image takes: ``numbers`` is then Float32 ``[N, draws]``, uniform in ``[0, 1)``, one
    row for each image. A fixed count is what makes a batch equal to its images one by one.

    Args:
        generator: where random numbers come from; None: torch's global generator.

    Examples:
        >>> from simpletorch import transforms
        >>> isinstance(transforms.Resize(32), transforms.Transform)
        True
    """

    draws: int = 0

    def __call__(self, image: Any) -> Any:
        """`forward`, with the types of images; subclasses state what they do to a shape."""
        return super().__call__(image)

    def __init__(self, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.generator = generator
        self.batched = True
        self._of_worker: tuple[int, torch.Generator] | None = None

    def forward(self, image: Any) -> Any:
        """The transformed image or batch.

        Args:
            image: an image or a batch, ``[*B, C, H, W]``.

        Raises:
            ShapeMismatch: it has fewer than three dims, or a size that the transform can't work on.
            DTypeMismatch: its dtype is not one that the transform works on.
        """
        return self.run(image, None)

    def run(self, image: Any, generator: torch.Generator | None) -> Any:
        """`forward`, with random numbers from ``generator`` if it has none of its own.

        Args:
            image: an image or a batch, ``[*B, C, H, W]``.
            generator: draws the numbers of a transform without its own generator; None is torch's global one.

        Returns:
            The transformed image or batch.

        Raises:
            DataError: it is no tensor.
            ShapeMismatch: it has fewer than three dims.
        """
        name = type(self).__name__
        if not isinstance(image, torch.Tensor):
            raise DataError(
                f"{name} takes a tensor [C, H, W], but got a {type(image).__name__}",
                hint="ToTensor() in front of it converts Pillow images and NumPy arrays",
            )
        if image.ndim < 3:
            raise ShapeMismatch(
                "[*B, C, H, W]", list(image.shape), f"{name} takes images [*B, C, H, W], but got {list(image.shape)}"
            )
        *lead, channels, height, width = image.shape
        count = math.prod(lead)
        if not count:  # no image at all: what one would become says the result's shape
            like = self.on_batch(image.new_zeros(1, channels, height, width), torch.zeros(1, self.draws))
            return like.new_empty(*lead, *like.shape[1:])
        images = image if len(lead) == 1 else image.reshape(count, channels, height, width)
        result = self.on_batch(images, self.drawn(count, generator))
        return result if len(lead) == 1 else result.reshape(*lead, *result.shape[1:])

    def on_batch(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """``[N, C, H, W] -> [N, C2, H2, W2]``; ``numbers``: Float32 ``[N, draws]`` in ``[0, 1)``.

        Args:
            images: a batch ``[N, C, H, W]``.
            numbers: the random numbers of each image; without random numbers ``[N, 0]``.

        Returns:
            The transformed images, ``[N, C2, H2, W2]``.
        """
        raise NotImplementedError(f"{type(self).__name__} has no on_batch(images, numbers)")

    def drawn(self, images: int, generator: torch.Generator | None) -> torch.Tensor:
        """The random numbers for ``images`` images: Float32 ``[images, draws]``, on the CPU.

        Args:
            images: the number of images.
            generator: draws the numbers of a transform without its own generator; None is torch's global one.
        """
        source = generator if self.generator is None else self.source()
        return torch.rand(images, self.draws, generator=source)

    def source(self) -> torch.Generator | None:
        """The generator for this process: in a loader's worker, one that depends on worker and epoch as well."""
        worker = get_worker_info()
        if self.generator is None or worker is None:
            return self.generator
        if self._of_worker is None or self._of_worker[0] != worker.seed:
            # the sum of two seeds may have more than the 64 bits that manual_seed takes
            seed = (self.generator.initial_seed() + worker.seed) % 2**63
            self._of_worker = worker.seed, torch.Generator().manual_seed(seed)
        return self._of_worker[1]

    def __getstate__(self) -> dict[str, Any]:
        generator = self.generator
        # bytes: a generator of torch can't be sent to a process that is spawned (torch 2.13)
        packed = None if generator is None else (generator.initial_seed(), generator.get_state().numpy().tobytes())
        return {**self.__dict__, "generator": packed, "_of_worker": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        if state["generator"] is not None:
            seed, content = state["generator"]
            self.generator = torch.Generator().manual_seed(seed)
            self.generator.set_state(torch.frombuffer(bytearray(content), dtype=torch.uint8))


def takes_batches(transform: object) -> bool:
    """Whether ``transform`` may be given a whole batch ``[N, C, H, W]``, with the result for each image by itself.

    Args:
        transform: any callable.

    Returns:
        True if it may.

    Examples:
        >>> from simpletorch import transforms
        >>> transforms.takes_batches(transforms.RandomCrop(32)), transforms.takes_batches(lambda image: image)
        (True, False)
    """
    return isinstance(transform, Transform) and transform.batched


def as_float(images: torch.Tensor) -> torch.Tensor:
    """UInt8 images as Float32 with the same values; float images as they are."""
    return images if images.is_floating_point() else images.to(torch.float32)


def as_before(result: torch.Tensor, images: torch.Tensor) -> torch.Tensor:
    """``result`` in the dtype of ``images``: rounded and kept within 0..255 if that is UInt8."""
    if images.is_floating_point():
        return result.to(images.dtype)
    return result.round().clamp(0, 255).to(images.dtype)


def check_dtype(name: str, images: torch.Tensor) -> None:
    """See that images are UInt8 or float.

    Raises:
        DTypeMismatch: they are neither.
    """
    if not images.is_floating_point() and images.dtype != torch.uint8:
        raise DTypeMismatch(
            "UInt8 or Float", images.dtype, f"{name} takes UInt8 or float images, but got {images.dtype}"
        )


def pair(name: str, what: str, value: Any) -> tuple[int, int]:
    """``(height, width)`` of an int (both the same) or a pair of ints, each at least 1."""
    both = (value, value) if isinstance(value, int) else tuple(value) if isinstance(value, (tuple, list)) else ()
    if len(both) == 1:
        both *= 2
    if len(both) != 2 or not all(isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in both):
        raise DataError(f"{name}: {what} is {value!r}, but must be a positive int or (height, width)")
    return both[0], both[1]


def probability(name: str, p: float) -> float:
    """``p``, if it is between 0 and 1."""
    if not 0 <= p <= 1:
        raise DataError(f"{name}: p is {p}, but a probability is between 0 and 1")
    return p


def between(name: str, what: str, value: Any, low: float = 0) -> tuple[float, float]:
    """A range ``(from, to)`` with ``low < from <= to``; a single number is both ends."""
    ends = (value, value) if isinstance(value, (int, float)) else tuple(value)
    if len(ends) != 2 or not low < ends[0] <= ends[1]:
        raise DataError(f"{name}: {what} is {value!r}, but must be (from, to) with {low:g} < from <= to")
    return float(ends[0]), float(ends[1])
