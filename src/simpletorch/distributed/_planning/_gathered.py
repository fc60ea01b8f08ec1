"""The memory of FSDP2 beside the shards: whole parameters, their gradients, and the buffers of its collectives.

The order is that of torch 2.13 (``torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py``). In the forward, the
buffer of a gather lives until the next block's parameters are copied out of theirs. In the backward, the next block is
gathered while a block computes. The buffer of a block's reduce-scatter lives until that of the next one is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simpletorch.distributed._planning._layout import Layout
from simpletorch.distributed._planning._precision import Precision

__all__ = ["gathered"]


@dataclass
class _Unit:
    """Bytes of a block that is gathered at a time, or of what is in none."""

    weights: int = 0
    gradients: int = 0
    reduced: int = 0
    """Of the buffer in which the gradients are summed."""


def gathered(layout: Layout, ranks: int, precision: Precision, last: Mapping[str, int], *, again: bool) -> int:
    """The most bytes at a time.

    Args:
        last: of the parameters, how many blocks had begun when each was last used: the gradient of a head is there
            from the beginning of the backward on.
        again: whether blocks are given up after the forward and gathered again (``reshard_after_forward``).
    """
    units = {group: _Unit() for group in ("", *layout.groups)}
    for part in layout.parts:
        unit, padded = units[part.group], part.kept * ranks
        unit.weights += padded * precision.of_compute(part.dtype).itemsize
        if part.trained:
            unit.gradients += part.local * precision.of_compute(part.dtype).itemsize
            unit.reduced += padded * precision.of_parameter(part.dtype).itemsize
    root = units.pop("")
    blocks = list(units.values())
    early = [
        sum(
            part.local * precision.of_compute(part.dtype).itemsize
            for part in layout.of("")
            if part.trained and last.get(part.name, 0) > number
        )
        for number in range(len(blocks))
    ]
    return max(_forward(root, blocks, again=again), _backward(root, blocks, early, again=again))


def _forward(root: _Unit, blocks: list[_Unit], *, again: bool) -> int:
    most, whole, buffer = 2 * root.weights, root.weights, root.weights
    for block in blocks:
        most = max(most, whole + buffer + 2 * block.weights)
        whole, buffer = whole + (0 if again else block.weights), block.weights
    return most


def _backward(root: _Unit, blocks: list[_Unit], early: list[int], *, again: bool) -> int:
    """From the last block to the first; ``early`` are gradients of what is in no block that are there by then."""
    most = summed = 0
    whole = root.weights + (0 if again else sum(block.weights for block in blocks))
    for number in reversed(range(len(blocks))):
        block, always = blocks[number], early[number]
        following = blocks[number - 1].weights if again and number else 0
        if again:
            most = max(most, whole + 2 * block.weights + summed + always)
            whole += block.weights
        most = max(most, whole + block.gradients + following + summed + always)
        whole, summed = whole - block.weights, block.reduced
        most = max(most, whole + block.gradients + following + summed + always)
    return max(most, whole + root.gradients + summed, root.gradients + root.reduced)
