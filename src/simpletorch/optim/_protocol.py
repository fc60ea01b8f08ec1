"""The interface of optimizers that our training code needs."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Optimizer(Protocol):
    """Anything that updates parameters from their gradients: every `torch.optim.Optimizer`, and look-alikes.

    ``param_groups`` is torch's list of dicts: ``"params"`` holds the parameters, ``"lr"`` the learning rate (per step).

    Examples:
        >>> from simpletorch import nn, optim
        >>> isinstance(optim.AdamW(nn.Linear(3, 2).parameters()), optim.Optimizer)
        True
    """

    param_groups: list[dict[str, Any]]

    def step(self) -> Any:
        """Update every parameter from its gradient.

        Returns:
            Whatever the optimizer returns; torch's return the closure's loss, or None.
        """

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients.

        Args:
            set_to_none: set gradients to None, which saves memory; False fills them with zeros.
        """

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on later, as plain data and tensors."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state that `state_dict` returned.

        Args:
            state_dict: a state that `state_dict` returned.
        """
