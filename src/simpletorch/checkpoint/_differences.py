"""How a saved state differs from what it is to be loaded into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn.parameter import is_lazy

from simpletorch.checkpoint._names import own_names, unwrapped


@dataclass(frozen=True)
class Report:
    """The outcome of loading weights, by tensor; as text, one line for each that was not loaded.

    Shapes and dtypes are written like ``float32[10, 128]``.

    Examples:
        >>> import torch
        >>> from simpletorch import checkpoint, nn
        >>> torch.save(nn.Linear(3, 2).state_dict(), "weights.pt")
        >>> report = checkpoint.load_weights("weights.pt", nn.Linear(3, 2))
        >>> print(report)
        2 of 2 tensors loaded
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
        if _is_sized(mine) and not _is_loadable(its, mine):
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


def _is_loadable(its: Any, mine: torch.Tensor) -> bool:
    """Whether a saved value can be copied into a tensor as it is: not an imaginary part into a real number."""
    is_tensor = isinstance(its, torch.Tensor)
    return is_tensor and (is_lazy(its) or (its.shape == mine.shape and its.is_complex() <= mine.is_complex()))


def described(value: Any) -> str:
    """``float32[10, 128]``; the type for other values."""
    if not _is_sized(value):
        return f"a {type(value).__name__}"
    return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"


def optimizer_differences(optimizer: torch.optim.Optimizer, saved: Mapping[str, Any]) -> list[str]:
    """Why a saved state is not one of this optimizer: its groups, and the shapes of its averages."""
    groups, here = saved.get("param_groups"), optimizer.param_groups
    if not isinstance(groups, list) or not isinstance(saved.get("state"), dict):
        return ["an optimizer's state has 'state' and 'param_groups', but this one hasn't"]
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
        for name in sorted(set(there) - {"params"}):
            lines += [f"group {number}, {name}{line}" for line in _option(name, mine.get(name), there[name])]
        known = _names_in(optimizer, saved["state"], there["params"])
        for index, parameter in zip(there["params"], mine["params"], strict=True):
            place = f"group {number}, parameter {index}"
            its = saved["state"].get(index, {})
            if known and its and (gone := sorted(known - its.keys())):
                lines.append(f"{place}: {', '.join(gone)} missing in the checkpoint")
            for name, value in its.items():
                if name in _OWN_SHAPES.get(type(optimizer).__name__, ()):
                    continue
                # Scalars such as Adam's step have a shape of their own.
                sized = isinstance(value, torch.Tensor) and (value.ndim or (known and name not in _SCALARS))
                odd = bool(known) and not sized and not _is_option(name, value)
                if odd or (sized and value.shape != parameter.shape):
                    lines.append(
                        f"{place}: {name} is {described(value)} in the checkpoint, the parameter {described(parameter)}"
                    )
    owners = [index for group in groups for index in group["params"]]
    if len(set(owners)) < len(owners):
        lines.append("one parameter is in two places of its groups in the checkpoint")
    if strange := [index for index in saved["state"] if isinstance(index, int) and index not in set(owners)]:
        lines.append(f"parameters {strange[:5]} have a state in the checkpoint, but are in no group of it")
    return lines


def _option(name: str, mine: Any, its: Any) -> list[str]:
    if name in _SCHEDULERS and mine is None:
        return [] if _is_number(its) else [f": {described(its)} in the checkpoint, not a number"]
    return state_differences(mine, its)


def _names_in(optimizer: torch.optim.Optimizer, state: Mapping[Any, Any], indices: list[Any]) -> frozenset[str]:
    """The state that torch's optimizer keeps for each of these parameters; LBFGS' and other people's are unknown."""
    if not type(optimizer).__module__.startswith("torch.optim") or isinstance(optimizer, torch.optim.LBFGS):
        return frozenset()
    own = _OWN_SHAPES.get(type(optimizer).__name__, ())
    return frozenset(name for index in indices for name in state.get(index, {}) if name not in own)


def _is_option(name: str, value: Any) -> bool:
    """Whether a value that is no tensor of a parameter's shape may be in a state of torch's."""
    return (value is None and name == "momentum_buffer") or (name in _SCALARS and _is_number(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) or (isinstance(value, torch.Tensor) and value.numel() == 1)


def state_differences(here: Any, there: Any) -> list[str]:
    """Where a saved state has something of another kind than the state here; of names that only one has nothing."""
    if here is None or (there is None and isinstance(here, (bool, str))):
        return []  # what says "as you think best"
    if isinstance(here, Mapping) and isinstance(there, Mapping):
        if "last_epoch" in here and "last_epoch" not in there:
            return [": a scheduler's state has last_epoch, but this one hasn't"]
        both = [name for name in here if name in there]
        return [f".{name}{line}" for name in both for line in state_differences(here[name], there[name])]
    if isinstance(here, (list, tuple)) and isinstance(there, (list, tuple)):
        pairs = enumerate(zip(here, there, strict=False))
        return [f".{index}{line}" for index, (mine, its) in pairs for line in state_differences(mine, its)]
    same = type(here) is type(there) or (_is_number(here) and _is_number(there))
    return [] if same else [f": {described(there)} in the checkpoint, {described(here)} here"]


# Entries that schedulers add to a group.
_SCHEDULERS = {"initial_lr", "max_lr", "min_lr", "base_momentum", "max_momentum", "swa_lr"}

# State that is one number, whatever the parameter's shape.
_SCALARS = {"step", "eta", "mu", "mu_product"}

# State that is not of its parameter's shape.
_OWN_SHAPES = {
    "Adafactor": ("row_var", "col_var", "variance"),
    "LBFGS": ("d", "prev_flat_grad", "al", "old_dirs", "old_stps", "ro"),
}
