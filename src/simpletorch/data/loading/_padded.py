"""Sequences of different lengths in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from simpletorch._tensors import map_tensors
from simpletorch.data.loading._collate import collate


@dataclass(frozen=True)
class Padded:
    """A ``collate_fn`` for samples with sequences ``[T, *S]`` of different lengths: they become ``[B, longest T, *S]``.

    ``DataLoader(data, batch_sampler=BucketBatchSampler(lengths, 32), collate_fn=Padded())``. Tensors without a dim,
    and other values, are joined as `collate` does; of a tuple ``(tokens, label)`` the tokens are padded.

    Args:
        value: pads a shorter sequence.
        with_lengths: give ``(batch, lengths)``, lengths Int64 ``[B]`` of the first tensor that was padded.

    Raises:
        DataError: sequences differ in more than their length.

    Examples:
        >>> import torch
        >>> from simpletorch import data
        >>> words = [torch.ones(2), torch.ones(4)]
        >>> loader = data.DataLoader(words, batch_size=2, collate_fn=data.Padded(with_lengths=True))
        >>> next(iter(loader))
        (tensor([[1., 1., 0., 0.],
                [1., 1., 1., 1.]]), tensor([2, 4]))
    """

    value: float = 0.0
    with_lengths: bool = False

    def __call__(self, samples: Sequence[Any]) -> Any:
        """The batch of the samples."""
        lengths: list[int] = []
        longest: list[int] = []

        def note(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.ndim:
                lengths.append(len(tensor))
            return tensor

        for sample in samples:
            map_tensors(sample, note)
        fields = len(lengths) // len(samples)
        if fields:
            longest = [max(lengths[field::fields]) for field in range(fields)]
        batch = collate([map_tensors(sample, self._stretcher(longest)) for sample in samples])
        return (batch, torch.tensor(lengths[::fields])) if self.with_lengths else batch

    def _stretcher(self, longest: Sequence[int]) -> Any:
        # map_tensors visits the tensors of each sample in one order, so the n-th one with a dim is the n-th field
        sizes = iter(longest)

        def stretched(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.ndim == 0:
                return tensor
            missing = next(sizes) - len(tensor)
            return torch.cat([tensor, tensor.new_full((missing, *tensor.shape[1:]), self.value)]) if missing else tensor

        return stretched
