"""The manifest beside an artefact: what it is, what it takes, and the checksum by which damage is known.

``net.onnx`` has ``net.onnx.json``. Nothing of an artefact is read before its checksum is that of its manifest, and the
manifest has one of itself. Checksums show damage and files that don't belong together; they don't say who wrote them.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch

from simpletorch import __version__
from simpletorch._atomic import replacing
from simpletorch.errors import CheckpointError
from simpletorch.export._signature import Signature

__all__ = ["KINDS", "Manifest", "manifest_path", "publish", "read_manifest"]

KINDS: Final = ("program", "onnx", "aot", "torchscript")
_FORMAT: Final = 1


@dataclass(frozen=True)
class Manifest:
    """What an artefact's manifest says."""

    kind: str
    sha256: str
    signature: Signature
    names: tuple[str, ...]  # of the tensors that go in, as the artefact calls them
    report: Mapping[str, Any]
    versions: Mapping[str, str]


def manifest_path(path: Path) -> Path:
    """Where the manifest of an artefact lies."""
    return path.with_name(f"{path.name}.json")


def sha256_of(path: Path) -> str:
    """The checksum of a file.

    Raises:
        CheckpointError: it can't be read.
    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CheckpointError(f"can't read {path}: {error.strerror or error}") from error


def publish(made: Path, path: Path, kind: str, signature: Signature, names: tuple[str, ...], report: Any) -> None:
    """Put a verified artefact and its manifest in place, each in one step.

    Between the two, an older manifest doesn't fit the new artefact, which `read_manifest` refuses.

    Raises:
        CheckpointError: the folder can't be written to, or has no room.
    """
    content = {
        "format": _FORMAT,
        "kind": kind,
        "sha256": sha256_of(made),
        "signature": signature.to_dict(),
        "names": list(names),
        "report": report.to_dict(),
        "versions": {"simpletorch": __version__, "torch": torch.__version__, "python": platform.python_version()},
    }
    with open(made, "rb") as source, replacing(path, made.stat().st_size) as target:
        shutil.copyfileobj(source, target, 1 << 22)
    with replacing(manifest_path(path)) as target:
        target.write(json.dumps({"manifest": content, "sha256": _digest(content)}, indent=1).encode())


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read_manifest(path: Path) -> Manifest | None:
    """The manifest of an artefact, whose checksum fits; None if there is no manifest.

    Raises:
        CheckpointError: there is no artefact, either one is damaged, or they don't belong together.
    """
    beside = manifest_path(path)
    if not path.is_file():
        raise CheckpointError(f"there is no file {path}", operation="export.load")
    try:
        text = beside.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CheckpointError(f"can't read {beside}: {error.strerror or error}", operation="export.load") from error
    try:
        whole = json.loads(text)
        content = whole["manifest"]
        if whole["sha256"] != _digest(content):
            raise ValueError("its checksum is another")
        if content["format"] != _FORMAT or content["kind"] not in KINDS:
            raise ValueError(f"it is of format {content['format']!r}, kind {content['kind']!r}")
        manifest = Manifest(
            content["kind"],
            content["sha256"],
            Signature.from_dict(content["signature"]),
            tuple(content["names"]),
            content["report"],
            content["versions"],
        )
    # any text that is no manifest: not JSON, not UTF-8, other keys, deeply nested
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointError(
            f"the manifest {beside} is damaged: {error}", operation="export.load", hint="export the model again"
        ) from error
    found = sha256_of(path)
    if found != manifest.sha256:
        raise CheckpointError(
            f"{path} isn't the file that its manifest {beside.name} was written for: its checksum is {found[:12]}…, "
            f"not {manifest.sha256[:12]}…",
            operation="export.load",
            hint="it was damaged or replaced; copy both files again, or export the model again",
        )
    return manifest
