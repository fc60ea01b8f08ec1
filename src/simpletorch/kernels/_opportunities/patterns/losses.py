"""The cross entropy of logits, and of the product that makes them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from simpletorch.kernels._opportunities._graph import Graph, Node, Value
from simpletorch.kernels._opportunities._match import Match, is_float, ordered, peeled
from simpletorch.kernels.shipped import cross_entropy, linear_cross_entropy

__all__ = ["class_loss"]


def class_loss(graph: Graph, node: Node) -> Iterator[Match]:
    """``nll_loss(log_softmax(logits, 1), targets)``, the mean over what isn't ignored."""
    if node.name != "nll_loss_forward":
        return
    log_probabilities, targets, weight, reduction, ignored = node.args
    softmax = graph.maker(log_probabilities)
    if weight is not None or reduction != 1 or softmax is None or softmax.name != "_log_softmax":
        return
    scores = softmax.args[0]
    if scores.dim != 2 or softmax.args[1] not in (1, -1) or not is_float(scores) or targets.dtype != torch.int64:
        return
    logits, casts = peeled(graph, scores)
    nodes, dtype = ordered((*casts, softmax, node)), node.out.dtype
    narrow = "" if dtype.itemsize > 2 else f".to({dtype})"
    option = "" if ignored == -100 else f", ignore_index={ignored}"

    def run(logits: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (cross_entropy(logits, targets, ignore_index=ignored).to(dtype),)

    call = f"kernels.cross_entropy(logits, targets{option}){narrow}"
    yield Match("cross_entropy", call, nodes, (logits, targets), (node.out,), run, saved=(logits, targets))
    product = graph.reshaper(logits)
    if product is not None and product.name == "mm":
        yield from _of_product(graph, product, nodes, node, targets, ignored)


def _of_product(
    graph: Graph, product: Node, nodes: tuple[Node, ...], node: Node, targets: Value, ignored: int
) -> Iterator[Match]:
    """The same where the logits are ``hidden @ weight.T``, which then are never there as a whole."""
    hidden, turned = product.args
    weight = turned.with_dims(*turned.dims[::-1])
    dtype = node.out.dtype

    def run(hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (linear_cross_entropy(hidden, weight, targets, ignore_index=ignored).to(dtype),)

    traffic = _traffic(graph, product, weight)
    option = "" if ignored == -100 else f", ignore_index={ignored}"
    narrow = "" if dtype.itemsize > 2 else f".to({dtype})"
    yield Match(
        "linear_cross_entropy",
        f"kernels.linear_cross_entropy(hidden, weight, targets{option}){narrow}",
        (product, *nodes),
        (hidden, weight, targets),
        (node.out,),
        run,
        saved=(),
        extra=traffic[:2],
        extra_backward=traffic[2:],
        flops=product.flops + sum(node.flops for n in product.sequences for node in graph.gradients.get(n, ())),
    )


def _traffic(graph: Graph, product: Node, weight: Value) -> tuple[int, int, int, int]:
    """Extra traffic of `linear_cross_entropy` on a GPU, beside its arguments and result, forward and backward.

    Some rows at a time the logits are written and read. With a gradient they become it in place, and a product reads it
    for each of the two gradients.
    """
    hidden, logits = product.args[0], product.out.bytes
    rows, width = hidden.shape
    step = min(max(1024, width, math.ceil(rows / 8)), max(1024, math.ceil(rows / 2)))
    chunks = math.ceil(rows / step)
    read, written = logits + (chunks - 1) * weight.bytes, logits
    if not any(graph.gradients.get(number) for number in product.sequences):
        return read, written, 0, 0
    read, written = read + logits + chunks * weight.bytes, written + logits + hidden.bytes
    total = 0
    if weight.buffer in graph.differentiable:  # its gradient is added up
        total = weight.numel * (4 if weight.dtype == torch.float16 else weight.dtype.itemsize)
        read, written = read + logits + hidden.bytes + (chunks - 1) * total, written + chunks * total
    return read, written, hidden.bytes + total, 0
