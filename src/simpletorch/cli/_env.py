"""``simpletorch env``: what a bug report needs to know."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping
from typing import Any, Final

from simpletorch._distribution import installed_version, version_of
from simpletorch.cli._following.progress import Progress

_NEEDED: Final = ("torch", "mypy", "jaxtyping", "beartype", "numpy")
_OPTIONAL: Final = ("scikit-learn", "einops", "triton", "safetensors")


def env(*, as_json: bool = False) -> int:
    """Print the environment; 1 when something that simpletorch needs is missing, else 0."""
    with Progress(name="loading torch"):
        found = environment()
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        for section, values in found.items():
            print(f"{section}:")
            width = max(map(len, values), default=0)
            for name, value in values.items():
                print(f"  {name:{width}}  {_text(value)}")
    return 1 if any(found["versions"][name] is None for name in _NEEDED) else 0


def environment() -> dict[str, dict[str, Any]]:
    """Versions (None for what is not installed), devices, capabilities and settings, as plain data."""
    versions: dict[str, Any] = {
        "simpletorch": installed_version(),
        "python": f"{platform.python_version()} ({sys.implementation.name})",
        "platform": platform.platform(),
    }
    versions |= {name: version_of(name) for name in _NEEDED + _OPTIONAL}
    found = {"versions": versions, "devices": {}, "capabilities": {}, "settings": _settings()}
    if versions["torch"] is not None:
        versions["torch"] = _build_of_torch()
        found["devices"], found["capabilities"] = _devices(), _capabilities()
    return found


def _build_of_torch() -> str:
    """The version with the build, such as ``2.13.0+cu130``, which a package's metadata can lack."""
    import torch

    return str(torch.__version__)


def _devices() -> dict[str, Any]:
    import torch

    devices: dict[str, Any] = {"cpu": f"{os.cpu_count()} cores, {torch.get_num_threads()} threads in torch"}
    for index in range(torch.cuda.device_count()):
        card = torch.cuda.get_device_properties(index)
        devices[f"cuda:{index}"] = (
            f"{card.name}, {card.total_memory / 2**30:.0f} GiB, capability {card.major}.{card.minor}"
        )
    if torch.backends.mps.is_available():
        devices["mps"] = "available"
    return devices


def _capabilities() -> dict[str, Any]:
    import torch
    import torch.distributed

    backends = []
    if torch.distributed.is_available():
        checks: Mapping[str, Any] = {
            "gloo": torch.distributed.is_gloo_available,
            "nccl": torch.distributed.is_nccl_available,
            "mpi": torch.distributed.is_mpi_available,
        }
        backends = [name for name, is_available in checks.items() if is_available()]
    return {
        "cuda": torch.version.cuda or False,
        "cudnn": torch.backends.cudnn.version() or False,
        "rocm": torch.version.hip or False,
        "bfloat16 on cuda": torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        "onednn": torch.backends.mkldnn.is_available(),
        "distributed": backends,
    }


def _settings() -> dict[str, Any]:
    from simpletorch.cli._config import cache_folder

    return {
        "SIMPLETORCH_CHECK": os.environ.get("SIMPLETORCH_CHECK", "once (default)"),
        "cache of `check`": str(cache_folder()),
    }


def _text(value: Any) -> str:
    if value is None:
        return "not installed"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return str(value)
