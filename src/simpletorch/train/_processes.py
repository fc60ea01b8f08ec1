"""The processes that train together."""

from __future__ import annotations

from typing import Any, Final

import torch
import torch.distributed as dist

from simpletorch.distributed._failures import during, group_for_numbers

SHARED: Final = frozenset(("model", "optimizer", "ema"))
"""The parts of a training that are the same in all its processes; the others each process has for itself."""


class Processes:
    """Messages between the processes of one training about its checkpoints; none for a single process.

    Every method is a collective operation, on the CPU, so that no process waits for its GPU.
    """

    def __init__(self) -> None:
        together = dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1
        self.rank = dist.get_rank() if together else 0
        self.size = dist.get_world_size() if together else 1
        self._group = group_for_numbers() if together else None

    def any(self, flag: bool) -> bool:
        """Whether ``flag`` is set in one of them."""
        if self._group is None:
            return flag
        votes = torch.tensor([int(flag)])
        with during("the vote on whether to end"):
            dist.all_reduce(votes, dist.ReduceOp.MAX, group=self._group)
        return bool(votes.item())

    def first(self, value: Any) -> Any:
        """The value of the first one, in all of them."""
        if self._group is None:
            return value
        values = [value]
        with during("taking over what rank 0 has found"):
            dist.broadcast_object_list(values, src=0, group=self._group)
        return values[0]

    def together(self, state: dict[str, Any]) -> dict[str, Any]:
        """In the first process, its state with a part ``ranks``: the other processes' own state."""
        if self._group is None:
            return state
        own = {name: part for name, part in state.items() if name not in SHARED} if self.rank else {}
        owns: list[Any] | None = [None] * self.size if self.rank == 0 else None
        with during("collecting the checkpoint of all ranks"):
            dist.gather_object(own, owns, dst=0, group=self._group)
        return state if owns is None else {**state, "ranks": owns[1:]}

    def own(self, parts: dict[str, Any]) -> dict[str, Any] | None:
        """This process's state, of what `together` gave in as many processes; None if they were more or fewer."""
        if processes_of(parts) != self.size:
            return None
        mine = parts["ranks"][self.rank - 1] if self.rank else {}
        return {name: part for name, part in {**parts, **mine}.items() if name != "ranks"}

    def wait(self) -> None:
        """Until all of them have come here."""
        if self._group is not None:
            with during("waiting for all ranks"):
                dist.barrier(group=self._group)


def processes_of(parts: dict[str, Any]) -> int:
    """How many processes a saved training had."""
    return 1 + len(parts.get("ranks", []))
