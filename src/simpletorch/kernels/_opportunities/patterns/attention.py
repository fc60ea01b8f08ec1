"""Attention written as two matrix products with a softmax in between."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from simpletorch.kernels._opportunities._graph import Graph, Node, Value
from simpletorch.kernels._opportunities._match import Match, is_float, number, ordered
from simpletorch.kernels._opportunities.patterns.elementwise import scale_of
from simpletorch.kernels.shipped import attention

__all__ = ["attended"]

_LARGEST_HEAD = 256  # that flash attention takes
_CASTS = ("_to_copy", "clone")


@dataclass
class _Scores:
    """The operations on the scores before the softmax."""

    product: Node
    nodes: list[Node]
    scale: float = 1.0
    mask: Value | None = None
    how: str = ""
    shape: tuple[int, ...] = ()


@dataclass
class _Operand:
    """A factor of a product as heads, and the copies that only the product needed."""

    value: Value
    copies: list[Node] = field(default_factory=list)


def attended(graph: Graph, node: Node) -> Iterator[Match]:
    """``softmax(scale * query @ key.T + mask) @ value``."""
    if node.name != "bmm":
        return
    shares, parts, dropped = _shares(graph, node.args[0])
    if shares is None or shares.name != "_softmax" or shares.args[1] not in (-1, shares.out.dim - 1):
        return
    scores = _scores(graph, shares.args[0])
    if scores is None or len(scores.shape) < 3 or scores.shape[-1] != node.args[1].shape[1]:
        return
    lead = scores.shape[:-2]
    query = _operand(graph, scores.product.args[0], lead, scores.product)
    key = _operand(graph, scores.product.args[1], lead, scores.product)
    value = _operand(graph, node.args[1], lead, node)
    if query.value.shape[-1] > _LARGEST_HEAD or value.value.shape[-1] != query.value.shape[-1]:
        return
    if query.value.dtype != node.out.dtype:
        return
    yield from _match(graph, node, scores, (query, key, value), [shares, *parts], dropped)


def _shares(graph: Graph, value: Value) -> tuple[Node | None, list[Node], float]:
    """The softmax behind dropout and casts, these, and the chance to be dropped."""
    parts: list[Node] = []
    dropped = 0.0
    node = graph.reshaper(value)
    while node is not None and node.name in (*_CASTS, "native_dropout"):
        if node.name == "native_dropout":
            dropped = round(float(node.args[1]), 9)
        parts.append(node)
        node = graph.reshaper(node.args[0])
    return node, parts, dropped


def _scores(graph: Graph, value: Value) -> _Scores | None:
    """The product of query and key behind scale, mask and casts."""
    nodes: list[Node] = []
    shape, scale, mask, how = value.shape, 1.0, None, ""
    node = graph.reshaper(value)
    while node is not None and node.name != "bmm":
        nodes.append(node)
        factor = scale_of(node)
        if factor is not None:
            scale *= factor
            value = node.args[0]
        elif node.name == "_to_copy" and is_float(node.args[0]) and node.args[0].dtype.itemsize <= value.dtype.itemsize:
            value = node.args[0]
        elif mask is None and scale == 1.0 and (found := _masked(node)) is not None:
            value, mask, how = found
        else:
            return None
        shape = value.shape if value.dim > len(shape) else shape
        node = graph.reshaper(value)
    if node is None or math.prod(shape) != node.out.numel:
        return None
    return _Scores(node, nodes, scale, mask, how, shape)


def _masked(node: Node) -> tuple[Value, Value, str] | None:
    """Scores, mask, and how the mask is meant: "hidden" is bool, "added" is a float."""
    args = node.args
    if node.name == "masked_fill" and is_float(args[0]) and isinstance(args[1], Value):
        return (args[0], args[1], "hidden") if number(args[2]) == -math.inf else None
    if node.name == "add" and len(args) == 2 and is_float(*args) and node.kwargs.get("alpha", 1) == 1:
        scores, mask = args if args[0].shape == node.out.shape else args[::-1]
        return (scores, mask, "added") if scores.shape == node.out.shape and scores.dtype == node.out.dtype else None
    return None


def _operand(graph: Graph, value: Value, lead: tuple[int, ...], product: Node) -> _Operand:
    """A (heads, n, m) factor as (*lead, n, m); without the copy that made it so, if nothing else reads that."""
    copy = graph.reshaper(value)
    while copy is not None and copy.name == "clone" and copy.args[0].shape[: len(lead)] == lead:
        own = {product, *(n for number in product.sequences for n in graph.gradients.get(number, ()))}
        if copy.out.key in graph.results or any(user not in own for user in graph.users[copy.out.key]):
            break
        return _Operand(copy.args[0], [copy])
    count, rest = len(lead), value.dims[1:]
    step = value.dims[0][1]
    dims = []
    for i in range(count):
        dims.append((lead[i], step * math.prod(lead[i + 1 :])))
    return _Operand(value.with_dims(*dims, *rest))


def _four(value: Value, *, shared: bool) -> Value | None:
    """A (…, heads, n, m) value as (batch, heads, n, m); ``shared``: without the dim along which heads repeat."""
    dims = [*value.dims[:-2]]
    if shared and len(dims) > 2 and dims[-1][1] == 0 and dims[-1][0] > 1:
        dims.pop()
    while len(dims) > 2:
        (size, stride), (inner, step) = dims[-2], dims[-1]
        if size != 1 and inner != 1 and stride != step * inner:
            return None
        dims[-2:] = [(size * inner, step if inner != 1 else stride)]
    if len(dims) == 1:
        dims.insert(0, (1, 0))
    return value.with_dims(*dims, *value.dims[-2:])


def _is_causal(graph: Graph, scores: _Scores) -> bool:
    """Whether the mask is known to hide what is later: ``ones(t, t).triu(1)``, or the opposite of its opposite."""
    mask = scores.mask
    if mask is None or scores.how == "added" or scores.shape[-1] != scores.shape[-2]:
        return False
    value, hides = mask.with_dims(*mask.dims[-2:]), True
    node = graph.maker(value) if value.shape == scores.shape[-2:] and value.numel == mask.numel else None
    while node is not None and node.name in ("bitwise_not", "logical_not", "_to_copy"):
        hides ^= node.name != "_to_copy"
        node = graph.maker(node.args[0])
    if node is None or node.name not in ("triu", "tril"):
        return False
    ones, diagonal = graph.maker(node.args[0]), node.args[1] if len(node.args) > 1 else 0
    if (node.name, diagonal) != (("triu", 1) if hides else ("tril", 0)) or ones is None:
        return False
    return ones.name in ("ones", "ones_like") or (ones.name in ("full", "full_like") and ones.args[1] == 1)


def _match(
    graph: Graph,
    node: Node,
    scores: _Scores,
    operands: tuple[_Operand, _Operand, _Operand],
    between: list[Node],
    dropped: float,
) -> Iterator[Match]:
    query, key, value = operands
    turned = key.value.with_dims(*key.value.dims[:-2], *key.value.dims[:-3:-1])
    grouped = len(scores.shape) > 4
    q, k, v = _four(query.value, shared=False), _four(turned, shared=grouped), _four(value.value, shared=grouped)
    if q is None or k is None or v is None or k.shape[1] != v.shape[1] or q.shape[1] % max(k.shape[1], 1):
        return
    causal = _is_causal(graph, scores)
    mask = None if causal or scores.mask is None else _mask(scores.mask, q, k)
    if scores.mask is not None and not causal and mask is None:
        return
    if mask is not None and mask.buffer in graph.differentiable:  # the scores' gradient is needed then
        return
    if mask is not None and mask.buffer in graph.differentiable:  # the scores' gradient is needed then
        return
    copies = [copy for operand in operands for copy in operand.copies]
    nodes = ordered((scores.product, *scores.nodes, *between, *copies, node))
    hidden, scale, shape = scores.how == "hidden", scores.scale, node.out.shape

    def run(
        q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, ...]:
        seen = ~mask if mask is not None and hidden else mask
        return (attention(q, k, v, mask=seen, causal=causal, scale=scale).reshape(shape),)

    options = ["causal=True"] * causal
    if mask is not None:
        options.append("mask=~hidden" if hidden else "mask=mask")
    if not math.isclose(scale, q.shape[-1] ** -0.5, rel_tol=1e-6):
        options.append(f"scale={scale:.6g}")
    if dropped:
        options.append(f"dropout={dropped:g} if self.training else 0.0")
    flops = scores.product.flops + node.flops
    yield Match(
        "attention",
        f"kernels.attention({', '.join(('query', 'key', 'value', *options))})",
        nodes,
        (q, k, v) if mask is None else (q, k, v, mask),
        (node.out,),
        run,
        saved=(q, k, v, node.out) if mask is None else (q, k, v, node.out, mask),
        slopes=tuple(x for x in (q, k, v) if x.buffer in graph.differentiable),
        flops=flops,
        backward_flops=flops * 5 // 2,  # the scores are computed once more
        random=(dropped,) if dropped else (),
    )


def _mask(mask: Value, q: Value, k: Value) -> Value | None:
    """A mask that fits (batch, heads, t, s) by broadcasting."""
    dims: list[Any] = [*mask.dims]
    full = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    while len(dims) > 4 and dims[0][0] == 1:
        dims.pop(0)
    if len(dims) > 4:
        while len(dims) > 3 and (dims[-3][1] == 0 or dims[-3][0] == 1):
            dims.pop(-3)
        dims.insert(-2, (1, 0))
    if len(dims) > 4 or any(size not in (1, whole) for (size, _), whole in zip(dims[::-1], full[::-1], strict=False)):
        return None
    return mask.with_dims(*dims)
