"""The manifest beside an artefact: its kind, its inputs, and the checksum that detects damage.

``net.onnx`` has ``net.onnx.json``. Nothing of an artefact is read before its checksum is that of its manifest, and the
manifest has one of itself. Checksums show damage and files that don't belong together; they don't say who wrote them.

Two files can't be exchanged in one step. While an artefact takes the place of another one, its manifest has that of the
other as well (``before``), and the checksum of what lies there says which of the two it is.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Mapping
from contextlib import suppress
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
# what reading any text that is no manifest raises: not JSON, not UTF-8, other keys, deeply nested
_NO_MANIFEST: Final = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Manifest:
    """An artefact's manifest."""

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
    """Put a verified artefact and its manifest in place: at any moment what lies there is the old one or the new one.

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
    whole = {"manifest": content, "sha256": _digest(content)}
    _write(manifest_path(path), {**whole, "before": _before(path)})
    with open(made, "rb") as source, replacing(path, made.stat().st_size) as target:
        shutil.copyfileobj(source, target, 1 << 22)
    _write(manifest_path(path), whole)


def _write(path: Path, content: Any) -> None:
    with replacing(path) as target:
        target.write(json.dumps(content, indent=1).encode())


def _before(path: Path) -> Any:
    """The manifest's record of the artefact that is about to be replaced; None if nothing there can be loaded."""
    with suppress(CheckpointError, *_NO_MANIFEST):
        sha256 = sha256_of(path)
        text = _text(manifest_path(path))
        if text is None:
            return {"without": sha256}
        return next((whole for whole in _versions(text) if _sha256(whole) == sha256), None)
    return None


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
    text = _text(beside)
    while text is not None:
        try:
            versions = _versions(text)
            found = sha256_of(path)
            for whole in versions:
                if _sha256(whole) == found:
                    return None if "without" in whole else _parsed(whole)
            expected = _sha256(versions[0])
        except _NO_MANIFEST as error:
            raise CheckpointError(
                f"the manifest {beside} is damaged: {error}", operation="export.load", hint="export the model again"
            ) from error
        before, text = text, _text(beside)
        if text == before:  # else another process has just put a new artefact there
            raise CheckpointError(
                f"{path} isn't the file that its manifest {beside.name} was written for: its checksum is "
                f"{found[:12]}…, not {expected[:12]}…",
                operation="export.load",
                hint="it was damaged or replaced; copy both files again, or export the model again",
            )
    return None


def _text(path: Path) -> bytes | None:
    """The text of a manifest; None if there is none.

    Raises:
        CheckpointError: it can't be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CheckpointError(f"can't read {path}: {error.strerror or error}", operation="export.load") from error


def _versions(text: bytes) -> list[Any]:
    """The manifests in a file: the artefact's, and while it is put in place also that of the one before."""
    whole = json.loads(text)
    before = whole.pop("before", None)
    return [whole] if before is None else [whole, before]


def _sha256(whole: Any) -> str:
    """The checksum of the artefact that one of `_versions` is about.

    Raises:
        ValueError: it is damaged.
    """
    if "without" in whole:
        return str(whole["without"])
    if whole["sha256"] != _digest(whole["manifest"]):
        raise ValueError("its checksum is another")
    return str(whole["manifest"]["sha256"])


def _parsed(whole: Any) -> Manifest:
    content = whole["manifest"]
    if content["format"] != _FORMAT or content["kind"] not in KINDS:
        raise ValueError(f"it is of format {content['format']!r}, kind {content['kind']!r}")
    return Manifest(
        content["kind"],
        content["sha256"],
        Signature.from_dict(content["signature"]),
        tuple(content["names"]),
        content["report"],
        content["versions"],
    )
