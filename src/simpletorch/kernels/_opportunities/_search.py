"""From the graph of a step to its opportunities."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from simpletorch.dtypes import dtype_of
from simpletorch.kernels._chips import GPU
from simpletorch.kernels._opportunities._graph import Graph, Node, Value
from simpletorch.kernels._opportunities._groups import Group, fused_traffic, groups, products_with_epilogue
from simpletorch.kernels._opportunities._match import Match, adds_gradient, backward_of, is_allowed
from simpletorch.kernels._opportunities._report import Opportunities, Opportunity, Traffic
from simpletorch.kernels._opportunities.patterns import PATTERNS

__all__ = ["compiled_bytes", "matches", "searched"]


@dataclass(frozen=True)
class _Found:
    """One occurrence."""

    use: str
    write: str
    nodes: tuple[Node, ...]
    inputs: tuple[Value, ...]
    now: Traffic
    after: Traffic

    @property
    def saved(self) -> int:
        return self.now.bytes - self.after.bytes


def searched(graph: Graph, gpu: GPU) -> Opportunities:
    """Shipped kernels where they save no less than `torch.compile`, which may have the rest."""
    rooflines = _Roofline(gpu)
    found: list[_Found] = []
    taken: set[Node] = set()
    for match, occurrence in _chosen(graph, rooflines):
        found.append(occurrence)
        taken.update(match.nodes, match.backward)
    rest = groups(graph, taken)
    found += [one for group in rest if (one := _compiled(graph, group, rooflines)) is not None]
    found += [_epilogue(graph, node, group, rooflines) for node, group in products_with_epilogue(graph, rest, taken)]
    rows = _rows(sorted(found, key=lambda one: one.nodes[0].index))
    rows.sort(key=lambda row: (-row.seconds_saved, -row.bytes_saved))
    return Opportunities(tuple(rows), rooflines.of(graph.nodes), gpu)


def compiled_bytes(graph: Graph, gpu: GPU) -> int:
    """The bytes of the step under `torch.compile` alone, without the shipped kernels."""
    rooflines = _Roofline(gpu)
    found = (_compiled(graph, group, rooflines) for group in groups(graph, ()))
    return sum(node.bytes for node in graph.nodes) - sum(one.saved for one in found if one is not None)


class _Roofline:
    """How long kernels take at least: for their bytes, or for their operations if that is longer."""

    def __init__(self, gpu: GPU) -> None:
        self._gpu = gpu

    def seconds(self, moved: int, parts: Iterable[tuple[int, Any]]) -> float:
        """One kernel, by its bytes and its (operations, dtype)."""
        work = sum(flops / self._gpu.flops(dtype) for flops, dtype in parts if flops)
        return max(moved / self._gpu.bandwidth, work)

    def of(self, nodes: Sequence[Node]) -> Traffic:
        """The nodes as they are, a kernel each."""
        seconds = sum(self.seconds(node.bytes, [(node.flops, node.dtype)]) for node in nodes)
        kernels = sum(1 for node in nodes if node.bytes)
        read, written = sum(n.bytes_read for n in nodes), sum(n.bytes_written for n in nodes)
        return Traffic(read, written, kernels, seconds)

    def fused(self, read: int, written: int, parts: Iterable[tuple[int, Any]]) -> Traffic:
        """One kernel."""
        return Traffic(read, written, 1, self.seconds(read + written, parts))


def matches(graph: Graph) -> list[Match]:
    """All chains that a shipped kernel may do, also such that overlap."""
    found = []
    for node in graph.nodes:
        if not node.backward:
            for pattern in PATTERNS:
                for match in pattern(graph, node):
                    match.backward = backward_of(graph, match)
                    if is_allowed(graph, match):
                        found.append(match)
    return found


def _chosen(graph: Graph, rooflines: _Roofline) -> list[tuple[Match, _Found]]:
    """Those that save the most, without overlaps."""
    found = []
    for match in matches(graph):
        now = rooflines.of((*match.nodes, *match.backward))
        after = _after(graph, match, rooflines)
        nodes = (*match.nodes, *match.backward)
        found.append((match, _Found(f"kernels.{match.kernel}", match.call, nodes, match.inputs, now, after)))
    found = [(match, one) for match, one in found if one.saved > 0]
    found.sort(key=lambda pair: -(pair[1].now.seconds - pair[1].after.seconds))
    alone = groups(graph, ())
    taken: set[Node] = set()
    kept = []
    for match, one in found:
        if not taken & set(one.nodes) and one.saved >= _given_up(graph, alone, set(one.nodes), rooflines):
            taken.update(one.nodes)
            kept.append((match, one))
    return kept


def _given_up(graph: Graph, alone: Sequence[Group], nodes: set[Node], rooflines: _Roofline) -> int:
    """Bytes that `torch.compile` would save less, were these nodes not its own."""
    touched = [group for group in alone if nodes & set(group.nodes)]
    others = {node for group in touched for node in group.nodes} - nodes
    left = groups(graph, nodes, among=others)
    before, then = (
        sum(one.saved for group in some if (one := _compiled(graph, group, rooflines)) is not None)
        for some in (touched, left)
    )
    return before - then


def _after(graph: Graph, match: Match, rooflines: _Roofline) -> Traffic:
    """Traffic of the shipped kernel and of its gradient."""
    dtype = match.outputs[0].dtype
    flops = match.flops or sum(node.flops for node in match.nodes)
    read = sum(value.bytes for value in match.inputs) + match.extra[0]
    written = sum(value.bytes for value in match.outputs) + match.extra[1]
    forward = rooflines.fused(read, written, [(flops, match.inputs[0].dtype)])
    if not match.backward:
        return forward
    given = [value for value in match.outputs if _has_gradient(graph, match, value)]
    slopes = match.slopes
    if slopes is None:
        slopes = tuple(v for v in match.inputs if v.dtype.is_floating_point and v.buffer in graph.differentiable)
    read = sum(value.bytes for value in (*given, *match.saved)) + match.extra_backward[0]
    written = sum(value.bytes for value in slopes) + match.extra_backward[1]
    backward = rooflines.fused(read, written, [(match.backward_flops, dtype)])
    return Traffic(
        forward.read + backward.read,
        forward.written + backward.written,
        forward.kernels + backward.kernels,
        forward.seconds + backward.seconds,
    )


def _has_gradient(graph: Graph, match: Match, value: Value) -> bool:
    """Whether the kernel's gradient reads that of this output: of a sum that goes on, only if it is added there."""
    if value not in match.adds_gradients:
        return True
    inside = set(match.backward)
    return any(graph.adds_foreign_gradient(node, inside) and adds_gradient(graph, match, node) for node in inside)


