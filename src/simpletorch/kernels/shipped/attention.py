"""Scaled dot-product attention: torch's backends behind one typed face.

No kernel of our own: flash attention, cuDNN and the memory-efficient one are what torch has. torch lacks a name for the
backend that runs, and a reason when one can't. An impossible backend that is asked for by name ends in "No available
kernel", with the reasons in warnings.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, get_args

import torch
from jaxtyping import Float, Shaped
from torch.nn.attention import SDPBackend, sdpa_kernel

from simpletorch.errors import BackendError

__all__ = ["AttentionBackend", "attention", "attention_backend"]

AttentionBackend: TypeAlias = Literal["flash", "cudnn", "efficient", "math"]

# as torch numbers them
_NAMES: Final[Mapping[int, AttentionBackend]] = {0: "math", 1: "flash", 2: "efficient", 3: "cudnn"}
_BACKENDS: Final = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}


def attention(
    query: Float[torch.Tensor, "*b h t d"],
    key: Float[torch.Tensor, "*b g s d"],
    value: Float[torch.Tensor, "*b g s e"],
    *,
    mask: Shaped[torch.Tensor, "..."] | None = None,
    causal: bool = False,
    dropout: float = 0.0,
    scale: float | None = None,
    backend: AttentionBackend | None = None,
) -> Float[torch.Tensor, "*b h t e"]:
    """``softmax(scale * query @ key.T + mask) @ value`` for each head.

    Args:
        query: ``(*b, h, t, d)``, of a floating dtype.
        key: may have fewer heads than ``query``, which then share them in groups.
        value: ``(*b, g, s, e)``, with as many heads as ``key``.
        mask: added to the scores, or where bool: True is attended to.
        causal: token ``i`` attends to tokens 0 to ``i`` only. torch's backend ``math`` refuses it beside a ``mask``.
        dropout: the probability that an attention weight is dropped, 0 to 1.
        scale: by default one over the root of ``d``.
        backend: must run, or the error says why it can't. By default torch chooses; `attention_backend` says what.

    Raises:
        BackendError: ``backend`` can't run these arguments, or is no backend.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> query = torch.zeros(2, 4, 7, 8)
        >>> kernels.attention(query, query, query, causal=True).shape
        torch.Size([2, 4, 7, 8])
    """
    grouped = query.dim() >= 3 and query.shape[-3] != key.shape[-3]

    def run() -> torch.Tensor:
        return torch.nn.functional.scaled_dot_product_attention(
            query, key, value, mask, dropout, causal, scale=scale, enable_gqa=grouped
        )

    if backend is None:
        return run()
    if backend not in _BACKENDS:
        raise BackendError(
            f"attention has no backend {backend!r}", hint=f"there are {', '.join(get_args(AttentionBackend))}"
        )
    with sdpa_kernel(_BACKENDS[backend]):
        if torch.compiler.is_compiling():
            return run()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                return run()
            except RuntimeError as error:
                if "No available kernel" not in str(error) and "No viable backend" not in str(error):
                    raise
                raise _explained(backend, query, [str(one.message) for one in said]) from error


def _explained(backend: str, query: torch.Tensor, said: list[str]) -> BackendError:
    """One sentence with torch's reasons for this backend, which it says in warnings."""
    if not query.is_cuda:
        reason = f"these tensors are on {query.device.type}"
    else:
        # "Flash Attention does not support non-null attn_mask. (Triggered internally at ...)"
        own = [text.partition(" (Triggered")[0].strip() for text in said]
        reasons = [text for text in own if not text.endswith(("because:", "not used because:"))]
        reason = "; ".join(dict.fromkeys(reasons)) or "torch doesn't say why"
    return BackendError(
        f"attention: {backend} can't run these arguments: {reason}",
        hint="leave backend out, and torch takes one that can; attention_backend(...) says which",
    )


def attention_backend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    mask: torch.Tensor | None = None,
    causal: bool = False,
    dropout: float = 0.0,
    scale: float | None = None,
) -> AttentionBackend:
    """The backend that torch takes for these arguments.

    Args:
        query, key, value, mask, causal, dropout, scale: as for `attention`.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> query = torch.zeros(2, 4, 7, 8)
        >>> kernels.attention_backend(query, query, query, causal=True)
        'flash'
    """
    grouped = query.dim() >= 3 and query.shape[-3] != key.shape[-3]
    # private, but what scaled_dot_product_attention itself asks; nothing public says which backend it takes
    number = torch._fused_sdp_choice(query, key, value, mask, dropout, causal, scale=scale, enable_gqa=grouped)
    return _NAMES[number]
