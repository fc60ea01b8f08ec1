"""Weights from a file, an address or a dict."""

from __future__ import annotations

import os
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch import nn

from simpletorch.errors import CheckpointError

__all__ = ["Weights", "load_weights", "read_weights"]

Weights: TypeAlias = str | os.PathLike[str] | Mapping[str, torch.Tensor]
"""A file (``.pth``, ``.pt`` or ``.safetensors``), an http(s) address of one, or a state dict."""


def read_weights(weights: Weights) -> Mapping[str, torch.Tensor]:
    """The state dict in ``weights``, on the CPU.

    A ``.safetensors`` file holds nothing but tensors; any other is read by torch with ``weights_only=True``, so that no
    code in it runs. A file from an address is kept in `torch.hub`'s folder, and a checksum in its name is verified.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or holds no state dict.
    """
    if isinstance(weights, Mapping):
        return weights
    name = os.fspath(weights)
    if name.startswith(("http://", "https://")):
        found = torch.hub.load_state_dict_from_url(name, map_location="cpu", check_hash=True, weights_only=True)
    else:
        found = _read_file(Path(name))
    if not isinstance(found, Mapping):
        raise CheckpointError(f"{name} holds a {type(found).__name__}, not tensors by name", operation="read_weights")
    nested = [key for key, value in found.items() if isinstance(value, Mapping)]
    if nested and not any(isinstance(value, torch.Tensor) for value in found.values()):
        hint = f"torch.load({name!r})[{nested[0]!r}] may be it: weights= takes a state dict too"
        reason = f"{name} holds {', '.join(map(repr, found))}, not tensors by name"
        raise CheckpointError(reason, operation="read_weights", hint=hint)
    return found


def _read_file(path: Path) -> Any:
    if not path.is_file():
        raise FileNotFoundError(
            f"weights: there is no file {path}; name one by its path, such as resnet18-f37072fd.pth, or by its address"
        )
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            return load_file(path)
        return torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, OSError) as error:
        reason = f"{path} can't be read as weights: {str(error).strip().partition(chr(10))[0]}"
        raise CheckpointError(reason, operation="read_weights") from error
    except Exception as error:
        # by its name: safetensors is imported only where such a file is read
        if type(error).__name__ != "SafetensorError":
            raise
        raise CheckpointError(f"{path} can't be read as weights: {error}", operation="read_weights") from error


def load_weights(model: nn.Module, weights: Weights | None) -> None:
    """Load ``weights``, if there are any, into ``model``, strictly.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.
    """
    if weights is not None:
        model.load_state_dict(read_weights(weights))
