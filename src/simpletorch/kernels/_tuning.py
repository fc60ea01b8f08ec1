"""Which of a kernel's configs is the fastest, found once and kept on disk.

One JSON file for each kernel's source and chip, below ``$SIMPLETORCH_CACHE`` or the user's cache folder. An
unreadable file counts as missing: the search is repeated and the file replaced.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from simpletorch._atomic import replacing
from simpletorch.errors import BackendError

if TYPE_CHECKING:
    from simpletorch.kernels._triton import TritonKernel

__all__ = ["Tuning", "cache_folder"]


def cache_folder() -> Path:
    """Where choices are kept: ``$SIMPLETORCH_CACHE``, else ``simpletorch`` in the user's cache folder."""
    given = os.environ.get("SIMPLETORCH_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given) if given else Path(home) / "simpletorch"


def bucket(value: object) -> str:
    """The key of similar launches: the dtype of a tensor, the size of an int up to the next power of two."""
    if isinstance(value, torch.Tensor):
        return str(value.dtype).removeprefix("torch.")
    if isinstance(value, int):
        # a stride or size that 16 divides lets Triton load 16 bytes at once
        return f"{1 << max(value - 1, 0).bit_length()}{'' if value % 16 else 'a'}"
    return type(value).__name__


class Tuning:
    """The choices of one kernel."""

    def __init__(self, kernel: TritonKernel, restore: Sequence[str]) -> None:
        self.kernel, self.restore = kernel, tuple(restore)
        self._chosen: dict[str, dict[str, Any]] = {}
        self._read: set[Path] = set()

    @cached_property
    def configs(self) -> tuple[dict[str, Any], ...]:
        """The kernel's configs for this machine's kind of GPU."""
        chip = "gfx" if torch.version.hip else "sm"
        return tuple(config for config in self.kernel.configs if config.get("arch", chip).startswith(chip))

    @cached_property
    def digest(self) -> str:
        """Stands for the source and the configs: another kernel, other choices."""
        source = inspect.getsource(self.kernel.python)
        return hashlib.sha256(f"{source}\n{self.kernel.configs}".encode()).hexdigest()[:16]

    def file(self, chip: str) -> Path:
        """Where the choices for a chip are kept."""
        return cache_folder() / "tuning" / re.sub(r"\W+", "-", chip) / f"{self.kernel.name}-{self.digest}.json"

    def config(self, values: Sequence[Any]) -> dict[str, Any]:
        """The config for a launch with these arguments: the only one, the one chosen before, or the fastest now."""
        configs = self.configs
        tensor = next((value for value in values if isinstance(value, torch.Tensor)), None)
        if len(configs) == 1 or type(tensor) is not torch.Tensor or tensor.is_cpu:
            return configs[0]
        chip = torch.cuda.get_device_name(tensor.device)
        key = f"{chip} {' '.join(bucket(value) for value in values)}"
        if key not in self._chosen:
            self._recall(chip)
        if key not in self._chosen:
            self._chosen[key] = self._fastest(values)
            self._keep(chip)
        return self._chosen[key]

    def _recall(self, chip: str) -> None:
        file = self.file(chip)
        if file in self._read:
            return
        self._read.add(file)
        for key, config in read_choices(file).items():
            if config in self.configs:
                self._chosen.setdefault(key, config)

    def _keep(self, chip: str) -> None:
        file = self.file(chip)
        mine = {key: config for key, config in self._chosen.items() if key.startswith(f"{chip} ")}
        # another process may have found others in the meantime
        text = json.dumps({**read_choices(file), **mine}, indent=1, sort_keys=True)
        with replacing(file) as new:
            new.write(text.encode())

    def _fastest(self, values: Sequence[Any]) -> dict[str, Any]:
        """The config that takes the least time; one that the GPU can't run isn't chosen."""
        do_bench = import_module("triton.testing").do_bench  # no import statement, or mypy would read all of Triton
        names = [p.name for p in self.kernel.signature.parameters if p.kind != "constexpr"]
        kept = [value.clone() if name in self.restore else value for name, value in zip(names, values, strict=True)]
        times: list[tuple[float, int]] = []
        failure: BackendError | None = None
        for index, config in enumerate(self.configs):
            try:
                times.append((do_bench(lambda c=config: self.kernel.launch(kept, c), warmup=10, rep=40), index))
            except BackendError as error:
                failure = error
        if not times:
            assert failure is not None
            raise failure
        return self.configs[min(times)[1]]


def read_choices(file: Path) -> dict[str, dict[str, Any]]:
    """The choices in a file; none if it isn't there or is damaged."""
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: value for key, value in found.items() if isinstance(key, str) and isinstance(value, dict)}
