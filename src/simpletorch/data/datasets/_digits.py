"""Real images that need no download."""

from __future__ import annotations

from typing import Any

import torch

from simpletorch._distribution import installing
from simpletorch.data._tensors import TensorDataset
from simpletorch.dtypes import Float32, Int64
from simpletorch.errors import DataError
from simpletorch.tensor import Tensor

_SPLIT_SEED = 0
_TEST_SHARE = 0.2


class Digits(TensorDataset[Tensor[Float32, 1, 8, 8], Tensor[Int64]]):
    """1,797 scanned handwritten digits, 8×8 grey values each, as scikit-learn ships them: works offline.

    A sample is ``(image, target)``: Float32 ``[1, 8, 8]`` between 0 (paper) and 1 (ink), and Int64 ``[]`` from 0 to 9.
    ``Digits(train=True)`` has 1,437 of them and ``Digits(train=False)`` the other 360; the split is always the same one
    and stratified, so both parts have every digit in the same proportion.

    Args:
        train: the training part if true, the test part if false.

    Raises:
        DataError: scikit-learn is not installed.

    Source: Alpaydin & Kaynak 1998, "Optical recognition of handwritten digits", UCI repository, CC BY 4.0;
    https://scikit-learn.org/stable/modules/generated/sklearn.datasets.load_digits.html
    """

    classes = tuple("0123456789")

    def __init__(self, train: bool = True) -> None:
        try:
            from sklearn.datasets import load_digits
            from sklearn.model_selection import train_test_split
        except ImportError as error:
            raise DataError(
                f"Digits reads the images that ship with scikit-learn, which is not installed: {installing('sklearn')}"
            ) from error
        bunch = load_digits()
        rows = train_test_split(
            range(len(bunch.target)),
            test_size=_TEST_SHARE,
            random_state=_SPLIT_SEED,
            stratify=bunch.target,
        )[0 if train else 1]
        images = torch.tensor(bunch.images[rows], dtype=torch.float32).unsqueeze(1) / 16
        targets = torch.tensor(bunch.target[rows], dtype=torch.int64)
        super().__init__(images, targets)

    @property
    def images(self) -> Tensor[Float32, Any, 1, 8, 8]:
        """All images, Float32 ``[N, 1, 8, 8]`` in 0..1."""
        return self.tensors[0]

    @property
    def targets(self) -> Tensor[Int64, Any]:
        """All targets, Int64 ``[N]`` in 0..9."""
        return self.tensors[1]
