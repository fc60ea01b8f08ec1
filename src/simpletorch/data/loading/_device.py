"""Batches on a device, one ahead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import torch

from simpletorch._tensors import moved
from simpletorch.cuda import prefetch

if TYPE_CHECKING:
    from simpletorch.data.loading._loader import DataLoader

Batch_co = TypeVar("Batch_co", covariant=True)


class DeviceLoader(Generic[Batch_co]):
    """The batches of ``loader`` on ``device``; returned by `DataLoader.to`.

    On a GPU the next batch is copied while the program works on the one before: from page-locked memory (batches that
    aren't there yet are put there), on a stream of its own. On the CPU nothing is done. ``state_dict`` counts the
    batches that were given, not the one under way.

    Args:
        loader: the loader that makes the batches.
        device: the device that batches are moved to.

    Examples:
        >>> from simpletorch import data
        >>> loader = data.DataLoader(data.Digits(), batch_size=100).to("cpu")
        >>> images, labels = next(iter(loader))
        >>> images.device
        device(type='cpu')
    """

    def __init__(self, loader: DataLoader[Batch_co], device: torch.device | str) -> None:
        self.loader = loader
        self.device = torch.device(device)

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Batch_co]:
        if self.device.type == "cuda":
            return self._one_ahead()
        if self.device.type == "cpu":
            return iter(self.loader)
        return (cast("Batch_co", moved(batch, self.device)) for batch in self.loader)

    def _one_ahead(self) -> Iterator[Batch_co]:
        # held before the next batch is taken, so that the state doesn't count it
        yield from prefetch(self.loader, self.device, before_next=self.loader.hold_state)
        self.loader.release_state()

    def state_dict(self) -> dict[str, Any]:
        """As `DataLoader.state_dict`.

        Returns:
            Where the latest iteration is.
        """
        return self.loader.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """As `DataLoader.load_state_dict`.

        Args:
            state_dict: a state that `state_dict` returned, of a loader like this one.
        """
        self.loader.load_state_dict(state_dict)
