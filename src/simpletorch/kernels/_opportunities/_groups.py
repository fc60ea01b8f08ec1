"""The groups of operations that `torch.compile` would make one kernel of.

Chains of element-wise operations and reductions, each pass by itself; and products of matrices with what follows them.
Where it is not sure that two are joined they count as two: what is kept for the backward pass is written, also where it
could be computed again.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import torch

from simpletorch.kernels._opportunities._graph import Graph, Key, Node, Value
from simpletorch.kernels._opportunities._traffic import GATHERS, MAKERS

__all__ = ["Group", "fused_traffic", "groups", "products_with_epilogue"]

# what has no tag of torch's, but is computed element by element
_POINTWISE: Final = frozenset(
    (
        *(
            "clone",
            "_to_copy",
            "copy",
            "fill",
            "zero",
            "masked_fill",
            "where",
            "native_dropout",
            "native_dropout_backward",
        ),
        *("triu", "tril", "repeat", "constant_pad_nd", "cat", "stack", "slice_backward", "select_backward"),
        *("embedding", "index", "index_select", "gather", "bernoulli", "threshold_backward", "addcmul", "lerp"),
    )
) | (MAKERS - {"randperm"})
_REDUCTIONS: Final = frozenset(
    (
        *(
            "sum",
            "mean",
            "var",
            "var_mean",
            "std",
            "std_mean",
            "amax",
            "amin",
            "prod",
            "any",
            "all",
            "argmax",
            "argmin",
        ),
        *("linalg_vector_norm", "norm", "logsumexp"),
    )
)
# what reduces over rows and gives something for each element, by the position of the dims or the shape that it reduces
_ROWS: Final = {
    "_softmax": 1,
    "_log_softmax": 1,
    "_softmax_backward_data": 2,
    "_log_softmax_backward_data": 2,
    "native_layer_norm": 1,
    "native_layer_norm_backward": 2,
}
_FUSED_RMS_NORM: Final = ("_fused_rms_norm", "_fused_rms_norm_backward")
# what reduces over all but one dim first: only what follows can be fused, into the second pass
_TWO_PASSES: Final = frozenset(
    (
        "native_batch_norm",
        "_native_batch_norm_legit",
        "_batch_norm_with_update",
        "cudnn_batch_norm",
        "native_group_norm",
    )
)
_PRODUCTS: Final = frozenset(("mm", "addmm", "bmm", "baddbmm", "convolution"))
_LONGEST_ROW: Final = 65536
"""Rows that are longer are cut into parts, which several programs reduce."""


@dataclass(frozen=True)
class _Space:
    """The iteration space of a kernel: elements, and the row that it reduces, if any."""

    elements: int
    row: int | None = None
    """The length of a reduced row."""
    columns: bool = False
    """The reduced elements aren't side by side, or too many: nothing can be done with each element afterwards."""


@dataclass(eq=False)
class Group:
    """Operations that one kernel would do together."""

    nodes: list[Node]
    space: _Space

    @property
    def name(self) -> str:
        """The operations, in their order."""
        return " + ".join(node.name for node in self.nodes)


def _space(node: Node) -> _Space | None:
    """None for what `torch.compile` leaves as it is."""
    if not node.outputs:
        return None
    name, first = node.name, next((v for v in node.values), None)
    if name in _REDUCTIONS and first is not None:
        return _reduction(node, first)
    if name in _FUSED_RMS_NORM and first is not None:
        return _rows(first.numel, first.shape[-1])
    if name in _ROWS and first is not None:
        what = node.args[_ROWS[name]]
        row = (
            first.shape[what]
            if isinstance(what, int) and first.dim
            else math.prod(what)
            if isinstance(what, list)
            else 1
        )
        return _rows(first.numel, row)
    if name in _TWO_PASSES and (name == "native_group_norm" or node.args[5]):
        return _Space(node.out.numel, -1)
    pointwise = name in _TWO_PASSES or name in _POINTWISE or torch.Tag.pointwise in getattr(node.op, "tags", ())
    return _Space(node.out.numel) if pointwise else None


def _rows(elements: int, row: int) -> _Space:
    return _Space(elements, row, row > _LONGEST_ROW)


