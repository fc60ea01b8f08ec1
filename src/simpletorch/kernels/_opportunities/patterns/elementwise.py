"""Sums and products of two tensors with a function in between, and the softmax of scaled scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from simpletorch.kernels._opportunities._graph import Graph, Node, Value
from simpletorch.kernels._opportunities._match import Match, is_float, number, ordered, same
from simpletorch.kernels.shipped import dropout_add, geglu, geglu_packed, relu_add, softmax, swiglu, swiglu_packed

__all__ = ["added", "dropout_added", "gated", "rectified_sum", "scaled_softmax"]


def added(graph: Graph, value: Value) -> Node | None:
    """The sum of two tensors alike that a value is."""
    node = graph.maker(value)
    if node is None or node.name != "add" or node.kwargs.get("alpha", 1) != 1 or len(node.args) != 2:
        return None
    return node if same(node.out, *node.args) else None


def rectified_sum(graph: Graph, node: Node) -> Iterator[Match]:
    """``relu(x + y)``."""
    if node.name != "relu":
        return
    total = added(graph, node.args[0])
    if total is not None:
        yield Match(
            "relu_add",
            "kernels.relu_add(x, y)",
            (total, node),
            tuple(total.args),
            (node.out,),
            lambda x, y: (relu_add(x, y),),
            saved=(node.out,),
            slopes=tuple(total.args[:1]),
        )


def _activation(graph: Graph, value: Value) -> tuple[Value, str, tuple[Node, ...]] | None:
    """The gate, the name of its function, and the nodes, of an activated gate."""
    node = graph.maker(value)
    if node is None:
        return None
    if node.name == "silu":
        return node.args[0], "silu", (node,)
    if node.name == "gelu":
        return node.args[0], node.kwargs.get("approximate", "none"), (node,)
    if node.name == "mul" and same(*node.args):
        for gate, other in (node.args, node.args[::-1]):
            sigmoid = graph.maker(other)
            if sigmoid is not None and sigmoid.name == "sigmoid" and sigmoid.args[0] == gate:
                return gate, "silu", (sigmoid, node)
    return None


def gated(graph: Graph, node: Node) -> Iterator[Match]:
    """``silu(gate) * up`` and ``gelu(gate) * up``."""
    if node.name != "mul" or not same(*node.args):
        return
    for active, up in (node.args, node.args[::-1]):
        found = _activation(graph, active)
        if found is None or not same(up, found[0], node.out):
            continue
        gate, function, parts = found
        packed = _packed(gate, up)
        values = (gate, up) if packed is None else (packed,)
        name = ("swiglu" if function == "silu" else "geglu") + ("" if packed is None else "_packed")
        arguments = "gate, up" if packed is None else "packed"
        call = f"kernels.{name}({arguments}{', tanh=True' if function == 'tanh' else ''})"
        yield Match(name, call, (*parts, node), values, (node.out,), _gate(name, function), saved=values)


def _gate(name: str, function: str) -> Callable[..., tuple[torch.Tensor, ...]]:
    kernels = {"swiglu": swiglu, "swiglu_packed": swiglu_packed, "geglu": geglu, "geglu_packed": geglu_packed}
    more = {"tanh": True} if function == "tanh" else {}
    return lambda *tensors: (kernels[name](*tensors, **more),)


def _packed(gate: Value, up: Value) -> Value | None:
    """The tensor that the two are the halves of: ``gate, up = packed.chunk(2, -1)``."""
    if not gate.dim or gate.key != up.key or gate.strides != up.strides or not gate.strides[-1]:
        return None
    (size, stride) = gate.dims[-1]
    return gate.with_dims(*gate.dims[:-1], (2 * size, stride)) if up.offset == gate.offset + size * stride else None


def dropout_added(graph: Graph, node: Node) -> Iterator[Match]:
    """``residual + dropout(x, p)``."""
    if added(graph, node.out) is not node:
        return
    for dropped, residual in (node.args, node.args[::-1]):
        drop = graph.maker(dropped)
        if drop is None or drop.name != "native_dropout":
            continue
        p = number(drop.args[1])
        if p is None or not 0.0 < p < 1.0:
            continue
        p = round(p, 9)  # p is given as 1 - p
        x = drop.args[0]

        def run(x: torch.Tensor, residual: torch.Tensor, p: float = p) -> tuple[torch.Tensor, ...]:
            return (dropout_add(x, residual, p),)

        call = f"kernels.dropout_add(x, residual, p={p:g}, training=self.training)"
        yield Match("dropout_add", call, ordered((drop, node)), (x, residual), (node.out,), run, (), (x,), random=(p,))


def scaled_softmax(graph: Graph, node: Node) -> Iterator[Match]:
    """``softmax(scale * x)`` over the last dim."""
    if node.name != "_softmax" or not is_float(node.args[0]) or node.args[2]:
        return
    scaled = graph.maker(node.args[0])
    if scaled is None or node.args[1] not in (-1, node.out.dim - 1):
        return
    scale = scale_of(scaled)
    if scale is None or not same(scaled.args[0], node.out):
        return

    def run(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (softmax(x, scale),)

    call = f"kernels.softmax(x, scale={scale:.6g})"
    yield Match("softmax", call, (scaled, node), (scaled.args[0],), (node.out,), run, saved=(node.out,))


def scale_of(node: Node) -> float | None:
    """The number that a node multiplies with, or divides by."""
    factor = number(node.args[1]) if len(node.args) == 2 else None
    if node.name == "mul":
        return factor
    if node.name == "div" and factor and not node.kwargs:
        return 1.0 / factor
    return None
