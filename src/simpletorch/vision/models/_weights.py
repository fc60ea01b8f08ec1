"""Weights from a file, an address, a dict, or those that torchvision has published."""

from __future__ import annotations

import logging
import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable
from urllib.parse import urlsplit

import torch
from torch import nn

from simpletorch.errors import CheckpointError, DataError, TorchError, as_also
from simpletorch.vision.models._published import ADDRESS, PUBLISHED

__all__ = ["Published", "Weights", "chosen", "load_weights", "read_weights"]


@runtime_checkable
class Member(Protocol):
    """A member of torchvision's enumerations, such as ``ResNet18_Weights.DEFAULT``."""

    @property
    def url(self) -> str:
        """The address of the file."""


Weights: TypeAlias = str | os.PathLike[str] | Mapping[str, torch.Tensor] | Member
"""The name of published weights, or torchvision's own member of it; a file (``.pth``, ``.pt`` or ``.safetensors``), an
http(s) address, or a state dict.
"""

_CLASSES: Final = 1000  # of ImageNet, which all published weights are for
# as torchvision's enumerations are written
_MEMBER: Final = re.compile(r"(?P<family>\w+)_Weights\.(?P<name>[A-Z0-9_]+)")
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True)
class Published:
    """Weights that torchvision has published for a model."""

    model: str
    file: str


def chosen(model: str, weights: Weights | None, pretrained: bool) -> Weights | Published | None:
    """Which weights are meant by a model's arguments.

    Raises:
        TorchError: (a `ValueError` too) both are given, or torchvision's weights of another model.
        FileNotFoundError: there are no published weights of that name.
    """
    names = PUBLISHED[model]
    member = (
        re.fullmatch(r"(?P<family>\w+)_Weights\.(?P<name>[A-Z0-9_]+)", weights) if isinstance(weights, str) else None
    )
    if member is not None:  # as torchvision's own enumerations are written
        if member["family"].lower().replace("_", "") != model.replace("_", ""):
            reason = f"{weights} are weights of another model; {model} has {', '.join(names)}"
            raise as_also(TorchError, ValueError)(reason, operation=model)
        weights = member["name"]
    if pretrained and weights is not None:
        reason = "pretrained=True means weights='DEFAULT', and other weights are given too: leave one of them out"
        raise as_also(TorchError, ValueError)(reason, operation=model)
    if pretrained or weights == "DEFAULT":
        return Published(model, next(iter(names.values())))
    if isinstance(weights, str) and weights in names:
        return Published(model, names[weights])
    if isinstance(weights, str) and re.fullmatch("[A-Z][A-Z0-9_]*", weights) and not Path(weights).exists():
        raise FileNotFoundError(
            f"{model} has no weights {weights}: it has {', '.join(names)}; a file is named by its path, such as "
            f"{next(iter(names.values()))}"
        )
    if isinstance(weights, Member):
        file = weights.url.rpartition("/")[2]
        if file not in names.values():
            reason = f"{weights!r} are weights of another model: {file}, but {model} has {', '.join(names.values())}"
            raise as_also(TorchError, ValueError)(reason, operation=model)
        return Published(model, file)
    return weights


def read_weights(weights: Weights) -> Mapping[str, torch.Tensor]:
    """The state dict in ``weights``, on the CPU.

    A ``.safetensors`` file holds nothing but tensors; any other is read by torch with ``weights_only=True``, so that no
    code in it runs. A file from an address is kept in `torch.hub`'s folder, where torch's own loaders find it too.
    Checksums, in the file's name (``resnet18-f37072fd.pth`` from an address) or in the file, are verified.

    Args:
        weights: a state dict, a path, an ``http`` or ``https`` address, or a member of torchvision's weight enums.

    Returns:
        Tensors by name.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched, is damaged, or holds no state dict.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> torch.save(models.resnet18().state_dict(), "resnet18.pt")
        >>> len(models.read_weights("resnet18.pt"))
        122
    """
    if isinstance(weights, Mapping):
        return weights
    name = weights.url if isinstance(weights, Member) else os.fspath(weights)
    if name.startswith(("http://", "https://")):
        return _state_in(fetched(name))
    path = Path(name)
    if not path.is_file():
        raise FileNotFoundError(
            f"weights: there is no file {path}; name one by its path, such as resnet18-f37072fd.pth, or by its address"
        )
    if path.suffix != ".safetensors" and zipfile.is_zipfile(path):
        _check_sums(path)
    return _state_in(path)


