"""Normalizations over the last dim, written by hand: rms_norm, the residual stream's addition before it, layer_norm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from simpletorch.kernels._opportunities._graph import Graph, Node, Value
from simpletorch.kernels._opportunities._match import Match, is_float, number, ordered, peeled
from simpletorch.kernels._opportunities.patterns.elementwise import added
from simpletorch.kernels.shipped import add_rms_norm, layer_norm, rms_norm

__all__ = ["mean_normalized", "root_normalized", "summed_root_normalized"]

Parts = tuple[Node, ...]


def _per_row(value: Any, x: Value) -> bool:
    return isinstance(value, Value) and value.shape == (*x.shape[:-1], 1)


def _mean_of(graph: Graph, value: Any) -> Node | None:
    """The mean over the last dim that a value is."""
    node = graph.maker(value)
    if node is None or node.name != "mean" or len(node.args) < 3 or not node.args[2] or node.kwargs.get("dtype"):
        return None
    dims = tuple(node.args[1] or ())
    return node if dims in ((-1,), (node.args[0].dim - 1,)) else None


def _square_of(graph: Graph, value: Any) -> tuple[Value, Node] | None:
    """The operand that a value is the square of."""
    node = graph.maker(value)
    if node is None:
        return None
    if node.name == "pow" and number(node.args[1]) == 2.0 and isinstance(node.args[0], Value):
        return node.args[0], node
    if node.name == "mul" and is_float(*node.args) and node.args[0] == node.args[1]:
        return node.args[0], node
    return None


def _with_eps(graph: Graph, value: Any) -> tuple[Any, float, Node] | None:
    """``value + eps``."""
    node = graph.maker(value)
    eps = number(node.args[1]) if node is not None and node.name == "add" and len(node.args) == 2 else None
    if node is None or eps is None or node.kwargs.get("alpha", 1) != 1:
        return None
    return node.args[0], eps, node


def _scaled_rows(graph: Graph, value: Value) -> Iterator[tuple[Value, Any, Parts]]:
    """``x / sqrt(v)`` in its spellings: x, v, and the nodes."""
    node = graph.maker(value)
    if node is None or node.name not in ("mul", "div") or len(node.args) != 2 or not is_float(*node.args):
        return
    pairs = (node.args, node.args[::-1]) if node.name == "mul" else (node.args,)
    for x, root in pairs:
        maker = graph.maker(root)
        if maker is None or not _per_row(root, x) or x.shape != value.shape:
            continue
        if node.name == "div":
            if maker.name == "sqrt":
                yield x, maker.args[0], (maker, node)
        elif maker.name == "rsqrt" or (maker.name == "pow" and number(maker.args[1]) == -0.5):
            yield x, maker.args[0], (maker, node)
        elif maker.name == "reciprocal":
            square_root = graph.maker(maker.args[0])
            if square_root is not None and square_root.name == "sqrt":
                yield x, square_root.args[0], (square_root, maker, node)


def _weighted(graph: Graph, node: Node) -> Iterator[tuple[Value, Value, Parts]]:
    """``normal * weight``: normal (before a cast to a narrower dtype), weight, and the nodes."""
    if node.name != "mul" or len(node.args) != 2 or not is_float(*node.args):
        return
    for normal, weight in (node.args, node.args[::-1]):
        if weight.shape == normal.shape[-1:] and weight.shape and normal.shape == node.out.shape:
            yield normal, weight, (node,)
            cast = graph.maker(normal)
            if cast is not None and cast.name == "_to_copy" and is_float(cast.args[0]):
                wide = cast.args[0]
                if wide.dtype.itemsize > normal.dtype.itemsize and wide.shape == normal.shape:
                    yield wide, weight, (cast, node)


def _narrowed(graph: Graph, node: Node, dtype: torch.dtype) -> Node | None:
    """The node, or the one that alone uses it and casts it to ``dtype``."""
    if node.out.dtype == dtype:
        return node
    users = [user for user in graph.users.get(node.out.key, ()) if not user.backward]
    if len(users) == 1 and users[0].name == "_to_copy" and users[0].out.dtype == dtype:
        return users[0] if users[0].args[0] == node.out else None
    return None


def _root_normalized(graph: Graph, node: Node) -> Iterator[tuple[Value, Value, float, Parts, Node]]:
    """x, weight, eps, nodes and the last of them, of an RMS normalization."""
    if node.name == "_fused_rms_norm" and node.args[1] is not None:
        yield node.args[0], node.args[1], node.args[2], (node,), node
        return
    for normal, weight, first in _weighted(graph, node):
        for x, variance, second in _scaled_rows(graph, normal):
            found = _with_eps(graph, variance)
            mean = _mean_of(graph, found[0]) if found is not None else None
            square = _square_of(graph, mean.args[0]) if mean is not None else None
            if found is None or mean is None or square is None or square[0] != x:
                continue
            source, casts = peeled(graph, x)
            last = _narrowed(graph, node, source.dtype)
            if last is not None:
                nodes = (*casts, square[1], mean, found[2], *second, *first, last)
                yield source, weight, found[1], ordered(nodes), last


def root_normalized(graph: Graph, node: Node) -> Iterator[Match]:
    """``x * rsqrt(mean(x**2) + eps) * weight``."""
    for x, weight, eps, nodes, last in _root_normalized(graph, node):
        if len(nodes) > 1:

            def run(x: torch.Tensor, weight: torch.Tensor, eps: float = eps) -> tuple[torch.Tensor, ...]:
                return (rms_norm(x, weight, eps),)

            call = f"kernels.rms_norm(x, weight, eps={eps:g})"
            yield Match("rms_norm", call, nodes, (x, weight), (last.out,), run, saved=(x, weight))


def summed_root_normalized(graph: Graph, node: Node) -> Iterator[Match]:
    """The same of ``x + residual``, which goes on too."""
    for x, weight, eps, nodes, last in _root_normalized(graph, node):
        total = added(graph, x)
        if total is None:
            continue

        def run(
            x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float = eps
        ) -> tuple[torch.Tensor, ...]:
            return add_rms_norm(x, residual, weight, eps)

        first, second = total.args
        yield Match(
            "add_rms_norm",
            f"normed, total = kernels.add_rms_norm(x, residual, weight, eps={eps:g})",
            ordered((total, *nodes)),
            (first, second, weight),
            (last.out, total.out),
            run,
            saved=(total.out, weight),
            slopes=(first if first.buffer in graph.differentiable else second, weight),
            adds_gradients=(total.out,),
        )


def mean_normalized(graph: Graph, node: Node) -> Iterator[Match]:
    """``(x - mean) / sqrt(variance + eps) * weight + bias``."""
    bias, product = None, node
    if node.name == "add" and len(node.args) == 2 and is_float(*node.args) and node.kwargs.get("alpha", 1) == 1:
        for scaled, shift in (node.args, node.args[::-1]):
            maker = graph.maker(scaled)
            if maker is not None and shift.shape == node.out.shape[-1:] and scaled.shape == node.out.shape:
                bias, product = shift, maker
    for normal, weight, first in _weighted(graph, product):
        for centred, variance, second in _scaled_rows(graph, normal):
            found = _with_eps(graph, variance)
            middle = _centred(graph, centred)
            if found is None or middle is None:
                continue
            spread = _variance(graph, found[0], centred, middle[0])
            source, casts = peeled(graph, middle[0])
            last = _narrowed(graph, node, source.dtype)
            if spread is None or last is None:
                continue
            eps, given = found[1], (source, weight) if bias is None else (source, weight, bias)

            def run(
                x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, eps: float = eps
            ) -> tuple[torch.Tensor, ...]:
                return (layer_norm(x, weight, bias, eps),)

            nodes = ordered((*casts, *middle[1], *spread, found[2], *second, *first, node, last))
            call = f"kernels.layer_norm(x, weight, {'' if bias is None else 'bias, '}eps={eps:g})"
            yield Match("layer_norm", call, nodes, given, (last.out,), run, saved=(source, weight))


def _centred(graph: Graph, value: Value) -> tuple[Value, Parts] | None:
    """``x - mean(x)``: x and the nodes."""
    node = graph.maker(value)
    if node is None or node.name != "sub" or node.kwargs.get("alpha", 1) != 1 or not is_float(*node.args):
        return None
    mean = _mean_of(graph, node.args[1])
    return (node.args[0], (mean, node)) if mean is not None and mean.args[0] == node.args[0] else None


def _variance(graph: Graph, value: Any, centred: Value, x: Value) -> Parts | None:
    """The nodes of the variance of x, without correction."""
    node = graph.maker(value)
    if node is not None and node.name == "var" and node.args[0] == x and _per_row(value, x):
        keywords = {"correction": 1, **node.kwargs}
        dims = tuple(node.args[1] or ()) if len(node.args) > 1 else ()
        uncorrected = keywords["correction"] == 0 and dims in ((-1,), (x.dim - 1,))
        return (node,) if uncorrected else None
    mean = _mean_of(graph, value)
    square = _square_of(graph, mean.args[0]) if mean is not None else None
    if mean is None or square is None:
        return None
    if square[0] == centred:
        return (square[1], mean)
    again = _centred(graph, square[0])
    return (*again[1], square[1], mean) if again is not None and again[0] == x else None
