"""GPUs as compilers and data sheets know them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["ARCHITECTURES", "Architecture", "bandwidth"]


@dataclass(frozen=True)
class Architecture:
    """What a kernel is compiled for.

    Attributes:
        backend: Triton's name of the compiler.
        target: Triton's name of the chip.
        warp: threads in a warp (AMD: a wavefront).
        shared: bytes of shared memory that one program may have.
        registers: that one thread may have.
        all_registers: that the threads of one program may have together.
        threads: that one program may have.
    """

    backend: str
    target: int | str
    warp: int
    shared: int
    registers: int = 255
    all_registers: int = 65536
    threads: int = 1024


# CUDA C++ programming guide, "Technical specifications per compute capability"; AMD CDNA 3 instruction set architecture
ARCHITECTURES: Final[Mapping[str, Architecture]] = {
    "sm75": Architecture("cuda", 75, 32, 64 << 10),
    "sm80": Architecture("cuda", 80, 32, 163 << 10),
    "sm86": Architecture("cuda", 86, 32, 99 << 10),
    "sm89": Architecture("cuda", 89, 32, 99 << 10),
    "sm90": Architecture("cuda", 90, 32, 227 << 10),
    "sm100": Architecture("cuda", 100, 32, 227 << 10),
    "sm120": Architecture("cuda", 120, 32, 99 << 10),
    "gfx90a": Architecture("hip", "gfx90a", 64, 64 << 10, registers=512, all_registers=512 * 512),
    "gfx942": Architecture("hip", "gfx942", 64, 64 << 10, registers=512, all_registers=512 * 512),
    "gfx950": Architecture("hip", "gfx950", 64, 160 << 10, registers=512, all_registers=512 * 512),
}

# bytes a second from the data sheets, by a part of the name that torch gives; longer names first
_BANDWIDTHS: Final[Mapping[str, float]] = {
    "H200": 4.8e12,
    "H100 PCIe": 2.04e12,
    "H100 NVL": 3.94e12,
    "H100": 3.35e12,
    "B200": 8.0e12,
    "A100-SXM4-80GB": 2.04e12,
    "A100": 1.56e12,
    "L40S": 0.864e12,
    "L4": 0.3e12,
    "RTX 4090": 1.01e12,
    "MI300X": 5.3e12,
}


def bandwidth(name: str) -> float | None:
    """Bytes a second between a GPU and its memory, by the name that torch gives; None if it isn't in the table."""
    return next((value for part, value in _BANDWIDTHS.items() if part in name), None)
