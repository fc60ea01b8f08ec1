"""The cross entropy of ``hidden @ weight.T`` without the logits: the last layer and the loss of a language model.

torch makes the logits, their log-probabilities and their gradient, each tokens × vocabulary; with a vocabulary of
32,000 and more they are most of a training step's memory. Here some rows at a time are multiplied, turned into their
loss and, in place, into their gradient, and multiplied back (as in Apple's cut cross entropy and Liger). The same
products as in torch are computed, none twice.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Inexact, Int64

from simpletorch.kernels._operator import operator
from simpletorch.kernels.shipped._launch import has_kernel, in_triton, widened
from simpletorch.kernels.shipped.cross_entropy import IN_PLACE_TILE, row_losses, row_slopes

__all__ = ["linear_cross_entropy"]


def linear_cross_entropy(
    hidden: Float[torch.Tensor, "*b d"],
    weight: Float[torch.Tensor, "v d"],
    targets: Int64[torch.Tensor, "*b"],
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Float[torch.Tensor, ""]:
    """The mean cross entropy of ``hidden @ weight.T`` over the rows whose target isn't ``ignore_index``: a
    float32 (float64 of float64).

    The gradients are computed along with the loss, if one is wanted; there are no second derivatives.

    Args:
        hidden: the last layer's input, ``(*b, d)`` of a floating dtype.
        weight: the last layer's weight, ``(v, d)``.
        targets: class numbers ``(*b)``, Int64, each from 0 to v - 1, or ``ignore_index``.
        ignore_index: the target of rows that don't count.
        label_smoothing: the share of the target that goes to all classes alike, 0 to 1.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> targets = torch.zeros(7, dtype=torch.int64)
        >>> kernels.linear_cross_entropy(torch.zeros(7, 4), torch.zeros(10, 4), targets)
        tensor(2.3026)
    """
    rows, classes = hidden.reshape(-1, hidden.shape[-1]), targets.reshape(-1)
    count, smoothing = (classes != ignore_index).sum(), float(label_smoothing)
    wanted = torch.is_grad_enabled()
    if wanted and weight.requires_grad:
        loss, _, _ = linear_cross_entropy_gradients(rows, weight, classes, ignore_index, smoothing)
    elif wanted and hidden.requires_grad:
        loss, _ = linear_cross_entropy_hidden_gradient(rows, weight, classes, ignore_index, smoothing)
    else:
        loss = linear_cross_entropy_sum(rows, weight, classes, ignore_index, smoothing)
    return loss / count


def _chunks(hidden: torch.Tensor) -> list[slice]:
    """Rows at a time, at least two times.

    On a GPU not fewer rows than features: the logits of so many are no larger than the gradient of the weight, and each
    chunk costs a read and a write of that. The CPU's memory is the slower one, and its products are efficient earlier.
    """
    rows, width = hidden.shape
    if hidden.is_cuda:
        step = min(max(1024, width, -(-rows // 8)), max(1024, -(-rows // 2)))
    else:
        step = max(64, -(-rows // 16))
    return [slice(start, start + step) for start in range(0, rows, step)]


def _losses_in_place(logits: torch.Tensor, targets: torch.Tensor, ignored: int, smoothing: float) -> torch.Tensor:
    """The sum of the losses of these rows; the logits become their gradient."""
    losses, normalizers = row_losses(logits, targets, ignored, smoothing)
    known = targets != ignored
    logits.sub_(normalizers[:, None]).exp_()
    if smoothing:
        logits.sub_(smoothing / logits.shape[1])
    hits, weights = torch.where(known, targets, 0)[:, None], known.to(logits.dtype)[:, None]
    logits.scatter_add_(1, hits, (smoothing - 1.0) * torch.ones_like(weights))
    if not bool(known.all()):
        logits.mul_(weights)
    return losses.sum()


def _chunk(
    hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, ignored: int, smoothing: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """The sum of the losses of these rows and the gradient of their logits."""
    if not hidden.is_cuda or not has_kernel(hidden):
        logits = widened(hidden @ weight.T)
        return _losses_in_place(logits, targets, ignored, smoothing), logits.to(hidden.dtype)
    cross_entropy_in_place = in_triton("cross_entropy").cross_entropy_in_place

    logits = hidden @ weight.T
    losses = torch.empty(logits.shape[0], dtype=torch.float32, device=logits.device)
    arguments = (logits, targets, losses, *logits.shape, logits.stride(0), ignored, smoothing)
    cross_entropy_in_place(*arguments, SMOOTH=smoothing != 0, **IN_PLACE_TILE)
    return losses.sum(), logits


def _add_product(total: torch.Tensor, slopes: torch.Tensor, hidden: torch.Tensor, first: bool) -> None:
    """``total += slopes.T @ hidden``, or ``=`` for the first, without rounding the product to a narrower dtype."""
    if slopes.dtype == total.dtype:
        total.addmm_(slopes.T, hidden, beta=0 if first else 1)
    elif slopes.is_cuda and total.dtype == torch.float32:
        if first:
            torch.ops.aten.mm.dtype_out(slopes.T, hidden, torch.float32, out=total)
        else:
            torch.ops.aten.addmm.dtype_out(total, slopes.T, hidden, torch.float32, out=total)
    else:
        product = slopes.T @ hidden
        total.copy_(product if first else total + product)


def _kept(weight: torch.Tensor) -> torch.dtype:
    """The dtype of the weight's gradient before it is divided by the number of rows: in float16 it may overflow."""
    return torch.float32 if weight.dtype == torch.float16 else weight.dtype