def _compiled(graph: Graph, group: Group, rooflines: _Roofline) -> _Found | None:
    """A group of several kernels that would move less as one."""
    if len(group.nodes) < 2:
        return None
    nodes = tuple(group.nodes)
    now = rooflines.of(nodes)
    after = rooflines.fused(*fused_traffic(graph, nodes), [(node.flops, node.dtype) for node in nodes])
    if now.bytes <= after.bytes:
        return None
    return _Found("torch.compile", "torch.compile(model)", nodes, _given(nodes), now, after)


def _epilogue(graph: Graph, node: Node, group: Group, rooflines: _Roofline) -> _Found:
    """The extra saving of a product whose result needn't be written."""
    nodes = (node, *group.nodes)
    read, written = fused_traffic(graph, group.nodes)
    alone = rooflines.of([node])
    then = rooflines.fused(read, written, [])
    now = Traffic(alone.read + read, alone.written + written, 2, alone.seconds + then.seconds)
    after = rooflines.fused(*fused_traffic(graph, nodes), [(node.flops, node.dtype)])
    use = 'torch.compile(mode="max-autotune")'
    return _Found(use, 'torch.compile(model, mode="max-autotune")', nodes, _given(nodes), now, after)


def _given(nodes: Sequence[Node]) -> tuple[Value, ...]:
    """The outside inputs, the largest first."""
    made = {value.key for node in nodes for value in node.outputs}
    values = dict.fromkeys(value for node in nodes for value, _ in node.reads if value.key not in made)
    return tuple(sorted(values, key=lambda value: -value.bytes))[:3]


def _rows(found: Sequence[_Found]) -> list[Opportunity]:
    """Equal occurrences at equal places, but for numbers in the path, as one."""
    alike: dict[Any, list[_Found]] = defaultdict(list)
    for one in found:
        shapes = tuple((value.shape, value.dtype) for value in one.inputs)
        names = tuple(node.name for node in one.nodes)
        place = re.sub(r"\d+", "#", _path(one.nodes))
        alike[one.use, one.write, names, shapes, place, _places(one.nodes), one.now, one.after].append(one)
    return [
        Opportunity(
            use=first.use,
            write=first.write,
            operations=tuple(node.name for node in first.nodes),
            paths=tuple(_path(one.nodes) for one in same),
            places=_places(first.nodes),
            shapes=tuple(map(_described, first.inputs)),
            passes=_passes(first.nodes),
            now=first.now,
            after=first.after,
        )
        for same in alike.values()
        for first in same[:1]
    ]


def _path(nodes: Sequence[Node]) -> str:
    """The module that all are in."""
    paths = [node.path.split(".") if node.path else [] for node in nodes]
    known = [path for path in paths if path] or [[]]
    if any(not node.path and node.place is not None for node in nodes):
        return ""
    common: list[str] = []
    for column in zip(*known, strict=False):
        if len(set(column)) > 1:
            break
        common.append(column[0])
    # a chain that goes from one module into the next one is in the last
    last = next((node.path for node in reversed(nodes) if node.path and not node.backward), ".".join(known[-1]))
    return ".".join(common) if common in known else last


def _places(nodes: Sequence[Node]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted({node.place for node in nodes if node.place is not None}))


def _passes(nodes: Sequence[Node]) -> str:
    kinds = {node.backward for node in nodes}
    return "forward and backward" if len(kinds) > 1 else "backward" if True in kinds else "forward"


def _described(value: Value) -> str:
    return f"{dtype_of(value.dtype).__name__}[{', '.join(map(str, value.shape))}]"
