"""Rotary positions in the spellings of Llama, GPT-NeoX and GPT-J."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from simpletorch.kernels._opportunities._graph import Graph, Node, Value
from simpletorch.kernels._opportunities._match import Match, is_float, ordered, same
from simpletorch.kernels.shipped import rotary

__all__ = ["turned"]


def turned(graph: Graph, node: Node) -> Iterator[Match]:
    """``x * cos + cat([-right, left]) * sin``, and the two halves or the pairs each by itself."""
    if node.name == "add":
        yield from _with_whole_tables(graph, node)
    elif node.name in ("cat", "stack"):
        yield from _with_half_tables(graph, node)


def _product(graph: Graph, value: object) -> Node | None:
    node = graph.maker(value)
    return node if node is not None and node.name == "mul" and is_float(*node.args) else None


def _halves(x: Value) -> tuple[Value, Value]:
    """``x.chunk(2, -1)``."""
    stride, half = x.strides[-1], x.shape[-1] // 2
    left = x.with_dims(*x.dims[:-1], (half, stride))
    return left, Value(x.buffer, x.version, x.offset + half * (stride or 1), left.shape, left.strides, x.dtype, x.lazy)


def _table(value: Value, x: Value) -> Value | None:
    """A table of tokens and features, whatever dims of 1 and repetitions it was given to fit ``x``."""
    dims = [dim for dim in value.dims[:-2] if dim[1] != 0 and dim[0] != 1]
    if dims or value.dim < 2 or value.shape[-2:] != x.shape[-2:]:
        return None
    return value.with_dims(*value.dims[-2:])


def _with_whole_tables(graph: Graph, node: Node) -> Iterator[Match]:
    first, second = _product(graph, node.args[0]), _product(graph, node.args[1])
    if first is None or second is None or node.kwargs.get("alpha", 1) != 1 or node.out.dim != 4:
        return
    for plain, crossed in ((first, second), (second, first)):
        for x, cos in (plain.args, plain.args[::-1]):
            for swapped, sin in (crossed.args, crossed.args[::-1]):
                parts = _swapped(graph, swapped, x)
                c, s = (_table(t, x) for t in (cos, sin)) if same(x, node.out) else (None, None)
                if parts is None or c is None or s is None or not (_repeats(graph, c) and _repeats(graph, s)):
                    continue
                nodes = ordered((*parts, plain, crossed, node))
                text = "cos[..., : d // 2], sin[..., : d // 2]"
                yield from _matches(graph, node, nodes, x, _halves(c)[0], _halves(s)[0], text, paired=False)
                return


def _swapped(graph: Graph, value: Value, x: Value) -> tuple[Node, ...] | None:
    """The nodes of ``cat([-right, left], -1)``."""
    cat = graph.maker(value)
    if cat is None or cat.name != "cat" or len(cat.args[0]) != 2 or x.shape[-1] % 2 or value.shape != x.shape:
        return None
    if (cat.args[1] if len(cat.args) > 1 else 0) not in (-1, x.dim - 1):
        return None
    left, right = _halves(x)
    turned_right, kept_left = cat.args[0]
    neg = graph.maker(turned_right)
    return (neg, cat) if neg is not None and neg.name == "neg" and neg.args[0] == right and kept_left == left else None


def _repeats(graph: Graph, table: Value, depth: int = 20) -> bool:
    """Whether the second half of each row is known to be the first one again."""
    if table.shape[-1] % 2 or not depth:
        return False
    if not table.strides[-1]:
        return True
    node = graph.writers.get(table.key)
    if node is None:
        return _values_repeat(graph, table)
    if node.out.dim == 0 or node.out.dims[-1] != table.dims[-1]:
        return False
    if node.name == "cat":
        last = (node.args[1:] or (0,))[0] in (-1, node.out.dim - 1)
        return last and len(node.args[0]) == 2 and node.args[0][0] == node.args[0][1]
    if node.name in ("_to_copy", "clone") or torch.Tag.pointwise in getattr(node.op, "tags", ()):
        rows = [value for value in node.values if value.dim and value.shape[-1] == table.shape[-1]]
        return bool(rows) and all(_repeats(graph, value, depth - 1) for value in rows)
    return False


def _values_repeat(graph: Graph, table: Value) -> bool:
    """The same of a buffer of the model: its values are there, so they are compared."""
    source = graph.source(table)
    if source is None:
        return False
    left, right = source.chunk(2, -1)
    return bool(torch.equal(left, right))


def _with_half_tables(graph: Graph, node: Node) -> Iterator[Match]:
    """``cat([a*cos - b*sin, b*cos + a*sin], -1)`` of halves; ``stack`` of pairs."""
    difference, total = (_pair(graph, value) for value in node.args[0]) if len(node.args[0]) == 2 else (None, None)
    if difference is None or total is None:
        return
    (minus, a, c, b, s), (plus, b_, c_, a_, s_) = difference, total
    if minus.name != "sub" or plus.name != "add" or {(b_, c_), (a_, s_)} != {(b, c), (a, s)}:
        return
    (size, stride), dims = a.dims[-1], a.dims
    paired = node.name == "stack" or node.out.dim == a.dim + 1
    step = stride // 2 if paired else stride
    x = a.with_dims(*dims[:-1], (2 * size, step))
    expected = x.offset + (step if paired else size * stride)
    axis = (node.args[1:] or (0,))[0]
    wanted = (-1, node.out.dim - 1)
    tables = [_table(table, a) for table in (c, s)]
    if None in tables or b.offset != expected or b.dims != a.dims or a.buffer != b.buffer or axis not in wanted:
        return
    makers = [maker for part in (minus, plus) for value in part.args if (maker := graph.maker(value)) is not None]
    nodes = ordered((*makers, minus, plus, node))
    cos, sin = tables
    assert cos is not None
    assert sin is not None
    yield from _matches(graph, node, nodes, x, cos, sin, "cos, sin", paired=paired)


def _pair(graph: Graph, value: Value) -> tuple[Node, Value, Value, Value, Value] | None:
    """``a*c ± b*s``: the node, a, c, b, s."""
    node = graph.maker(value) or graph.reshaper(value)
    if node is None or node.name not in ("add", "sub") or node.kwargs.get("alpha", 1) != 1 or len(node.args) != 2:
        return None
    first, second = _product(graph, node.args[0]), _product(graph, node.args[1])
    if first is None or second is None:
        return None
    (a, c), (b, s) = (_larger_first(product.args) for product in (first, second))
    return node, a, c, b, s


def _larger_first(pair: tuple[Value, ...]) -> tuple[Value, Value]:
    first, second = pair
    return (first, second) if first.bytes >= second.bytes else (second, first)


def _matches(
    graph: Graph, node: Node, nodes: tuple[Node, ...], x: Value, cos: Value, sin: Value, tables: str, *, paired: bool
) -> Iterator[Match]:
    """The match, if the tables get no gradient. The chain has heads before tokens, the kernel after them."""
    if x.dim != 4 or {cos.buffer, sin.buffer} & graph.differentiable or {x.dtype} != {cos.dtype, sin.dtype}:
        return
    shape = node.out.shape

    def run(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (rotary(x.transpose(1, 2), cos, sin, paired).transpose(1, 2).reshape(shape),)

    flag = ", paired=True" if paired else ""
    call = f"kernels.rotary(x.transpose(1, 2), {tables}{flag}).transpose(1, 2)"
    yield Match("rotary", call, nodes, (x, cos, sin), (node.out,), run, saved=(cos, sin))
