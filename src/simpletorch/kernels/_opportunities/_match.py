"""Operations of a step that one shipped kernel does together, and whether it may."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from simpletorch.kernels._opportunities._graph import Graph, Node, Value

__all__ = [
    "Match",
    "adds_gradient",
    "backward_of",
    "has_detour",
    "is_allowed",
    "is_float",
    "number",
    "ordered",
    "peeled",
    "same",
]


@dataclass(eq=False)
class Match:
    """A chain, and the call that does the same."""

    kernel: str
    """The name in `simpletorch.kernels`."""
    call: str
    """What to write instead."""
    nodes: tuple[Node, ...]
    """The chain's forward operations, in the order in which they ran."""
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    run: Callable[..., tuple[torch.Tensor, ...]]
    """The shipped kernel on tensors for ``inputs``; gives ``outputs``."""
    saved: tuple[Value, ...]
    """What its gradient reads, besides the gradients of the outputs."""
    slopes: tuple[Value, ...] | None = None
    """The inputs whose gradients it writes; by default all that have one."""
    adds_gradients: tuple[Value, ...] = ()
    """Outputs whose gradient it adds to another one, which torch would do in a kernel of its own."""
    extra: tuple[int, int] = (0, 0)
    """Bytes read and written besides inputs and outputs, forward."""
    extra_backward: tuple[int, int] = (0, 0)
    flops: int = 0
    backward_flops: int = 0
    random: tuple[float, ...] = ()
    """The chance with which it drops, where it does: the numbers drawn aren't those of the chain."""
    backward: tuple[Node, ...] = field(default=(), init=False)
    """The operations of the gradient that go too."""


def is_float(*values: Any) -> bool:
    """Whether all are values of a float dtype."""
    return all(isinstance(value, Value) and value.dtype.is_floating_point for value in values)


def same(first: Any, *others: Any) -> bool:
    """Whether all are values of one shape and one float dtype."""
    return is_float(first, *others) and all(o.shape == first.shape and o.dtype == first.dtype for o in others)


def number(value: Any) -> float | None:
    """A Python number, or None."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def peeled(graph: Graph, value: Value) -> tuple[Value, tuple[Node, ...]]:
    """The operand of a cast to a wider float dtype, and the cast."""
    node = graph.maker(value)
    if node is not None and node.name == "_to_copy" and is_float(node.args[0]):
        source = node.args[0]
        if source.dtype.itemsize < value.dtype.itemsize and source.shape == value.shape:
            return source, (node,)
    return value, ()


def has_detour(graph: Graph, nodes: Iterable[Node]) -> bool:
    """Whether something outside lies between two of these, so that they can't run at once."""
    inside = set(nodes)
    last = max(node.index for node in inside)
    todo = [user for node in inside for user in graph.consumers(node) if user not in inside and user.index < last]
    seen = set(todo)
    while todo:
        for user in graph.consumers(todo.pop()):
            if user in inside:
                return True
            if user.index < last and user not in seen:
                seen.add(user)
                todo.append(user)
    return False


def backward_of(graph: Graph, match: Match) -> tuple[Node, ...]:
    """The operations of the gradient of a chain, and of the views within it."""
    numbers = [number for node in match.nodes for number in node.sequences]
    for value in dict.fromkeys(value for node in match.nodes for value in node.values):
        numbers += graph.view_numbers(value, match.inputs)
    own = [node for number in dict.fromkeys(numbers) for node in graph.gradients.get(number, ())]
    inside = set(own)
    kept = [n for n in inside if not graph.adds_foreign_gradient(n, inside) or adds_gradient(graph, match, n)]
    return tuple(sorted(kept, key=lambda node: node.index))


def adds_gradient(graph: Graph, match: Match, node: Node) -> bool:
    """Whether it adds two gradients of an output of the chain, which the kernel does itself."""
    for value in match.adds_gradients:
        maker = graph.maker(value)
        # what is added after the gradient of that output's own operation is a gradient of an input
        if maker is not None and node.out.numel == value.numel and not set(node.sequences) & set(maker.sequences):
            return True
    return False


def is_allowed(graph: Graph, match: Match) -> bool:
    """Whether the kernel gives all that the rest of the step needs, from what is there at that time."""
    inside = {*match.nodes, *match.backward}
    given = {value.key for value in match.outputs}
    for node in match.nodes:
        keys = {value.key for value in node.outputs} - given
        if keys & graph.results or any(user not in inside for key in keys for user in graph.users.get(key, ())):
            return False
    first, last = match.nodes[0].index, match.nodes[-1].index
    for value in match.inputs:
        changer = graph.writers.get((value.buffer, value.version + 1))
        if changer is not None and changer not in inside and first < changer.index < last:
            return False
    return not has_detour(graph, match.nodes)


def ordered(nodes: Sequence[Node | None]) -> tuple[Node, ...]:
    """The nodes of a chain, each once, in the order in which they ran."""
    return tuple(sorted({node for node in nodes if node is not None}, key=lambda node: node.index))
