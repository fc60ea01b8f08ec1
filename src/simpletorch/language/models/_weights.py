"""Weights under transformers' names, in the forms in which they are saved and published."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final, TypeAlias

import torch
from torch import nn

from simpletorch.errors import CheckpointError
from simpletorch.vision.models import read_weights

__all__ = ["Weights", "load_weights"]

Weights: TypeAlias = str | os.PathLike[str] | Mapping[str, torch.Tensor]
"""A file (``.safetensors``, ``.bin``, ``.pt``), its address, a folder of ``save_pretrained``, or a state dict."""

_FILES: Final = ("model.safetensors", "pytorch_model.bin")
_HEADS: Final = ("bert.pooler.", "classifier.", "cls.", "lm_head.", "pooler.")
_BUFFERS: Final = (
    ".attn.bias",  # GPT-2's mask
    ".attn.masked_bias",
    "position_ids",
    "rotary_emb.inv_freq",
    "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",  # T5 has it and never used it
)
_INDEXES: Final = ("model.safetensors.index.json", "pytorch_model.bin.index.json")


def load_weights(model: nn.Module, weights: Weights | None, *, new: Collection[str] = ()) -> None:
    """Load ``weights``, if there are any, into one of these models, strictly.

    Beside the names of a state dict, these are understood: tied weights that are saved once; ``gamma`` and ``beta`` of
    older norms; buffers of older versions. The prefix of a model with a head (``transformer.``, ``bert.``) may be
    missing in the file, or be there for a model without a head. Heads that the model hasn't are left out.

    Args:
        model: one of `simpletorch.language.models`.
        weights: a file (``.safetensors``, ``.bin``, ``.pt``), its address, a folder as ``save_pretrained`` writes it
            (also in several parts), or a state dict.
        new: submodules that stay as they are, whatever the file has, such as ``["classifier"]``.

    Raises:
        FileNotFoundError: there is no such file or folder.
        CheckpointError: the file can't be read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.GPT2Config(100, 32, 16, 2, n_layer=1)
        >>> model = models.GPT2LMHeadModel(config)
        >>> torch.save(model.state_dict(), "gpt2.pt")
        >>> models.load_weights(models.GPT2LMHeadModel(config), "gpt2.pt")
    """
    if weights is not None:
        kept = tuple(f"{name}." for name in new)
        own = {name: value for name, value in model.state_dict().items() if kept and name.startswith(kept)}
        model.load_state_dict(_fitted(model, _read(weights)) | own)


def _read(weights: Weights) -> Mapping[str, torch.Tensor]:
    """The tensors in a file, a folder, at an address or in a dict."""
    if isinstance(weights, Mapping) or os.fspath(weights).startswith(("http://", "https://")):
        return read_weights(weights)
    path = Path(weights)
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"weights: there is no file or folder {path}; nothing is downloaded by name. Save a model with "
            "save_pretrained(folder) of transformers, or download its model.safetensors, and name that path"
        )
    return read_weights(path)


def _read_folder(folder: Path) -> Mapping[str, torch.Tensor]:
    for name in _FILES:
        if (folder / name).is_file():
            return read_weights(folder / name)
    for name in _INDEXES:
        if (folder / name).is_file():
            return {key: value for part in _parts(folder / name) for key, value in read_weights(part).items()}
    raise FileNotFoundError(f"weights: {folder} has none of {', '.join((*_FILES, *_INDEXES))}")


def _parts(index: Path) -> list[Path]:
    """The files that an index names, each of them beside it."""
    try:
        names = sorted(set(json.loads(index.read_text())["weight_map"].values()))
        if not all(isinstance(name, str) and Path(name).name == name for name in names):
            raise ValueError("it names something that is no file beside it")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{index} can't be read as an index of weights: {error}", operation="weights") from error
    return [index.parent / name for name in names]


def _fitted(model: nn.Module, found: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """``found`` under the model's names; other names stay as they are, and are an error later."""
    own = model.state_dict(keep_vars=True)
    renamed = {_own_name(name, own): value for name, value in found.items() if not _is_left_out(name, own)}
    by_tensor: dict[int, list[str]] = {}
    for name, parameter in own.items():
        by_tensor.setdefault(id(parameter), []).append(name)
    for tied in by_tensor.values():
        saved = [name for name in tied if name in renamed]
        if saved:
            renamed.update({name: renamed[saved[0]] for name in tied if name not in renamed})
    return renamed


def _own_name(name: str, own: Mapping[str, object]) -> str:
    """The model's name for a tensor that a file calls ``name``."""
    prefixes = {key.partition(".")[0] + "." for key in own}
    modern = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
    candidates = [modern, modern.partition(".")[2], *(prefix + modern for prefix in sorted(prefixes))]
    return next((candidate for candidate in candidates if candidate in own), name)


def _is_left_out(name: str, own: Mapping[str, object]) -> bool:
    """Whether it belongs to a head, or is a buffer that newer versions make themselves, and the model hasn't it."""
    return (name.startswith(_HEADS) or name.endswith(_BUFFERS)) and _own_name(name, own) not in own
