"""Whether data are the same data."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from simpletorch.errors import DataError


def checksum(data: Any) -> str:
    """SHA-256 of data, in hex: of files and folders (a path), tensors, arrays, datasets, and collections of them.

    The names and contents of all files of a folder count. For a tensor or array, dtype, shape and elements count. For a
    dataset, its samples count in order, and all are read.

    Args:
        data: a path, a tensor, a NumPy array, a dataset, or a collection of these.

    Returns:
        A text of hexadecimal digits.

    Raises:
        DataError: it is something else, or a path where there is nothing.

    Examples:
        >>> import torch
        >>> from simpletorch.reproducibility import checksum
        >>> checksum(torch.arange(3)) == checksum(torch.arange(3))
        True
    """
    digest = hashlib.sha256()
    _add(digest, data)
    return digest.hexdigest()


def _add(digest: Any, data: Any) -> None:
    """Feed ``data``, each piece with its kind and size in front, so that different data are different bytes."""
    if isinstance(data, torch.Tensor):
        raw = data.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
        _label(digest, "tensor", str(data.dtype), list(data.shape))
        digest.update(raw.data)
    elif isinstance(data, np.ndarray) and data.dtype.kind in "biufc":
        _label(digest, "array", data.dtype.str, list(data.shape))
        digest.update(np.ascontiguousarray(data).tobytes())
    elif isinstance(data, os.PathLike):
        _add_path(digest, Path(data))
    elif data is None or isinstance(data, (bool, int, float, str, bytes, np.generic)):
        _label(digest, type(data).__name__, repr(data))
    elif isinstance(data, Mapping):
        _label(digest, "mapping", len(data))
        for key, value in data.items():
            _add(digest, key)
            _add(digest, value)
    elif isinstance(data, torch.utils.data.TensorDataset) or _has_tensors(data):
        _add(digest, tuple(data.tensors))
    elif isinstance(data, (tuple, list)):
        _label(digest, "sequence", len(data))
        for item in data:
            _add(digest, item)
    elif isinstance(data, torch.utils.data.Dataset):
        _add_samples(digest, data)
    else:
        raise DataError(
            f"there is no checksum of a {type(data).__name__}: give a path (pathlib.Path), tensor, array or dataset, "
            "or a dict, list or tuple of them"
        )


def _has_tensors(data: object) -> bool:
    tensors = getattr(data, "tensors", None)
    return isinstance(data, torch.utils.data.Dataset) and isinstance(tensors, tuple)


def _label(digest: Any, *parts: object) -> None:
    digest.update((repr(parts) + "\n").encode())


def _add_samples(digest: Any, data: Any) -> None:
    samples: Iterable[Any] = data if hasattr(data, "__iter__") else (data[index] for index in range(len(data)))
    _label(digest, "samples")
    for sample in samples:
        _add(digest, sample)


def _add_path(digest: Any, path: Path) -> None:
    try:
        files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
        for each in files:
            # The name of a lone file, or of the folder, is where it lies here; those inside a folder are data.
            _label(digest, "file", each.relative_to(path).as_posix(), each.stat().st_size)
            with open(each, "rb") as file:
                while chunk := file.read(1 << 22):
                    digest.update(chunk)
    except OSError as error:
        raise DataError(f"can't read {path} for its checksum: {error.strerror or error}") from error
