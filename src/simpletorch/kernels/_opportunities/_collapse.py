"""Operations that torch splits into several kernels on the CPU, where a GPU has one: dropout and RMS normalization.

The step is run on tensors that lie on the CPU, so that the devices that a program names itself go on to fit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import torch

from simpletorch.kernels._opportunities._graph import Graph, Node, Value

__all__ = ["collapsed"]


def collapsed(graph: Graph) -> Graph:
    """The graph with one node for each call of such a function, and one for its gradient."""
    calls: dict[tuple[str, int], list[Node]] = defaultdict(list)
    for node in graph.nodes:
        if node.call is not None:
            calls[node.call].append(node)
    instead: dict[Node, Node | None] = {}
    for (name, _), parts in calls.items():
        if name == "dropout":
            instead |= _dropout(graph, parts)
        elif name == "rms_norm" and hasattr(torch.ops.aten, "_fused_rms_norm"):
            instead |= _rms_norm(graph, parts)
    nodes = [made for node in graph.nodes if (made := instead.get(node, node)) is not None]
    for i, node in enumerate(nodes):
        node.index = i
    return replace(graph, nodes=nodes)


def _dropout(graph: Graph, parts: Sequence[Node]) -> dict[Node, Node | None]:
    """``x * empty_like(x).bernoulli_(1 - p).div_(1 - p)`` as the fused kernel, whose mask has a byte an element."""
    if [node.name for node in parts] != ["empty_like", "bernoulli", "div", "mul"]:
        return {}
    last = parts[-1]
    x, noise = last.args
    mask = noise.numel
    kept = parts[1].args[1] if len(parts[1].args) > 1 else 0.5  # an argument with its default value isn't passed on
    node = replace(
        last,
        op="native_dropout",
        args=(x, 1.0 - float(kept), True),
        outputs=(last.out, noise),
        reads=((x, x.bytes),),
        writes=((last.out, last.out.bytes), (noise, mask)),
        uses=frozenset((x.key,)),
    )
    instead: dict[Node, Node | None] = {**dict.fromkeys(parts), last: node}
    for user in graph.users[noise.key]:
        if user is not last:
            reads = tuple((value, mask if value == noise else count) for value, count in user.reads)
            instead[user] = replace(user, op="native_dropout_backward", reads=reads)
    return instead


def _rms_norm(graph: Graph, parts: Sequence[Node]) -> dict[Node, Node | None]:
    """The powers, means and products of `torch.nn.functional.rms_norm` as the kernel that keeps a number a row."""
    inside = set(parts)
    last = parts[-1]
    made = {value.key for node in parts for value in node.outputs}
    given = list(dict.fromkeys(value for node in parts for value, _ in node.reads if value.key not in made))
    eps = next(
        (float(node.args[1]) for node in parts if node.name == "add" and not isinstance(node.args[1], Value)), None
    )
    inverse = next((node.out for node in parts if node.name == "rsqrt"), None)
    if len(given) not in (1, 2) or given[0].shape != last.out.shape or eps is None or inverse is None:
        return {}
    sequences = tuple(number for node in parts for number in node.sequences)
    forward = replace(
        last,
        op="_fused_rms_norm",
        args=(given[0], given[1] if len(given) == 2 else None, eps),
        outputs=(last.out, inverse),
        reads=tuple((value, value.bytes) for value in given),
        writes=((last.out, last.out.bytes), (inverse, inverse.bytes)),
        uses=frozenset(value.key for value in given),
        sequences=sequences,
    )
    instead: dict[Node, Node | None] = {**dict.fromkeys(parts), last: forward}
    own = [node for number in sequences for node in graph.gradients.get(number, ())]
    # the last kernels may add what other uses of the input have as gradients: these stay
    backward = [node for node in dict.fromkeys(own) if not graph.adds_foreign_gradient(node, set(own))]
    if not backward or any(user not in inside | set(backward) for node in parts[:-1] for user in graph.consumers(node)):
        return instead if not backward else {}
    within = {value.key for node in backward for value in node.outputs}
    outer = [v for n in backward for v, _ in n.reads if v.key not in within | made]
    results = tuple(n.out for n in backward if graph.escapes(n, backward))
    reads = tuple(dict.fromkeys((*outer, *given, inverse)))
    instead |= dict.fromkeys(backward)
    instead[backward[-1]] = replace(
        max(backward, key=lambda node: node.index),
        op="_fused_rms_norm_backward",
        args=reads,
        outputs=results,
        reads=tuple((value, value.bytes) for value in reads),
        writes=tuple((value, value.bytes) for value in results),
        uses=frozenset(value.key for value in reads),
        sequences=sequences,
    )
    return instead