def fetched(address: str) -> Path:
    """The path of the file at an address, downloaded if needed: in `torch.hub`'s folder, with the checksum of its name.

    Raises:
        CheckpointError: it can't be fetched, or is another file than its name says.
    """
    from simpletorch.data.datasets._download import download, sha256_of  # late: data loads much that models don't need

    name = Path(urlsplit(address).path).name
    path = Path(torch.hub.get_dir()) / "checkpoints" / name
    by_hand = f"without a network, fetch {address} elsewhere and put the file at {path}"
    was_there = path.is_file()
    if not was_there:
        try:
            download(address, path)
        except DataError as error:
            raise CheckpointError(error.reason, operation="read_weights", hint=by_hand) from error
    due = checksum(name)
    found = sha256_of(path) if due else ""
    if not found.startswith(due):
        if not was_there:
            path.unlink()
        reason = f"{path} is another file than its name says, or damaged: its SHA-256 begins with {found[: len(due)]}"
        hint = f"remove the file, and it is fetched again; {by_hand}" if was_there else by_hand
        raise CheckpointError(reason, operation="read_weights", hint=hint)
    return path


def checksum(file: str) -> str:
    """The first digits of its SHA-256 that a file's name ends with; "" if there are none."""
    found = re.search(r"-([0-9a-f]{8,64})\.\w+$", file)
    return found[1] if found else ""


def _check_sums(path: Path) -> None:
    """Raise if the file isn't what was written: torch's reader doesn't look at a zip file's own checksums."""
    try:
        with zipfile.ZipFile(path) as file:
            wrong = file.testzip()
    except MemoryError:
        raise
    except Exception as error:  # a damaged archive can make its reader raise anything
        raise _unreadable(path, error) from error
    if wrong is not None:
        hint = f"if it was written without checksums (set_crc32_options), give weights=torch.load({str(path)!r})"
        reason = f"{path} is damaged: {wrong} in it doesn't have its checksum"
        raise CheckpointError(reason, operation="read_weights", hint=hint)


def _state_in(path: Path) -> Mapping[str, torch.Tensor]:
    try:
        found = _content(path)
    except MemoryError:
        raise
    except Exception as error:  # a damaged file can make torch's reader raise anything
        raise _unreadable(path, error) from error
    if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
        raise CheckpointError(f"{path} holds a {type(found).__name__}, not tensors by name", operation="read_weights")
    nested = [key for key, value in found.items() if isinstance(value, Mapping)]
    if nested and not any(isinstance(value, torch.Tensor) for value in found.values()):
        hint = f"pass weights=torch.load({str(path)!r})[{nested[0]!r}], if that is the state dict"
        reason = f"{path} holds {', '.join(map(repr, found))}, not tensors by name"
        raise CheckpointError(reason, operation="read_weights", hint=hint)
    return found


def _content(path: Path) -> Any:
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(path)
    return torch.load(path, map_location="cpu", weights_only=True)


def _unreadable(path: Path, error: Exception) -> CheckpointError:
    said = str(error).strip().partition("\n")[0] or type(error).__name__
    return CheckpointError(f"{path} can't be read as weights: {said}", operation="read_weights")


def load_weights(model: nn.Module, weights: Weights | Published | None) -> None:
    """Load ``weights``, if there are any, into ``model``: strictly, but for the head that published ones don't fit.

    If the model scores another number of classes, its new layers are logged.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.
    """
    if weights is None:
        return
    if not isinstance(weights, Published):
        model.load_state_dict(read_weights(weights))
        return
    state = dict(_state_in(fetched(ADDRESS + weights.file)))
    own = model.state_dict()
    head = [key for key in own if key in state and _of_other_classes(state[key], own[key])]
    model.load_state_dict(state | {key: own[key] for key in head})
    if head:
        new = ", ".join(f"{key} {list(own[key].shape)}" for key in head)
        _log.warning("%s: %s is loaded but for its head; new and to be trained: %s", weights.model, weights.file, new)


def _of_other_classes(published: torch.Tensor, own: torch.Tensor) -> bool:
    """Whether both differ in the number of classes alone."""
    there, here = tuple(published.shape), tuple(own.shape)
    return there != here and there[:1] == (_CLASSES,) and there[1:] == here[1:]
