"""The names of measures, which are the same in the log, in `Fit.metrics` and for callbacks; and which are numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from simpletorch.errors import TorchError

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit

Mode: TypeAlias = Literal["min", "max"]

VALIDATION: Final = "validation "
"""What the names of measures on the validation batches begin with."""


def spelled(name: str) -> str:
    """A measure's name as the log has it: ``validation_loss`` is ``validation loss``."""
    rest = name.removeprefix("validation_")
    return name if rest == name else VALIDATION + rest


def monitored(fit: Fit, name: str | None) -> str:
    """The measure that a callback looks at: the one that it is told, or the loss, in validation if there is one."""
    if name is not None:
        return name
    return "loss" if fit.validation is None else VALIDATION + "loss"


def sign_of(mode: Mode | None) -> int:
    """1 where smaller values are better, -1 where larger ones are; without a mode as for a loss."""
    return -1 if mode == "max" else 1


def better(fit: Fit, name: str, who: str) -> Mode:
    """Whether smaller or larger values of a measure are better: for a loss smaller ones, else as the metric says.

    Raises:
        TorchError: the metric doesn't say.
    """
    rest = name.removeprefix(VALIDATION)
    metric = (fit.train_metrics if rest == name else fit.validation_metrics).get(rest)
    if rest == "loss" or rest.endswith("_loss"):
        return "min"
    higher = getattr(metric, "higher_is_better", None)
    if higher is None:
        raise TorchError(
            f"{who} monitors {name!r}, and nothing says whether smaller or larger values of it are better",
            hint=f"{who}({name!r}, mode='min') or mode='max'; a metric may have the attribute higher_is_better",
        )
    return "max" if higher else "min"


def numbers_and_others(measured: Mapping[str, object]) -> tuple[dict[str, float], dict[str, Any]]:
    """The measures that are single numbers, and the others: matrices, curves, dicts."""
    numbers: dict[str, float] = {}
    others: dict[str, Any] = {}
    for name, value in measured.items():
        number = _number(value)
        if number is None:
            others[name] = value
        else:
            numbers[name] = number
    return numbers, others


def _number(value: Any) -> float | None:
    if isinstance(value, (int, float)):
        return value
    # tensors and what NumPy calls numbers; one of several elements has no item()
    count = value.numel() if hasattr(value, "numel") else getattr(value, "size", None)
    return float(value.item()) if count == 1 and hasattr(value, "item") else None