def _reduction(node: Node, x: Value) -> _Space:
    rows = max(node.out.numel, 1)
    dims = node.args[1] if len(node.args) > 1 else None
    listed = [dims] if isinstance(dims, int) else list(dims) if isinstance(dims, list | tuple) else []
    reduced = {int(dim) % max(x.dim, 1) for dim in listed} or set(range(x.dim))
    inner = reduced == set(range(x.dim - len(reduced), x.dim))
    row = max(x.numel // rows, 1)
    return _Space(x.numel, row, not inner or row > _LONGEST_ROW or rows == 1)


def _together(first: Group, second: Group, reads: Collection[Value], *, inlined: bool) -> _Space | None:
    """The space of both as one kernel; ``second`` reads ``reads`` of ``first``."""
    a, b = first.space, second.space
    if b.row == -1 or (a.row == -1 and (b.row is not None or a.elements != b.elements)):
        return None
    if a.row is not None and b.row is not None:
        return a if a == b and not a.columns else None
    large, small = (a, b) if a.elements >= b.elements else (b, a)
    if a.elements == b.elements:
        after_all = a.columns and any(value.numel < a.elements for value in reads)
        return None if after_all else _Space(a.elements, a.row or b.row, a.columns or b.columns)
    if large.row is not None and large.row > 0 and small.row is None and small.elements * large.row == large.elements:
        return large  # one number a row, before or after the reduction
    if inlined and a.row is None and a.elements <= b.elements and not b.columns:
        return b  # computed where it is read
    return None


def groups(graph: Graph, taken: Collection[Node], among: Collection[Node] | None = None) -> list[Group]:
    """The kernels that `torch.compile` would make of the nodes that aren't taken; those of one operation too."""
    owner: dict[Node, Group] = {}
    for node in graph.nodes if among is None else sorted(among, key=lambda node: node.index):
        space = None if node in taken else _space(node)
        if space is None:
            continue
        owner[node] = Group([node], space)
        for producer in sorted(graph.producers(node), key=lambda made: -made.index):
            group, other = owner[node], owner.get(producer)
            if other is None or other is group or producer.backward != node.backward:
                continue
            if _indirect(node, producer):
                continue
            joined = _joined(graph, other, group, owner)
            if joined is not None:
                for member in joined.nodes:
                    owner[member] = joined
    return list(dict.fromkeys(owner.values()))


def _indirect(node: Node, producer: Node) -> bool:
    """Whether it reads elements of what was produced by their index: that must lie in memory."""
    source = node.args[0] if node.name in GATHERS else None
    return isinstance(source, Value) and any(value.key == source.key for value in producer.outputs)


def _joined(graph: Graph, first: Group, second: Group, owner: dict[Node, Group]) -> Group | None:
    made = {value.key for node in first.nodes for value in node.outputs}
    reads = [value for node in second.nodes for value, _ in node.reads if value.key in made]
    inside = {*first.nodes, *second.nodes}
    inlined = not any(graph.escapes(node, inside) for node in first.nodes)
    space = _together(first, second, reads, inlined=inlined)
    if space is None or _detour(graph, inside, owner):
        return None
    return Group(sorted(inside, key=lambda node: node.index), space)


def _detour(graph: Graph, inside: set[Node], owner: dict[Node, Group]) -> bool:
    """Whether a group would wait for something that waits for it; an existing kernel counts as a whole."""
    last = max(node.index for node in inside)
    todo = [user for node in inside for user in graph.consumers(node) if user not in inside]
    seen = set(todo)
    while todo:
        node = todo.pop()
        members = owner[node].nodes if node in owner else [node]
        for member in members:
            for user in graph.consumers(member):
                if user in inside:
                    return True
                if user not in seen and user.index <= last:
                    seen.add(user)
                    todo.append(user)
    return False


def fused_traffic(graph: Graph, nodes: Sequence[Node]) -> tuple[int, int]:
    """Bytes that one kernel for all of these reads and writes: outside inputs once, and outputs."""
    made = {value.key for node in nodes for value in node.outputs}
    reads: dict[Key, dict[Value, int]] = defaultdict(dict)
    for node in nodes:
        for value, count in node.reads:
            if value.key not in made:
                known = reads[value.key]
                known[value] = max(count, known.get(value, 0))
    read = sum(min(sum(known.values()), graph.sizes.get(key[0], sum(known.values()))) for key, known in reads.items())
    inside = set(nodes)
    written = 0
    for node in nodes:
        for value, count in node.writes:
            outside = any(user not in inside for user in graph.users.get(value.key, ()))
            if outside or value.key in graph.results:
                written += count
    return read, written


def products_with_epilogue(graph: Graph, found: Iterable[Group], taken: Collection[Node]) -> list[tuple[Node, Group]]:
    """Products of matrices whose result is only read by one element-wise kernel."""
    owner = {node: group for group in found for node in group.nodes}
    pairs, used = [], set()
    for node in graph.nodes:
        if node.name not in _PRODUCTS or node in taken or node.out.key in graph.results:
            continue
        if node.name == "convolution" and node.args[6]:  # transposed
            continue
        users = {owner.get(user) for user in graph.consumers(node)}
        group = users.pop() if len(users) == 1 else None
        if group is None or group in used or group.space != _Space(node.out.numel):
            continue
        if any(user.backward != node.backward for user in group.nodes):
            continue
        if all(any(value.key == node.out.key for value, _ in user.reads) for user in graph.consumers(node)):
            pairs.append((node, group))
            used.add(group)
    return pairs
