"""Batches on a device, one ahead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import torch

from simpletorch._tensors import map_tensors, moved, tensors_in

if TYPE_CHECKING:
    from simpletorch.data.loading._loader import DataLoader

Batch_co = TypeVar("Batch_co", covariant=True)


class DeviceLoader(Generic[Batch_co]):
    """The batches of ``loader`` on ``device``: what `DataLoader.to` gives.

    On a GPU the next batch is copied while the program works on the one before: from page-locked memory (batches that
    aren't there yet are put there), on a stream of its own. On the CPU nothing is done. ``state_dict`` counts the
    batches that were given, not the one under way.
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
        copies = torch.cuda.Stream(self.device)
        batches = iter(self.loader)
        ahead = self._started(next(batches, _NONE), copies)
        while ahead is not _NONE:
            batch = ahead
            program = torch.cuda.current_stream(self.device)
            program.wait_stream(copies)
            for tensor in tensors_in(batch):
                if tensor.is_cuda:
                    tensor.record_stream(program)  # its memory is not given away while the program uses it
            # What moves itself does so here, on the program's stream: memory inside of it that came from the other
            # stream couldn't be marked as in use.
            batch = map_tensors(batch, _as_it_is, "to", self.device)
            self.loader.hold_state()  # before the next one is taken, so that the state doesn't count it
            ahead = self._started(next(batches, _NONE), copies)
            yield cast("Batch_co", batch)
        self.loader.release_state()

    def _started(self, batch: Any, copies: torch.cuda.Stream) -> Any:
        if batch is _NONE:
            return batch
        pinned = map_tensors(batch, _pinned, "pin_memory")
        with torch.cuda.stream(copies):
            return map_tensors(pinned, self._moved)

    def _moved(self, tensor: torch.Tensor) -> torch.Tensor:
        return cast("torch.Tensor", moved(tensor, self.device))

    def state_dict(self) -> dict[str, Any]:
        """As `DataLoader.state_dict`."""
        return self.loader.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """As `DataLoader.load_state_dict`."""
        self.loader.load_state_dict(state_dict)


_NONE = object()  # after the last batch; None may be a batch


def _as_it_is(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


def _pinned(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.device.type != "cpu" or tensor.is_pinned() else tensor.pin_memory()
