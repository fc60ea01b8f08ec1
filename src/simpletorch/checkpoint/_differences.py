"""How a saved state differs from what it is to be loaded into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from simpletorch.checkpoint._names import own_names, unwrapped


@dataclass(frozen=True)
class Report:
    """The outcome of loading weights, by tensor; as text, one line for each that was not loaded.

    Shapes and dtypes are written like ``float32[10, 128]``.
    """

    loaded: tuple[str, ...]
    """Names of the model's tensors that were loaded."""
    missing: tuple[tuple[str, str], ...]
    """What the model has and the file has not: name, and what it is."""
    unexpected: tuple[tuple[str, str], ...]
    """What the file has and the model has not: name, and what it is."""
    mismatched: tuple[tuple[str, str, str], ...]
    """What has different shapes: name, what it is in the file, what it is in the model."""
    cast: tuple[tuple[str, str, str], ...]
    """What was loaded, but had another dtype: name, what it is in the file, what it is in the model."""

    @property
    def is_complete(self) -> bool:
        """Whether the file and the model have the same tensors, of the same shapes."""
        return not (self.missing or self.unexpected or self.mismatched)

    def differences(self) -> list[str]:
        """One line for each tensor that can't be loaded."""
        return [
            *[f"{name}: {there} in the checkpoint, {here} in the model" for name, there, here in self.mismatched],
            *[f"{name}: {here} in the model, missing in the checkpoint" for name, here in self.missing],
            *[f"{name}: {there} in the checkpoint, missing in the model" for name, there in self.unexpected],
        ]

    def __str__(self) -> str:
        casts = [f"{name}: {there} in the checkpoint, converted to {here}" for name, there, here in self.cast]
        count = len(self.loaded) + len(self.missing) + len(self.mismatched)
        return "\n".join([f"{len(self.loaded)} of {count} tensors loaded", *self.differences(), *casts])


def compare(
    model: torch.nn.Module, saved: Mapping[str, Any], rename: Callable[[str], str] | None = None
) -> tuple[Report, dict[str, Any]]:
    """The outcome of loading ``saved`` into ``model``, and the part that fits, under the model's names."""
    here = unwrapped(model).state_dict()
    there = {name if rename is None else rename(name): value for name, value in own_names(saved, model).items()}
    fitting, mismatched, cast = {}, [], []
    for name in [name for name in here if name in there]:
        mine, its = here[name], there[name]
        if _is_sized(mine) and _is_sized(its) and mine.shape != its.shape:
            mismatched.append((name, described(its), described(mine)))
            continue
        fitting[name] = its
        if _is_sized(mine) and _is_sized(its) and mine.dtype != its.dtype:
            cast.append((name, described(its), described(mine)))
    report = Report(
        loaded=tuple(fitting),
        missing=tuple((name, described(value)) for name, value in here.items() if name not in there),
        unexpected=tuple((name, described(value)) for name, value in there.items() if name not in here),
        mismatched=tuple(mismatched),
        cast=tuple(cast),
    )
    return report, fitting


def _is_sized(value: Any) -> bool:
    # a lazy parameter has no shape yet and takes that of the file
    return isinstance(value, torch.Tensor) and not is_lazy(value)


def described(value: Any) -> str:
    """``float32[10, 128]``; the type for other values."""
    if not _is_sized(value):
        return f"a {type(value).__name__}"
    return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"


def optimizer_differences(optimizer: torch.optim.Optimizer, saved: Mapping[str, Any]) -> list[str]:
    """Why a saved state is not one of this optimizer: its groups, and the shapes of its averages."""
    groups, here = saved.get("param_groups"), optimizer.param_groups
    if not isinstance(groups, list) or not isinstance(saved.get("state"), dict):
        return ["it is no state of an optimizer, which has 'state' and 'param_groups'"]
    if len(groups) != len(here):
        return [f"{len(groups)} parameter groups in the checkpoint, {len(here)} in the optimizer"]
    lines = []
    for number, (there, mine) in enumerate(zip(groups, here, strict=True)):
        if len(there["params"]) != len(mine["params"]):
            lines.append(
                f"group {number}: {len(there['params'])} parameters in the checkpoint, "
                f"{len(mine['params'])} in the optimizer"
            )
            continue
        if options := sorted((set(there) ^ set(mine)) - _SCHEDULERS):
            lines.append(f"group {number}: {', '.join(options)} only in one of them, so it is another optimizer")
        for index, parameter in zip(there["params"], mine["params"], strict=True):
            for name, value in saved["state"].get(index, {}).items():
                # Scalars such as Adam's step have a shape of their own.
                if isinstance(value, torch.Tensor) and value.ndim and value.shape != parameter.shape:
                    if name in _OWN_SHAPES.get(type(optimizer).__name__, ()):
                        continue
                    lines.append(
                        f"group {number}, parameter {index}: {name} is {described(value)} in the checkpoint, "
                        f"the parameter {described(parameter)}"
                    )
    return lines


# What schedulers add to a group.
_SCHEDULERS = {"initial_lr", "max_lr", "min_lr", "base_momentum", "max_momentum", "swa_lr"}

# State that is not of its parameter's shape.
_OWN_SHAPES = {
    "Adafactor": ("row_var", "col_var", "variance"),
    "LBFGS": ("d", "prev_flat_grad", "al", "old_dirs", "old_stps", "ro"),
}
