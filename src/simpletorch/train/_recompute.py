"""Less memory for more time: activations that are computed again when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from simpletorch.errors import TorchError, as_also


def recompute(
    model: torch.nn.Module,
    which: type[torch.nn.Module] | tuple[type[torch.nn.Module], ...] | Callable[[str, torch.nn.Module], bool],
    *,
    preserve_rng: bool = True,
) -> list[str]:
    """Gradient checkpointing of submodules, in place: ``recompute(model, Block)``.

    Each chosen submodule then keeps only its inputs until ``backward``, which runs its ``forward`` again; everything
    between is not stored. Results and gradients are the same, random ones included. It acts only where gradients are
    recorded; names, ``state_dict`` and types stay as they are.

    Args:
        model: the model whose submodules are changed.
        which: the class (or classes) of the submodules, or a function that selects them by name (``"blocks.3"``).
        preserve_rng: draw the same random numbers again, for dropout; False saves time where nothing is random.

    Returns:
        The names of the chosen submodules. Those inside another chosen one are left to that.

    Raises:
        ValueError: nothing was chosen.

    Examples:
        >>> from simpletorch import data, nn, optim, train
        >>> model = nn.Sequential(nn.TransformerBlock(32, heads=4), nn.TransformerBlock(32, heads=4))
        >>> train.recompute(model, nn.TransformerBlock)
        ['0', '1']

    Source: Chen et al. 2016, "Training deep nets with sublinear memory cost";
    https://docs.pytorch.org/docs/stable/checkpoint.html
    """
    is_chosen = which if not isinstance(which, (type, tuple)) else lambda _, module: isinstance(module, which)
    chosen: list[str] = []
    for name, module in model.named_modules():
        inside = any(name.startswith(f"{outer}.") or outer == "" for outer in chosen)
        if not inside and is_chosen(name, module):
            chosen.append(name)
            # not a closure: a deep copy (an EMA, say) must compute with its own weights
            module.forward = partial(_recomputed, module, preserve_rng)
    if not chosen:
        raise as_also(TorchError, ValueError)(
            f"recompute found no such submodule in {type(model).__name__}: pass the class of its blocks"
        )
    return chosen


def _recomputed(module: torch.nn.Module, preserve_rng: bool, /, *args: Any, **kwargs: Any) -> Any:
    # the class's: `module.forward` is this very function
    forward = partial(type(module).forward, module)
    if not torch.is_grad_enabled():
        return forward(*args, **kwargs)
    return checkpoint(forward, *args, use_reentrant=False, preserve_rng_state=preserve_rng, **kwargs)
