"""Real images that need no download."""

from __future__ import annotations

import gzip
from importlib import resources
from typing import Any, Final

import torch

from simpletorch.data._tensors import TensorDataset
from simpletorch.dtypes import Float32, Int64
from simpletorch.tensor import Tensor

_TRAINING: Final = 1437  # of 1797; tests/data/datasets/make_digits.py has written the file
_PIXELS: Final = 64


class Digits(TensorDataset[Tensor[Float32, 1, 8, 8], Tensor[Int64, ""]]):
    """1,797 scanned handwritten digits, 8×8 grey values each; they come with this package.

    A sample is ``(image, target)``: Float32 ``[1, 8, 8]`` between 0 (paper) and 1 (ink), and Int64 ``[]`` from 0 to 9.
    ``Digits(train=True)`` has 1,437 of them and ``Digits(train=False)`` the other 360; the split is always the same one
    and stratified, so both parts have every digit in the same proportion.

    Args:
        train: the training part if true, the test part if false.

    Examples:
        >>> from simpletorch import data
        >>> digits = data.Digits()
        >>> image, label = digits[0]
        >>> len(digits), image.shape, label
        (1437, torch.Size([1, 8, 8]), tensor(3))

    Source: Alpaydin & Kaynak 1998, "Optical recognition of handwritten digits", UCI repository,
    https://doi.org/10.24432/C50P49, CC BY 4.0: its test part, as scikit-learn's ``load_digits``
    has it, split and packed.
    """

    classes = tuple("0123456789")

    def __init__(self, train: bool = True) -> None:
        packed = resources.files("simpletorch.data.datasets").joinpath("digits.gz").read_bytes()
        numbers = torch.frombuffer(bytearray(gzip.decompress(packed)), dtype=torch.uint8)
        count = len(numbers) // (_PIXELS + 1)
        images, targets = numbers[: count * _PIXELS].reshape(count, 1, 8, 8), numbers[count * _PIXELS :]
        part = slice(_TRAINING) if train else slice(_TRAINING, None)
        super().__init__(images[part].to(torch.float32) / 16, targets[part].to(torch.int64))

    @property
    def images(self) -> Tensor[Float32, Any, 1, 8, 8]:
        """All images, Float32 ``[N, 1, 8, 8]`` in 0..1."""
        return self.tensors[0]

    @property
    def targets(self) -> Tensor[Int64, Any]:
        """All targets, Int64 ``[N]`` in 0..9."""
        return self.tensors[1]
