"""What a piece of code comes to, torch's and ours, compared bit for bit: a value, or the exception that it raises."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch

from simpletorch.errors import TorchError


def outcome(run: Callable[[], Any]) -> Any:
    """What ``run`` gives with torch's generator seeded, or the exception it raises."""
    torch.manual_seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch's deprecated and experimental parts, which are tried as well
        try:
            return run()
        except Exception as error:
            return error


def differences(ours: Any, theirs: Any, where: str = "") -> list[str]:
    """Where two outcomes differ; []: nowhere. Of errors ours may say more, but is of torch's class."""
    theirs = torch_s_error(theirs)
    if isinstance(theirs, Exception):
        return [] if _same_error(ours, theirs) else [f"{where}: {ours!r} for torch's {theirs!r}"]
    if isinstance(theirs, torch.Tensor):
        return [] if _same_tensor(ours, theirs) else [f"{where}: {ours} for torch's {theirs}"]
    if isinstance(theirs, Mapping):
        if not isinstance(ours, Mapping) or list(ours) != list(theirs):
            return [f"{where}: {ours} for torch's {theirs}"]
        return [line for key in theirs for line in differences(ours[key], theirs[key], f"{where}.{key}")]
    if isinstance(theirs, (tuple, list)):
        if type(ours) is not type(theirs) or len(ours) != len(theirs):
            return [f"{where}: {ours} for torch's {theirs}"]
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [line for i, (one, other) in pairs for line in differences(one, other, f"{where}[{i}]")]
    same = type(ours) is type(theirs) and (ours == theirs or ours != ours)  # NaN is not itself
    return [] if same else [f"{where}: {ours!r} for torch's {theirs!r}"]


def torch_s_error(outcome: Any) -> Any:
    """torch's error where a layer has explained it; any other outcome itself."""
    return outcome.__cause__ if isinstance(outcome, TorchError) and outcome.__cause__ is not None else outcome


def _same_error(ours: Any, theirs: Exception) -> bool:
    """Whether ours is torch's error, or explains it."""
    if isinstance(ours, TorchError) and ours.__cause__ is not None:
        return isinstance(ours, type(theirs)) and str(ours.__cause__) == str(theirs)
    return type(ours) is type(theirs) and str(ours) == str(theirs)


def _same_tensor(ours: Any, theirs: torch.Tensor) -> bool:
    if not isinstance(ours, torch.Tensor) or (ours.dtype, ours.shape, ours.layout, ours.requires_grad) != (
        theirs.dtype,
        theirs.shape,
        theirs.layout,
        theirs.requires_grad,
    ):
        return False
    if theirs.layout is not torch.strided:
        ours, theirs = ours.coalesce().values(), theirs.coalesce().values()
    return bool(((ours == theirs) | ((ours != ours) & (theirs != theirs))).all())
