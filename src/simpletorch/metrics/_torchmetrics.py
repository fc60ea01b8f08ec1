"""Metrics of torchmetrics among ours."""

from __future__ import annotations

from typing import Any, Protocol


class _Metric(Protocol):
    """The used part of ``torchmetrics.Metric``; an import would make mypy read all its optional dependencies."""

    _update_count: int

    @property
    def update_count(self) -> int: ...
    @property
    def device(self) -> Any: ...
    def persistent(self, mode: bool = ...) -> None: ...
    def to(self, device: Any, /) -> Any: ...
    def reset(self) -> None: ...
    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state_dict: Any, /) -> Any: ...
    @property
    def update(self) -> Any: ...
    @property
    def compute(self) -> Any: ...


class TorchMetric:
    """A metric of torchmetrics as one of ours: its device follows the batches, and checkpoints keep its state.

    ``TorchMetric(torchmetrics.CohenKappa("multiclass", num_classes=10))`` opens their whole collection to the
    `Trainer`. torchmetrics itself is imported where the metric is made, never here.

    Args:
        metric: a ``torchmetrics.Metric``.

    Examples:
        >>> import torch
        >>> import torchmetrics
        >>> from simpletorch.metrics import TorchMetric
        >>> metric = TorchMetric(torchmetrics.MeanSquaredError())
        >>> metric.update(torch.zeros(4), torch.ones(4))
        >>> metric.compute()
        1.0

    Source: https://lightning.ai/docs/torchmetrics/stable/
    """

    def __init__(self, metric: _Metric) -> None:
        self.metric = metric
        metric.persistent(True)  # else state_dict() is empty

    @property
    def higher_is_better(self) -> bool | None:
        """The metric's own answer."""
        found: bool | None = getattr(self.metric, "higher_is_better", None)
        return found

    def update(self, output: Any, target: Any, /) -> None:
        """Take one batch, as the metric wants it.

        Args:
            output: the model's output for one batch, a tensor.
            target: the batch's target.
        """
        if output.device != self.metric.device:
            self.metric.to(output.device)
        self.metric.update(output, target)

    def compute(self) -> Any:
        """The metric's result: a float for a 0-d tensor, anything else as it is."""
        result = self.metric.compute()
        return result.item() if getattr(result, "ndim", None) == 0 else result

    def reset(self) -> None:
        """Forget everything."""
        self.metric.reset()

    def state_dict(self) -> dict[str, Any]:
        """The state of the metric, and how many batches it has seen."""
        return {"state": self.metric.state_dict(), "updates": self.metric.update_count}

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        """Restore the state that `state_dict` returned.

        Args:
            state_dict: a state that `state_dict` returned.
        """
        self.metric.reset()
        self.metric.load_state_dict(state_dict["state"])
        self.metric._update_count = state_dict["updates"]  # no public setter; without it compute() warns and gives NaN