def _losses(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    targets: torch.Tensor,
    ignored: int,
    smoothing: float,
    hidden_grad: torch.Tensor | None = None,
    weight_sum: torch.Tensor | None = None,
) -> torch.Tensor:
    """The sum of the losses; gradients are written into what is given for them."""
    weight, targets = weight.to(hidden.dtype), targets.contiguous()
    total = torch.zeros((), dtype=torch.promote_types(hidden.dtype, torch.float32), device=hidden.device)
    for rows in _chunks(hidden):
        loss, slopes = _chunk(hidden[rows], weight, targets[rows], ignored, smoothing)
        total += loss
        if hidden_grad is not None:
            torch.mm(slopes, weight, out=hidden_grad[rows])
        if weight_sum is not None:
            _add_product(weight_sum, slopes, hidden[rows], first=rows.start == 0)
        del slopes  # before the next ones are made
    return total


def _with_gradients(
    hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, ignored: int, smoothing: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The sum of the losses and its gradients, through the logits."""
    narrow = weight.to(hidden.dtype)
    logits = hidden @ narrow.T
    losses, normalizers = row_losses(logits, targets, ignored, smoothing)
    ones = torch.ones_like(losses)
    slopes = row_slopes(ones, torch.zeros_like(ones), logits, targets, normalizers, ignored, smoothing)
    return losses.sum(), slopes @ narrow, (widened(slopes).T @ widened(hidden)).to(_kept(weight))


@operator("simpletorch::linear_cross_entropy_sum")
def linear_cross_entropy_sum(
    hidden: Float[torch.Tensor, "b d"],
    weight: Float[torch.Tensor, "v d"],
    targets: Int64[torch.Tensor, "b"],
    ignored: int,
    smoothing: float,
) -> Inexact[torch.Tensor, ""]:
    """The sum of the losses."""
    return row_losses(hidden @ weight.to(hidden.dtype).T, targets, ignored, smoothing)[0].sum()


@operator("simpletorch::linear_cross_entropy_hidden_gradient")
def linear_cross_entropy_hidden_gradient(
    hidden: Float[torch.Tensor, "b d"],
    weight: Float[torch.Tensor, "v d"],
    targets: Int64[torch.Tensor, "b"],
    ignored: int,
    smoothing: float,
) -> tuple[Inexact[torch.Tensor, ""], Float[torch.Tensor, "b d"]]:
    """The sum of the losses, and its gradient with respect to ``hidden``."""
    return _with_gradients(hidden, weight, targets, ignored, smoothing)[:2]


@operator("simpletorch::linear_cross_entropy_gradients")
def linear_cross_entropy_gradients(
    hidden: Float[torch.Tensor, "b d"],
    weight: Float[torch.Tensor, "v d"],
    targets: Int64[torch.Tensor, "b"],
    ignored: int,
    smoothing: float,
) -> tuple[Inexact[torch.Tensor, ""], Float[torch.Tensor, "b d"], Inexact[torch.Tensor, "v d"]]:
    """The sum of the losses, and its gradients; that of a float16 weight is a float32."""
    return _with_gradients(hidden, weight, targets, ignored, smoothing)


@linear_cross_entropy_sum.cuda
@linear_cross_entropy_sum.cpu
def linear_cross_entropy_sum_in_chunks(
    hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, ignored: int, smoothing: float
) -> torch.Tensor:
    """Some rows at a time."""
    return _losses(hidden, weight, targets, ignored, smoothing)


@linear_cross_entropy_hidden_gradient.cuda
@linear_cross_entropy_hidden_gradient.cpu
def linear_cross_entropy_hidden_gradient_in_chunks(
    hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, ignored: int, smoothing: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Some rows at a time."""
    hidden_grad = torch.empty_like(hidden, memory_format=torch.contiguous_format)
    return _losses(hidden, weight, targets, ignored, smoothing, hidden_grad), hidden_grad


@linear_cross_entropy_gradients.cuda
@linear_cross_entropy_gradients.cpu
def linear_cross_entropy_gradients_in_chunks(
    hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, ignored: int, smoothing: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Some rows at a time."""
    hidden_grad = torch.empty_like(hidden, memory_format=torch.contiguous_format)
    # one addition in bfloat16 is one rounding more than torch's single product has; many are done in float32
    wide = torch.promote_types(_kept(weight), torch.float32 if len(_chunks(hidden)) > 2 else hidden.dtype)
    weight_sum = torch.empty(weight.shape, dtype=wide, device=weight.device)
    if not hidden.shape[0]:
        weight_sum.zero_()
    loss = _losses(hidden, weight, targets, ignored, smoothing, hidden_grad, weight_sum)
    return loss, hidden_grad, weight_sum.to(_kept(weight))


def _only_the_loss(grads: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """The gradient of the loss; what autograd would give for those of the gradients is wrong: they are constants."""
    if torch.is_grad_enabled():  # in a backward with create_graph=True only
        raise RuntimeError(
            "linear_cross_entropy has no second derivatives; use cross_entropy(hidden @ weight.T, targets)"
        )
    return grads[0]


@linear_cross_entropy_hidden_gradient.backward
def _(grads: tuple[torch.Tensor, ...], results: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, None]:
    grad = _only_the_loss(grads)
    return (results[1] * grad).to(results[1].dtype), None


@linear_cross_entropy_gradients.backward
def _(
    grads: tuple[torch.Tensor, ...],
    results: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    weight: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    grad = _only_the_loss(grads)
    return (results[1] * grad).to(results[1].dtype), (results[2] * grad).to(weight.dtype)
