"""A step of a model as what its kernels read and write: values in buffers, and the operations between them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch.utils import _pytree as pytree

__all__ = ["Graph", "Key", "Node", "Value", "values_in"]

Key = tuple[int, int]
"""A buffer, and how often it had been written to."""


@dataclass(frozen=True)
class Value:
    """A tensor as it was at one time: where it lies in which buffer. A view differs from its base in geometry alone."""

    buffer: int
    version: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """0 where the size is 1."""
    dtype: torch.dtype
    lazy: bool = False
    """Whether a conjugation or a sign is still to be applied."""

    @property
    def key(self) -> Key:
        """The buffer and its version."""
        return self.buffer, self.version

    @property
    def dim(self) -> int:
        """The number of dims."""
        return len(self.shape)

    @property
    def numel(self) -> int:
        """The number of elements, those that share a place too."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """The room of its elements, where several that share a place (``expand``) are one."""
        places = math.prod(size for size, stride in zip(self.shape, self.strides, strict=True) if stride or size == 0)
        return places * self.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one after the other."""
        return self.strides == dense(self.shape)

    def reshaped(self, *shape: int) -> Value:
        """A contiguous value with other sizes."""
        return Value(self.buffer, self.version, self.offset, shape, dense(shape), self.dtype, self.lazy)

    def with_dims(self, *dims: tuple[int, int]) -> Value:
        """The same place with other (size, stride)."""
        shape = tuple(size for size, _ in dims)
        strides = tuple(stride if size != 1 else 0 for size, stride in dims)
        return Value(self.buffer, self.version, self.offset, shape, strides, self.dtype, self.lazy)

    @property
    def dims(self) -> tuple[tuple[int, int], ...]:
        """(size, stride) of each."""
        return tuple(zip(self.shape, self.strides, strict=True))


def dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a contiguous tensor, 0 for sizes of 1."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step if size != 1 else 0)
        step *= max(size, 1)
    return tuple(reversed(strides))


def values_in(tree: Any) -> Iterator[Value]:
    """Each value once, in the order of a call's arguments."""
    leaves = pytree.tree_leaves(tree, is_leaf=lambda leaf: isinstance(leaf, Value))
    yield from dict.fromkeys(leaf for leaf in leaves if isinstance(leaf, Value))


@dataclass(eq=False)
class Node:
    """One kernel: an operation that isn't a view."""

    index: int
    op: Any
    """The operator of torch."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    """Its arguments, with values in place of tensors."""
    outputs: tuple[Value, ...]
    reads: tuple[tuple[Value, int], ...]
    writes: tuple[tuple[Value, int], ...]
    """What it reads and writes, with the bytes of that."""
    uses: frozenset[Key]
    """What it depends on."""
    flops: int
    backward: bool
    sequences: tuple[int, ...]
    """The numbers that a forward operation shares with those of its gradient."""
    path: str
    """The module that called it; in the backward pass the one whose gradient it belongs to."""
    place: tuple[str, int] | None
    """File and line of the program that did."""
    call: tuple[str, int] | None = None
    """The function of torch that made it out of several operations, and which call of that function."""

    @cached_property
    def name(self) -> str:
        """The operator's name without overload and without the mark of in-place operations."""
        base = self.op if isinstance(self.op, str) else self.op.overloadpacket.__name__
        return base if base.endswith("__") else base.removesuffix("_")

    @property
    def out(self) -> Value:
        """The first result."""
        return self.outputs[0]

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Its arguments that are tensors."""
        return tuple(values_in((self.args, self.kwargs)))

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written

    @property
    def bytes_read(self) -> int:
        """Bytes read."""
        return sum(count for _, count in self.reads)

    @property
    def bytes_written(self) -> int:
        """Bytes written."""
        return sum(count for _, count in self.writes)

    @property
    def dtype(self) -> torch.dtype:
        """The dtype that it computes in; for matrix products that of the factors."""
        floats = [value.dtype for value, _ in self.reads if value.dtype.is_floating_point]
        return floats[0] if floats else torch.float32


@dataclass
class Graph:
    """The nodes of a step in the order in which they ran."""

    nodes: list[Node]
    results: frozenset[Key]
    """What the step leaves behind: results, gradients, changed buffers, what the model kept."""
    differentiable: frozenset[int]
    """Buffers that gradients flow to."""
    views: dict[Value, tuple[Value, int | None]]
    """Of a view what it is a view of, and the number of its gradient."""
    sources: dict[int, tuple[torch.Tensor, int]]
    """Tensors with values (parameters, inputs, constants) by buffer, and where in their storage the buffer starts."""
    sizes: dict[int, int]
    """Bytes of each buffer."""

    @cached_property
    def writers(self) -> dict[Key, Node]:
        """The writer of each value."""
        return {value.key: node for node in self.nodes for value in node.outputs}

    @cached_property
    def users(self) -> dict[Key, list[Node]]:
        """The users of each value."""
        found: dict[Key, list[Node]] = defaultdict(list)
        for node in self.nodes:
            for key in node.uses:
                found[key].append(node)
        return found

    @cached_property
    def gradients(self) -> dict[int, list[Node]]:
        """The backward nodes of each sequence number."""
        found: dict[int, list[Node]] = defaultdict(list)
        for node in self.nodes:
            for number in node.sequences if node.backward else ():
                found[number].append(node)
        return found

    def consumers(self, node: Node) -> list[Node]:
        """The nodes that use this node's results."""
        return list(dict.fromkeys(user for value in node.outputs for user in self.users.get(value.key, ())))

    def producers(self, node: Node) -> list[Node]:
        """On whom this node depends."""
        return list(dict.fromkeys(self.writers[key] for key in node.uses if key in self.writers))

    def maker(self, value: Any) -> Node | None:
        """The node whose result is exactly this value, not a view of it."""
        node = self.writers.get(value.key) if isinstance(value, Value) else None
        return node if node is not None and node.out == value else None

    def reshaper(self, value: Any) -> Node | None:
        """The node whose result this value is, perhaps with other sizes but with every element at its place."""
        node = self.writers.get(value.key) if isinstance(value, Value) else None
        if node is None or node.out.numel != value.numel or node.out.offset != value.offset:
            return None
        same = node.out.shape == value.shape and node.out.strides == value.strides
        return node if same or (node.out.is_contiguous and value.is_contiguous) else None

    def view_numbers(self, value: Value, given: Collection[Value]) -> Iterator[int]:
        """The numbers of the views between this value and what was made, or given."""
        while value not in given and value in self.views:
            value, number = self.views[value]
            if number is not None:
                yield number

    def adds_foreign_gradient(self, node: Node, own: Collection[Node]) -> bool:
        """Whether it adds the gradient of another use of a tensor: autograd adds them where the last one arrives."""
        if node.name != "add" or len(node.args) != 2:
            return False
        makers = [self.writers.get(value.key) for value in node.args if isinstance(value, Value)]
        return len(makers) == 2 and not all(maker in own for maker in makers)

    def source(self, value: Value) -> torch.Tensor | None:
        """The tensor from before the step, with its values; None if it has none, or has been changed."""
        known = self.sources.get(value.buffer)
        if known is None or value.version or known[0].is_meta:
            return None
        tensor, start = known
        return tensor.detach().as_strided(value.shape, value.strides, start + value.offset)

    def escapes(self, node: Node, within: Iterable[Node]) -> bool:
        """Whether a result of the node is used outside of these nodes, or left behind by the step."""
        inside = set(within)
        keys = [value.key for value in node.outputs]
        return any(key in self.results for key in keys) or any(user not in inside for user in self.consumers(node))
