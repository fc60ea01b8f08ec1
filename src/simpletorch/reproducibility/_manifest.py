"""The manifest of a run."""

from __future__ import annotations

import enum
import hashlib
import json
import os
import platform
import subprocess
import sys
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import torch

from simpletorch._atomic import StrPath, replacing
from simpletorch._distribution import NAME, version_of
from simpletorch.errors import CheckpointError, DataError
from simpletorch.reproducibility._checksum import checksum

_PACKAGES: Final = ("simpletorch", "torch", "numpy", "safetensors", "jaxtyping", "beartype", "torchmetrics", "triton")
_VARIABLES: Final = (
    *("PYTHONHASHSEED", "CUBLAS_WORKSPACE_CONFIG", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "MKL_NUM_THREADS"),
    *("NVIDIA_TF32_OVERRIDE", "SIMPLETORCH_CHECK", "WORLD_SIZE"),
)


@dataclass(frozen=True)
class Manifest:
    """Everything that decides the results of a run: keep it beside the results, and compare it when they differ.

    ::

        manifest = Manifest.collect(config=config, data={"train": Path("data/train")}, seed=7)
        manifest.save("run/manifest.json")
        Manifest.load("old/manifest.json").differences(manifest)  # ["versions.torch: '2.12.0' then, '2.13.0' now"]

    Examples:
        >>> from simpletorch.reproducibility import Manifest
        >>> before, now = (Manifest.collect(config={"lr": lr}) for lr in (0.1, 0.3))
        >>> before.differences(now)
        ['config.lr: 0.1 then, 0.3 now']
    """

    written: str
    """When, in ISO 8601, UTC."""
    command: list[str]
    """The command line."""
    versions: dict[str, str]
    """Of Python and the packages that matter."""
    system: dict[str, Any]
    """The machine: platform, processor, threads of torch, accelerators, CUDA."""
    environment: dict[str, str]
    """The environment variables that change numbers, those that are set."""
    git: dict[str, Any] | None
    """Commit and branch, and whether there were changes (with their checksum); None outside of a repository."""
    seed: int | None
    """What everything was seeded with."""
    config: Any
    """The settings, as plain data."""
    data: dict[str, str]
    """Checksums of the data by name."""

    @classmethod
    def collect(
        cls,
        *,
        config: Any = None,
        data: Mapping[str, Any] | None = None,
        seed: int | None = None,
        folder: StrPath = ".",
    ) -> Manifest:
        """The manifest of this process.

        Args:
            config: a dataclass, dict, ``argparse.Namespace`` or other plain data; paths, enums, dtypes and devices in
                it become strings.
            data: to take checksums of (`checksum`), by name: paths, tensors, datasets.
            seed: the argument of `seed_everything`.
            folder: somewhere in the git repository of the code.

        Raises:
            DataError: ``config`` has something that is no plain data, or ``data`` something that can't be read.
        """
        return cls(
            written=datetime.now(UTC).isoformat(timespec="seconds"),
            command=[sys.executable, *sys.argv],
            versions={"python": platform.python_version(), **_installed()},
            system=_system(),
            environment={name: os.environ[name] for name in _VARIABLES if name in os.environ},
            git=_git(Path(folder)),
            seed=seed,
            config=_plain(config, "config"),
            data={name: checksum(each) for name, each in (data or {}).items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """The manifest as plain data, for a checkpoint or a logger."""
        return asdict(self)

    def save(self, path: StrPath, /) -> Path:
        """Write it as JSON, in one step.

        Args:
            path: the file to write, such as ``"run/manifest.json"``.

        Returns:
            The path of the file.

        Raises:
            CheckpointError: the file can't be written.
        """
        path = Path(path)
        with replacing(path) as file:
            file.write(json.dumps(self.to_dict(), indent=2).encode() + b"\n")
        return path

    @classmethod
    def load(cls, path: StrPath, /) -> Manifest:
        """Read a file of `save`.

        Args:
            path: the file to read.

        Returns:
            The manifest in the file.

        Raises:
            CheckpointError: the file can't be read, or is no manifest.
        """
        try:
            content = json.loads(Path(path).read_bytes())
        except OSError as error:
            raise CheckpointError(f"can't read {path}: {error.strerror or error}") from error
        except (ValueError, RecursionError) as error:
            raise CheckpointError(f"{path} is no manifest: {error}") from error
        names = {field.name for field in fields(cls)}
        if not isinstance(content, dict) or content.keys() != names:
            raise CheckpointError(f"{path} is no manifest: one has exactly {', '.join(sorted(names))}")
        return cls(**content)

    def differences(self, now: Manifest) -> list[str]:
        """The differences from another run, a line each; time and command don't count.

        Args:
            now: the manifest of the other, later run.
        """
        then, other = self.to_dict(), now.to_dict()
        for each in (then, other):
            del each["written"], each["command"]
        return _differences(then, other, "")


def _installed() -> dict[str, str]:
    found = {name: version_of(NAME if name == "simpletorch" else name) for name in _PACKAGES}
    return {name: version for name, version in found.items() if version is not None}


def _system() -> dict[str, Any]:
    cuda = torch.cuda.is_available()
    return {
        "platform": platform.platform(),
        "processor": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "devices": [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())] if cuda else [],
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version() if cuda else None,
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
    }


def _git(folder: Path) -> dict[str, Any] | None:
    def git(*arguments: str) -> bytes | None:
        command = ["git", "-C", str(folder), *arguments]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=60)
        except (OSError, subprocess.TimeoutExpired):  # no git here, or a repository on a disk that hangs
            return None
        return done.stdout if done.returncode == 0 else None

    commit, branch = git("rev-parse", "HEAD"), git("rev-parse", "--abbrev-ref", "HEAD")
    changes, untracked = git("diff", "HEAD"), git("ls-files", "--others", "--exclude-standard")
    if commit is None or branch is None or changes is None or untracked is None:
        return None
    return {
        "commit": commit.decode().strip(),
        "branch": branch.decode().strip(),
        "changes": hashlib.sha256(changes).hexdigest() if changes else None,
        "untracked": untracked.decode(errors="replace").splitlines(),
    }


def _plain(value: Any, path: str) -> Any:
    # an IntEnum is an int as well, but its name says more
    if value is None or (isinstance(value, (bool, int, float, str)) and not isinstance(value, enum.Enum)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name), f"{path}.{field.name}") for field in fields(value)}
    if isinstance(value, Namespace):
        return _plain(vars(value), path)
    if isinstance(value, Mapping):
        return {str(key): _plain(item, f"{path}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}.{index}") for index, item in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(item, path) for item in value), key=repr)
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (os.PathLike, torch.dtype, torch.device)):
        return str(value)
    raise DataError(
        f"{path} is a {type(value).__name__}: a manifest holds plain data (numbers, strings, lists, dicts, dataclasses)"
    )


def _differences(then: Any, now: Any, path: str) -> list[str]:
    if isinstance(then, dict) and isinstance(now, dict):
        lines = []
        for key in sorted({*then, *now}):
            here = f"{path}.{key}" if path else key
            if key not in now:
                lines.append(f"{here}: {then[key]!r} then, nothing now")
            elif key not in then:
                lines.append(f"{here}: nothing then, {now[key]!r} now")
            else:
                lines += _differences(then[key], now[key], here)
        return lines
    return [] if then == now else [f"{path}: {then!r} then, {now!r} now"]
