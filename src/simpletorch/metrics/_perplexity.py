"""How surprised a language model is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch.nn import functional as F

from simpletorch.errors import DataError
from simpletorch.metrics._metric import classes_of
from simpletorch.metrics._streaming import Streaming, scalar, wide

if TYPE_CHECKING:
    from simpletorch.dims import Batch, V
    from simpletorch.dtypes import Float, Integer
    from simpletorch.tensor import Tensor


class Perplexity(Streaming):
    """``exp`` of the mean negative log-likelihood per token: 1 is perfect, V as bad as guessing.

    ``update(logits, target)`` takes unnormalised scores ``[*S, V]`` (float) and tokens ``[*S]`` (integer), as in
    ``[B, T, V]`` and ``[B, T]``.

    Args:
        ignore_index: targets of this value (padding) don't count.
        synchronize: as for `Accuracy`.

    Examples:
        >>> import torch
        >>> from simpletorch.metrics import Perplexity
        >>> perplexity = Perplexity()
        >>> perplexity.update(torch.zeros(2, 5, 101), torch.zeros(2, 5, dtype=torch.long))
        >>> round(perplexity.compute())
        101

    Source: Jelinek et al. 1977, "Perplexity: a measure of the difficulty of speech recognition tasks"
    """

    higher_is_better = False

    def __init__(self, *, ignore_index: int = -100, synchronize: bool = True) -> None:
        self.ignore_index = ignore_index
        super().__init__(synchronize=synchronize)

    def _zeros(self) -> dict[str, torch.Tensor]:
        return {"loss": scalar(torch.float64), "tokens": scalar(torch.int64)}

    def update(self, logits: Tensor[Float, *Batch, V], target: Tensor[Integer, *Batch], /) -> None:
        """Add the negative log-likelihood of one batch.

        Args:
            logits: scores ``[*S, V]`` of a floating dtype, not normalized.
            target: tokens ``[*S]`` of an integer dtype, each from 0 to V - 1, or ``ignore_index``.

        Raises:
            DataError: the shapes or dtypes are not as above, or a token is not in 0..V-1.
        """
        target = classes_of(target, "Perplexity").to(torch.int64)
        if not logits.is_floating_point() or logits.ndim == 0 or logits.shape[:-1] != target.shape:
            raise DataError(
                f"Perplexity got outputs {list(logits.shape)} of {logits.dtype} for targets {list(target.shape)}: "
                "outputs must be scores [*S, V] of a floating dtype, the vocabulary last, for targets [*S]"
            )
        tokens = target[target != self.ignore_index]
        if tokens.numel() and not 0 <= int(tokens.min()) <= int(tokens.max()) < logits.shape[-1]:
            raise DataError(
                f"Perplexity got scores for {logits.shape[-1]} tokens, but targets range from {int(tokens.min())} to "
                f"{int(tokens.max())}: pass ignore_index for padding, or enlarge the vocabulary"
            )
        losses = F.cross_entropy(
            logits.detach().flatten(0, -2).float() if logits.ndim > 1 else logits.detach().float()[None],
            target.flatten(),
            ignore_index=self.ignore_index,
            reduction="none",
        )
        self._add(loss=wide(losses).sum(), tokens=torch.tensor(tokens.numel()))

    def compute(self) -> float:
        """The perplexity of everything since the last `reset`.

        Raises:
            DataError: there was no token.
        """
        totals = self._totals()
        if int(totals["tokens"]) == 0:
            raise DataError("Perplexity has seen no token: call update(logits, target) before compute()")
        mean = float(totals["loss"]) / int(totals["tokens"])
        return math.exp(mean) if mean < 709 else math.inf  # exp(709.8) is the largest float
