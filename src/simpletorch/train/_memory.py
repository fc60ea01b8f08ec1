"""How much memory a training has needed."""

from __future__ import annotations

import sys

import torch


def peak_memory(device: torch.device | None) -> int:
    """The most memory in use so far, in bytes: by tensors on a CUDA ``device``, else by this process; 0 if unknown."""
    if device is not None and device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    try:
        import resource  # there is none on Windows
    except ImportError:
        return 0
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024  # macOS counts bytes, Linux KiB
