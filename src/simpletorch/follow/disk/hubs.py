"""Model folders: those of a project, and those in the cache of Hugging Face's hub. Their files are read as data only.

The cache's layout: https://huggingface.co/docs/huggingface_hub/guides/manage-cache
"""

from __future__ import annotations

import json
import os
import re
from typing import Final

from simpletorch import _outside as outside
from simpletorch.follow.disk.described import Contents, Unreadable
from simpletorch.follow.disk.reach import Reach, hub_cache, length_of
from simpletorch.follow.disk.safetensors import safetensors

__all__ = ["file_of", "read_json", "tokens", "tokens_named", "weights_dtype"]

_NAME: Final = re.compile(r"[\w.-]+(?:/[\w.-]+)?")
_LARGEST: Final = 1 << 24
_FLOATS: Final = ("float64", "float32", "float16", "bfloat16")


def file_of(reach: Reach, name: str, file: str, *, cache: str = "", revision: str = "main") -> str | None:
    """The real path of a file of a model, None if it isn't there.

    Args:
        reach: the files that may be read.
        name: a folder's path or a name on the hub, ``"org/name"``.
        file: its path below the folder.
        cache: of the hub; "" for the one that the environment names.
        revision: a branch, a tag or a commit.
    """
    if ".." in file.split("/") or os.path.isabs(file):
        return None
    if outside.exists(name) or reach.find(name) is not None:
        return None if reach.is_spoiled(name) else reach.find(os.path.join(name, file))
    if not _NAME.fullmatch(name) or ".." in revision.split("/"):
        return None
    folder = os.path.join(cache or str(hub_cache()), f"models--{name.replace('/', '--')}")
    commit = _text(reach, os.path.join(folder, "refs", revision), 1 << 10)
    return reach.find(os.path.join(folder, "snapshots", (commit or revision).strip(), file))


def read_json(reach: Reach, real: str) -> Contents:
    """The contents of a JSON file.

    Raises:
        Unreadable: it isn't JSON, or it is large.
    """
    text = _text(reach, real, _LARGEST)
    try:
        return json.loads("" if text is None else text)
    except (ValueError, RecursionError) as error:
        raise Unreadable("no JSON") from error


def weights_dtype(reach: Reach, real: str) -> str:
    """The dtype of the first tensor of floats in a file of safetensors; "" if that isn't known."""
    file = reach.open(real)
    if file is None:
        return ""
    with file:
        length = length_of(file)
        try:
            found = safetensors(file, length)
        except Unreadable:
            return ""
    return next((tensor.dtype for tensor in found.values() if tensor.dtype in _FLOATS), "")


def tokens(found: Contents) -> set[str]:
    """The tokens in a ``tokenizer.json``; none where it isn't one."""
    model = found.get("model") if isinstance(found, dict) else None
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    added = found.get("added_tokens") if isinstance(found, dict) else None
    if not isinstance(added, list) or not isinstance(vocabulary, dict | list):
        return set()
    rows = [row[0] if isinstance(row, list) and row else row for row in vocabulary]
    names = [*rows, *(row.get("content") if isinstance(row, dict) else None for row in added)]
    return set(names) if all(isinstance(name, str) for name in names) else set()


def tokens_named(told: Contents) -> set[str] | None:
    """The tokens that a ``tokenizer_config.json`` names; None where that isn't known."""
    if not isinstance(told, dict):
        return None
    decoder = told.get("added_tokens_decoder") or {}
    found = list(decoder.values()) if isinstance(decoder, dict) else [None]
    for key, value in told.items():
        if key.endswith("_token") and value is not None and not isinstance(value, bool):
            found.append(value)
        elif key in ("additional_special_tokens", "extra_special_tokens") and value:
            found += list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [None]
    names = [one.get("content") if isinstance(one, dict) else one for one in found]
    kept = {name for name in names if isinstance(name, str)}
    return kept if all(isinstance(name, str) for name in names) else None


def _text(reach: Reach, path: str, most: int) -> str | None:
    real = reach.find(path)
    file = None if real is None else reach.open(real)
    if file is None:
        return None
    with file:
        length = length_of(file)
        if length > most or not reach.take(length):
            return None
        return file.read(most).decode("utf-8", "replace")
