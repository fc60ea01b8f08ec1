"""Cross entropy of logits and class numbers, the mean over the targets that aren't ignored.

torch has a fused one, which keeps the log-probabilities, as large as the logits, and in float16 and bfloat16 computes
and keeps them in that precision. Ours keeps one number a row, computes in float32 whatever the logits are, and has the
z-loss (PaLM: the square of that number, which keeps logits from drifting) inside.
"""

from __future__ import annotations

from typing import Final

import torch
from jaxtyping import Float, Inexact, Int64

from simpletorch.kernels._operator import operator
from simpletorch.kernels.shipped._launch import has_kernel, in_triton, widened

__all__ = ["IN_PLACE_TILE", "cross_entropy", "row_losses", "row_slopes"]

FORWARD_TILE: Final = {"BLOCK": 16384, "STAGES": 1, "num_warps": 8}
BACKWARD_TILE: Final = {"BLOCK": 4096, "num_warps": 8}
IN_PLACE_TILE: Final = {"BLOCK": 4096, "STAGES": 3, "num_warps": 4}


def cross_entropy(
    logits: Float[torch.Tensor, "*b v"],
    targets: Int64[torch.Tensor, "*b"],
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
) -> Float[torch.Tensor, ""]:
    """The mean of the rows whose target isn't ``ignore_index``; NaN if there is none, as in torch.

    Args:
        logits: scores of any float dtype. The loss is a float32 (float64 for float64).
        targets: class numbers. On a GPU one that is out of range gives NaN; the CPU raises IndexError.
        ignore_index: the target of rows that don't count.
        label_smoothing: the share of the target that goes to all classes alike.
        z_loss: weight of the mean square of the logarithm of the sum of the powers.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> kernels.cross_entropy(torch.zeros(7, 10), torch.zeros(7, dtype=torch.int64))
        tensor(2.3026)
    """
    rows, classes = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    losses, normalizers = cross_entropy_rows(rows, classes, ignore_index, float(label_smoothing))
    known = classes != ignore_index
    if z_loss:
        losses = losses + z_loss * torch.where(known, normalizers.square(), 0.0)
    return losses.sum() / known.sum()


def row_losses(
    logits: torch.Tensor, targets: torch.Tensor, ignored: int, smoothing: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """`cross_entropy_rows` in torch."""
    scores, known = widened(logits), targets != ignored
    normalizers = torch.logsumexp(scores, -1)
    losses = normalizers - (1.0 - smoothing) * scores.gather(-1, torch.where(known, targets, 0)[:, None])[:, 0]
    if smoothing:
        losses = losses - smoothing * scores.mean(-1)
    return torch.where(known, losses, 0.0), normalizers


def row_slopes(
    loss_grads: torch.Tensor,
    normalizer_grads: torch.Tensor,
    logits: torch.Tensor,
    targets: torch.Tensor,
    normalizers: torch.Tensor,
    ignored: int,
    smoothing: float,
) -> torch.Tensor:
    """`cross_entropy_rows_backward` in torch."""
    known = targets != ignored
    weights = torch.where(known, loss_grads, 0.0)
    shares = torch.exp(widened(logits) - normalizers[:, None])
    shares = shares * (weights + normalizer_grads)[:, None] - (weights * (smoothing / max(logits.shape[1], 1)))[:, None]
    hits = torch.where(known, targets, 0)[:, None]
    return shares.scatter_add(1, hits, (weights * (smoothing - 1.0))[:, None].to(shares.dtype)).to(logits.dtype)


# what is annotated as Inexact has the dtype that the reference gives it: never less than float32
@operator("simpletorch::cross_entropy_rows")
def cross_entropy_rows(
    logits: Float[torch.Tensor, "b v"], targets: Int64[torch.Tensor, "b"], ignored: int, smoothing: float
) -> tuple[Inexact[torch.Tensor, "b"], Inexact[torch.Tensor, "b"]]:
    """The loss of each row, and the logarithm of the sum of its powers, both float32 (float64 of float64)."""
    return row_losses(logits, targets, ignored, smoothing)


@operator("simpletorch::cross_entropy_rows_backward")
def cross_entropy_rows_backward(
    loss_grads: Inexact[torch.Tensor, "b"],
    normalizer_grads: Inexact[torch.Tensor, "b"],
    logits: Float[torch.Tensor, "b v"],
    targets: Int64[torch.Tensor, "b"],
    normalizers: Inexact[torch.Tensor, "b"],
    ignored: int,
    smoothing: float,
) -> Float[torch.Tensor, "b v"]:
    """The gradient of the logits."""
    return row_slopes(loss_grads, normalizer_grads, logits, targets, normalizers, ignored, smoothing)


def _side_by_side(rows: torch.Tensor) -> torch.Tensor:
    return rows if rows.stride(1) == 1 else rows.contiguous()


@cross_entropy_rows.cuda(traced=True)
def cross_entropy_rows_cuda(
    logits: torch.Tensor, targets: torch.Tensor, ignored: int, smoothing: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """A program for each row, which reads it once."""
    if not has_kernel(logits):
        return row_losses(logits, targets, ignored, smoothing)
    cross_entropy_forward = in_triton("cross_entropy").cross_entropy_forward

    rows, (count, n) = _side_by_side(logits), logits.shape
    losses, normalizers = (torch.empty(count, dtype=torch.float32, device=logits.device) for _ in range(2))
    arguments = (rows, targets.contiguous(), losses, normalizers, count, n, rows.stride(0), ignored, smoothing)
    cross_entropy_forward(*arguments, SMOOTH=smoothing != 0, **FORWARD_TILE)
    return losses, normalizers


@cross_entropy_rows_backward.cuda(traced=True)
def cross_entropy_rows_backward_cuda(
    loss_grads: torch.Tensor,
    normalizer_grads: torch.Tensor,
    logits: torch.Tensor,
    targets: torch.Tensor,
    normalizers: torch.Tensor,
    ignored: int,
    smoothing: float,
) -> torch.Tensor:
    """A program for each 4096 logits of a row."""
    if not has_kernel(logits):
        return row_slopes(loss_grads, normalizer_grads, logits, targets, normalizers, ignored, smoothing)
    cross_entropy_backward = in_triton("cross_entropy").cross_entropy_backward

    rows, (count, n) = _side_by_side(logits), logits.shape
    out = torch.empty((count, n), dtype=logits.dtype, device=logits.device)
    cross_entropy_backward(
        *(loss_grads, normalizer_grads, rows, targets.contiguous(), normalizers.contiguous(), out, count, n),
        *(loss_grads.stride(0), normalizer_grads.stride(0), rows.stride(0), ignored, smoothing),
        **BACKWARD_TILE,
    )
    return out


@cross_entropy_rows.backward
def _(
    grads: tuple[torch.Tensor | None, torch.Tensor | None],
    results: tuple[torch.Tensor, torch.Tensor],
    logits: torch.Tensor,
    targets: torch.Tensor,
    ignored: int,
    smoothing: float,
) -> torch.Tensor:
    losses, normalizers = (torch.zeros_like(results[1]) if grad is None else grad for grad in grads)
    return cross_entropy_rows_backward(losses, normalizers, logits, targets, results[1], ignored, smoothing)
