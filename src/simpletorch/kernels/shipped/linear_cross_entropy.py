"""The cross entropy of ``hidden @ weight.T`` without the logits: the last layer and the loss of a language model.

torch makes the logits, their log-probabilities and their gradient, each tokens × vocabulary; with a vocabulary of 32,000
and more they are most of a training step's memory. Here some rows at a time are multiplied, turned into their loss and, in
place, into their gradient, and multiplied back (as in Apple's cut cross entropy and Liger). The same products as in torch are
computed, none twice. The gradient of the weight is added up in float32.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float, Inexact, Int64

from simpletorch.kernels._operator import operator
from simpletorch.kernels.shipped._launch import has_kernel, widened
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


def _chunks(hidden: torch.Tensor) -> Iterator[slice]:
    """Rows at a time: an eighth (on the CPU a sixteenth), and enough that the products are efficient."""
    rows = hidden.shape[0]
    step = max(1024, -(-rows // 8)) if hidden.is_cuda else max(64, -(-rows // 16))
    return (slice(start, start + step) for start in range(0, rows, step))


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
    from simpletorch.kernels.shipped._triton.cross_entropy import cross_entropy_in_place

    logits = hidden @ weight.T
    losses = torch.empty(logits.shape[0], dtype=torch.float32, device=logits.device)
    arguments = (logits, targets, losses, *logits.shape, logits.stride(0), ignored, smoothing)
    cross_entropy_in_place(*arguments, **IN_PLACE_TILE)
    return losses.sum(), logits


def _add_product(total: torch.Tensor, slopes: torch.Tensor, hidden: torch.Tensor) -> None:
    """``total += slopes.T @ hidden``, in float32 also where the factors are narrower."""
    if slopes.dtype == total.dtype:
        total.addmm_(slopes.T, hidden)
    elif slopes.is_cuda:
        torch.ops.aten.addmm.dtype_out(total, slopes.T, hidden, torch.float32, out=total)
    else:
        total += slopes.T @ hidden


def _wide(hidden: torch.Tensor) -> torch.dtype:
    return torch.promote_types(hidden.dtype, torch.float32)


def _losses(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    targets: torch.Tensor,
    ignored: int,
    smoothing: float,
    hidden_grad: torch.Tensor | None = None,
    weight_grad: torch.Tensor | None = None,
) -> torch.Tensor:
    """The sum of the losses; gradients are written into what is given for them."""
    weight, targets = weight.to(hidden.dtype), targets.contiguous()
    total = torch.zeros((), dtype=_wide(hidden), device=hidden.device)
    for rows in _chunks(hidden):
        loss, slopes = _chunk(hidden[rows], weight, targets[rows], ignored, smoothing)
        total += loss
        if hidden_grad is not None:
            torch.mm(slopes, weight, out=hidden_grad[rows])
        if weight_grad is not None:
            _add_product(weight_grad, slopes, hidden[rows])
        del slopes  # before the next ones are made
    return total


def _with_gradients(
    hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, ignored: int, smoothing: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The sum of the losses and its gradients, through the logits."""
    weight = weight.to(hidden.dtype)
    logits = hidden @ weight.T
    losses, normalizers = row_losses(logits, targets, ignored, smoothing)
    ones = torch.ones_like(losses)
    slopes = row_slopes(ones, torch.zeros_like(ones), logits, targets, normalizers, ignored, smoothing)
    return losses.sum(), slopes @ weight, widened(slopes).T @ widened(hidden)


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
    """The sum of the losses, and its gradients; that of the weight is a float32 (float64 of float64)."""
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
    weight_grad = torch.zeros(weight.shape, dtype=_wide(hidden), device=weight.device)
    loss = _losses(hidden, weight, targets, ignored, smoothing, hidden_grad, weight_grad)
    return loss, hidden_grad, weight_grad


def _only_the_loss(grads: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """The gradient of the loss. What autograd would give for those of the gradients is wrong, because they are constants."""
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
